/* The machine from hwloc: the only file that includes hwloc.h. */
#ifndef NSCHED_TOPO_H
#define NSCHED_TOPO_H

#include "pure/machine.h"
#include "sys/cpumask.h"

/* To be called, once and early, by a thread that is about to need the topology, while the process has no other
 * thread: keeps hwloc from loading its plugins (OpenCL, X11, libxml), which a program did not ask for and which
 * take ten times as long as the topology itself. With a second thread already there, or where the user has a
 * say in the plugins, it does nothing. */
void topo_prepare(void);

/* The machine that this process may use: nodes with CPUs in `allowed` (OS numbers; NULL: every CPU of
 * the cpuset), and nodes whose memory it may have. Takes milliseconds; leaves the binding of the
 * calling thread alone. 0; -ENOMEM; -ENODEV hwloc could not read it; -E2BIG too many nodes or CPUs. */
int topo_load(struct machine *machine, const struct cpu_mask *allowed);

/* The same from a file of `lstopo file.xml`, or from a synthetic description ("node:4 core:2 pu:1"),
 * as if it were this machine. -EINVAL: hwloc can't read it; -E2BIG as above. */
int topo_load_xml(struct machine *machine, const char *file);
int topo_load_synthetic(struct machine *machine, const char *description);

/* The CPUs of the process's cpuset, by OS numbers, whatever the calling thread is bound to. */
int topo_cpuset(struct cpu_mask *mask);

#endif
