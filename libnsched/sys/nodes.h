/* Whether this process has a choice of NUMA nodes, from three small files and without any library. */
#ifndef NSCHED_NODES_H
#define NSCHED_NODES_H

/* 1 if more than one node of this machine has memory or CPUs that this process may use, else 0; also
 * 0 where the kernel does not tell, or there is no memory. `root` is put before /sys and /proc ("" but for tests), `cpus` is
 * the list of CPUs that the process was given ("0-3,8"), or NULL or empty: those of
 * /proc/self/status.
 *
 * It errs on the side of 1: the core looks again, exactly. Thread-safe. */
int nodes_to_choose(const char *root, const char *cpus);

#endif
