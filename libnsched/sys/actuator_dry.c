/* The hands of --dry-run: sees what is, changes nothing. */
#include "sys/actuator.h"

static int get_mask(void *state, pid_t tid, struct cpu_mask *mask)
{
	return actuator_linux.get_mask(state, tid, mask);
}

static int set_mask(void *state, pid_t tid, const struct cpu_mask *mask)
{
	(void)state, (void)tid, (void)mask;
	return 0;
}

static int locate(void *state, const uint64_t *addr, unsigned n, int *node_os)
{
	return actuator_linux.locate(state, addr, n, node_os);
}

static int move(void *state, const uint64_t *addr, unsigned n, const int *to_os, int *status)
{
	(void)state, (void)addr;
	for (unsigned i = 0; i < n; i++) status[i] = to_os[i];
	return 0;
}

static int has_policy(void *state, uint64_t addr)
{
	return actuator_linux.has_policy(state, addr);
}

const struct actuator_ops actuator_dry = { "dry", get_mask, set_mask, locate, move, has_policy, NULL };
