
include tests/bench/operand.mk
