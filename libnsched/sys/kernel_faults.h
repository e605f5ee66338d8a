/* What the kernel's own NUMA balancing knows of a thread: on which nodes the pages lie that it touched when
 * the kernel looked (hinting faults, decaying with each of its scans), from /proc/self/task/T/sched.
 *
 * Node by node, not page by page: it says where a thread belongs, not what of its memory does not. The
 * reading of the text is apart from the file, so that texts of other kernels can be tried. */
#ifndef NSCHED_KERNEL_FAULTS_H
#define NSCHED_KERNEL_FAULTS_H

#include <stdint.h>
#include <sys/types.h>

enum {
	KERNEL_NODES = 1024,          /* node numbers of the operating system are below: NODES_SHIFT is at most 10 */
	KERNEL_BALANCES = 1,          /* bits of kernel.numa_balancing: pages and threads are brought together */
	KERNEL_TIERS = 2,             /* hot pages go to fast memory, and only slow memory is looked at */
};

struct kernel_faults {
	uint64_t total, migrated;     /* since the thread began: faults, pages moved to it */
	uint64_t sum;                 /* of the nodes' below */
	int preferred_os;             /* -1: none */
	unsigned n;                   /* nodes told */
};

typedef void kernel_faults_node(void *arg, unsigned node_os, uint64_t faults);

/* Calls `node` for every node that the text tells of. 0; -ENODATA: it tells of none (a kernel without NUMA
 * balancing); -EINVAL: numbers that can't be. Any text, of any length, with a closing zero. */
int kernel_faults_parse(const char *text, struct kernel_faults *faults, kernel_faults_node *node, void *arg);

/* The same of a thread of this process; or what reading said (-ESRCH, -ENOENT: it is gone). */
int kernel_faults_read(pid_t tid, struct kernel_faults *faults, kernel_faults_node *node, void *arg);

/* kernel.numa_balancing below `root` (""): its bits; 0 where the kernel has none. */
int kernel_balancing(const char *root);

#endif
