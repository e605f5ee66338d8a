#define _GNU_SOURCE
#include "sys/migrate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINE_BYTES = 4352, KIB = 1024, BITS = 64, MASK_NODES = 1024 };   /* nodes: as many as any kernel can have */

struct node_mask { uint64_t word[MASK_NODES / BITS]; };

uint64_t migrate_private_bytes(void)
{
	char line[LINE_BYTES];
	uint64_t kib = 0;
	FILE *status = fopen("/proc/self/status", "re");
	while (status && fgets(line, sizeof line, status))
		if (sscanf(line, "RssAnon: %" SCNu64, &kib) == 1) break;
	if (status) fclose(status);
	return kib * KIB;
}

bool migrate_may(void)
{
	char line[LINE_BYTES], policy[32];
	bool may = false;
	FILE *maps = fopen("/proc/self/numa_maps", "re");
	while (maps && fgets(line, sizeof line, maps)) {
		may = sscanf(line, "%*x %31s", policy) == 1 && !strcmp(policy, "default");
		if (!may) break;
		while (!strchr(line, '\n') && fgets(line, sizeof line, maps))
			;   /* the rest of a long one */
	}
	if (maps) fclose(maps);
	return may;
}

static void add(struct node_mask *mask, unsigned node_os)
{
	if (node_os < MASK_NODES) mask->word[node_os / BITS] |= UINT64_C(1) << node_os % BITS;
}

long migrate_all(const unsigned *from_os, unsigned n, unsigned to_os)
{
	struct node_mask from = { { 0 } }, to = { { 0 } };
	for (unsigned i = 0; i < n; i++)
		if (from_os[i] != to_os) add(&from, from_os[i]);
	add(&to, to_os);
	/* of the bits that it is told, the kernel leaves out the last */
	long ret = syscall(SYS_migrate_pages, 0, MASK_NODES + 1ul, from.word, to.word);
	return ret < 0 ? -errno : ret;
}
