include tests/bench/ompt.mk
