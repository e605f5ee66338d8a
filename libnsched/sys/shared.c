#define _GNU_SOURCE
#include "sys/shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

enum { LINE_BYTES = 4352, PAGE_BYTES = 4096 };   /* a path, and what is before it */

/* What Open MPI 4 and 5 and MPICH call the files of their segments: those are there from MPI_Init to MPI_Finalize, and nobody
 * gives their addresses to anything else. */
static bool is_segment(const char *path)
{
	static const char *const names[] = { "/vader_segment.", "/sm_segment.", "/mpich_shar_tmp" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strstr(path, names[i])) return true;
	return false;
}

/* A line of /proc/self/maps. */
static bool take(const char *line, struct shared_mapping *m)
{
	char flags[5];
	unsigned major, minor;
	int path = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %" SCNu64 " %n", &m->start, &m->end, flags, &major, &minor, &m->file.ino, &path) < 6)
		return false;
	m->file.dev = makedev(major, minor);
	return flags[3] == 's' && path && is_segment(line + path);
}

unsigned shared_list(struct shared_mapping *list, unsigned most)
{
	char line[LINE_BYTES];
	unsigned n = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && n < most && fgets(line, sizeof line, maps)) n += take(line, &list[n]);
	if (maps) fclose(maps);
	return n;
}

/* MADV_DONTNEED would empty private memory. mremap makes another mapping of shared memory, and of no other: so it tells which it is. */
bool shared_let_go(const struct shared_mapping *m)
{
	void *start = (void *)(uintptr_t)m->start, *twin = mremap(start, 0, PAGE_BYTES, MREMAP_MAYMOVE);
	if (twin == MAP_FAILED) return false;
	bool gone = madvise(start, m->end - m->start, MADV_DONTNEED) == 0;
	munmap(twin, PAGE_BYTES);
	return gone;
}
