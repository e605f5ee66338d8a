include tests/bench/ompt.mk
include tests/bench/operand.mk
