"""The bench: nsched beside what a user would pick instead. README.md says what is where."""
