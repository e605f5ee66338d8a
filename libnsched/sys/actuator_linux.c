/* sched_setaffinity and move_pages, by system call: glibc's wrappers of the first take masks of fixed
 * size, and the second has none without libnuma. move_pages and not mbind, since a policy on memory
 * blinds the kernel's own NUMA sampling, and stays behind when we are gone. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/actuator.h"
#include "sys/numa_maps.h"

#ifndef MADV_COLD
#define MADV_COLD 20
#endif

enum {
	BATCH = 512,        /* pages a call: 4 KiB of addresses on the stack, and a fraction of a millisecond in the kernel */
	PAGE_BYTES = 4096,
	MPOL_MF_MOVE = 2,   /* from linux/mempolicy.h, which not every system has installed */
	MPOL_F_ADDR = 2,
	MPOL_DEFAULT = 0,
	MPOL_PREFERRED = 1,
	MODE = 0xff,        /* of a policy; its flags are above */
	MPOL_LOCAL = 4,     /* first touch by name: as good as none */
};

static int get_mask(void *state, pid_t tid, struct cpu_mask *mask)
{
	(void)state;
	mask_clear(mask);
	return syscall(SYS_sched_getaffinity, tid, sizeof *mask, mask) < 0 ? -errno : 0;
}

static int set_mask(void *state, pid_t tid, const struct cpu_mask *mask)
{
	(void)state;
	return syscall(SYS_sched_setaffinity, tid, sizeof *mask, mask) < 0 ? -errno : 0;
}

/* One batch; nodes NULL asks where the pages are. */
static int move_pages(const uint64_t *addr, unsigned n, const int *nodes, int *status)
{
	void *page[BATCH];
	for (unsigned i = 0; i < n; i++) {
		page[i] = (void *)(uintptr_t)addr[i];
		status[i] = -ENOENT;
	}
	return syscall(SYS_move_pages, 0, (unsigned long)n, page, nodes, status, nodes ? MPOL_MF_MOVE : 0) < 0 ? -errno : 0;
}

static int locate(void *state, const uint64_t *addr, unsigned n, int *node_os)
{
	(void)state;
	for (unsigned i = 0; i < n; i += BATCH) {
		int ret = move_pages(addr + i, n - i < BATCH ? n - i : BATCH, NULL, node_os + i);
		if (ret == -EPERM || ret == -ENOSYS) return numa_maps_locate(addr, n, node_os);   /* a container's filter */
		if (ret) return ret;
	}
	return 0;
}

static int move(void *state, const uint64_t *addr, unsigned n, const int *to_os, int *status)
{
	(void)state;
	for (unsigned i = 0; i < n; i += BATCH) {
		int ret = move_pages(addr + i, n - i < BATCH ? n - i : BATCH, to_os + i, status + i);
		if (ret) return ret;
	}
	return 0;
}

/* MPOL_F_ADDR without MPOL_F_NODE asks the mapping and not the page, so nothing is faulted in. The policy
 * of the process itself counts too: memory under `numactl --interleave` was meant to lie as it does. But a process's
 * preferred node says where memory is to be taken from as long as there is some, not that it is to stay there. */
static int has_policy(void *state, uint64_t addr)
{
	int mode = MPOL_DEFAULT;
	(void)state;
	if (syscall(SYS_get_mempolicy, &mode, NULL, 0ul, addr, (unsigned long)MPOL_F_ADDR) < 0) return 0;
	if (mode == MPOL_DEFAULT) {
		if (syscall(SYS_get_mempolicy, &mode, NULL, 0ul, 0ul, 0ul) < 0) return 0;
		if ((mode & MODE) == MPOL_PREFERRED) return 0;
	}
	mode &= MODE;
	return mode != MPOL_DEFAULT && mode != MPOL_LOCAL;
}

/* MADV_COLD (Linux 5.4) on a part of a huge page splits it, and otherwise only lets the page be found on
 * the list of inactive ones a little earlier. Pages that several processes map are left whole by it. */
static void split(void *state, uint64_t addr)
{
	(void)state;
	if (madvise((void *)(uintptr_t)(addr & ~(uint64_t)(PAGE_BYTES - 1)), PAGE_BYTES, MADV_COLD))
		return;     /* an older kernel, or nothing mapped there: the move itself will tell */
}

const struct actuator_ops actuator_linux = { "linux", get_mask, set_mask, locate, move, has_policy, split };
