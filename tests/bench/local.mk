include tests/bench/ompt.mk
include tests/bench/sampling.mk
include tests/bench/operand.mk
include tests/bench/plan.mk
include tests/bench/mpi.mk
include tests/bench/ranks.mk
include tests/bench/bench.mk
