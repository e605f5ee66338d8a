/* Where memory lies, from /proc/self/numa_maps: coarser than move_pages, which says it page by page, but not refused
 * where a container's filter refuses that. A range of which nearly all is on one node is there; of others nothing is known. */
#ifndef NSCHED_NUMA_MAPS_H
#define NSCHED_NUMA_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct numa_range {
	uint64_t start;   /* up to the next one's */
	int node_os;      /* or -ENOENT: none, or on several */
};

/* The ranges of a text as numa_maps has it (ends with a zero), at most `most`. How many there are. */
unsigned numa_maps_parse(const char *text, struct numa_range *range, unsigned most);

/* The node of an address among ranges in rising order, or -ENOENT. */
int numa_maps_find(const struct numa_range *range, unsigned n, uint64_t addr);

/* The nodes of addresses of this process, as move_pages tells them. Reads the file anew now and then: it takes the kernel
 * a millisecond for each 256 MiB, so the time between grows with that. For one thread at a time. 0, or -errno. */
int numa_maps_locate(const uint64_t *addr, unsigned n, int *node_os);

#endif
