/* What `nsched doctor --measure` has found out about this machine's memory, kept in a small text file:
 * docs/machine-file.md has the format. Reading needs no library and takes a few small files of /sys.
 *
 * The file is named after the machine's identity (processor, nodes, CPUs, distances, memory), so that equal
 * machines of a cluster with one home share it, and other ones do not. */
#ifndef NSCHED_MEASURED_H
#define NSCHED_MEASURED_H

#include <stdint.h>
#include <stdio.h>

#include "pure/machine.h"

enum { MEASURED_NAME = 80 };

struct measured {
	uint64_t identity;
	char cpu[MEASURED_NAME];       /* the processor's name, for people */
	char when[32];                 /* "2026-11-30T12:00:00Z" */
	unsigned n_nodes;
	uint16_t os[MACHINE_NODES];    /* the nodes, by OS number, in rising order */
	/* From a CPU of the first node to memory of the second, by the order of `os`; 0: not measured. */
	float latency_ns[MACHINE_NODES][MACHINE_NODES];
	/* All CPUs of the first node reading memory of the second. */
	float bandwidth_mbs[MACHINE_NODES][MACHINE_NODES];
};

/* The identity of the machine whose /sys and /proc are below `root` (""), and its nodes and processor; nothing
 * is measured yet. 0; -ENODEV where the nodes can't be read; -E2BIG more nodes than MACHINE_NODES. */
int measured_identify(struct measured *measured, const char *root);

/* The file's path: below XDG_CACHE_HOME, or .cache of HOME. 0, or -ENOENT where neither is set, -ENAMETOOLONG. */
int measured_path(uint64_t identity, char *path, size_t bytes);

/* Takes over what is in the file's text, if it is of the same machine; unknown lines are skipped. 0; -EINVAL it
 * is no such file, or damaged (measured keeps what it had); -ESTALE it is another machine's, or of a newer format. */
int measured_parse(struct measured *measured, const char *text);

/* Identifies this machine and reads its file. 0; -ENOENT: it has not been measured; else as above, or as open and read say. */
int measured_read(struct measured *measured);

void measured_write(const struct measured *measured, FILE *file);

#endif
