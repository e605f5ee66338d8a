# How long a policy takes to make a plan. `make bench-plan`, or `make bench-plan PLAN_POLICY=adaptive`.
EXTRA_PROGRAMS += tests/bench/plan
CLEANFILES += tests/bench/plan
tests_bench_plan_SOURCES = tests/bench/plan.c
tests_bench_plan_LDADD = libnsched_core.la
PLAN_POLICY = joint
bench-plan: tests/bench/plan
	@tests/bench/plan $(PLAN_POLICY)
.PHONY: bench-plan
