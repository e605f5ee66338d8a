dist_man1_MANS += docs/nsched.1
EXTRA_DIST += docs/environment.md docs/ranks.md docs/dev.md docs/mpi.md
