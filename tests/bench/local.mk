include tests/bench/ompt.mk
include tests/bench/plan.mk
