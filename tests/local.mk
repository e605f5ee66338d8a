# The tests; tests/README.md says which is which.
include tests/unit/local.mk
include tests/sim/local.mk
include tests/replay/local.mk
include tests/fuzz/local.mk
include tests/plugin/local.mk
include tests/harmless/local.mk
include tests/papi/local.mk
include tests/operand/local.mk
include tests/live/local.mk
include tests/bench/local.mk
include tests/tools/local.mk
include tests/doctor/local.mk
include tests/mpi/local.mk
include tests/lint/local.mk
include tests/numabox/local.mk
