#define _GNU_SOURCE
#include "sys/shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

enum {
	LINE_BYTES = 4352,   /* a path, and what is before it */
	PAGE_BYTES = 4096,
	PART_PAGES = 1024,   /* of a segment: 4 MiB, as large as Open MPI's are; beyond it pages are mapped with those around them */
};

/* Open MPI 4 and 5 call them vader_segment.HOST.USER.JOB.RANK and sm_segment...; they are there from MPI_Init to MPI_Finalize, and nobody
 * gives their addresses to anything else meanwhile. (MPICH's ranks share one, which nobody made alone.) */
static bool is_segment(const char *path, int32_t *maker)
{
	static const char *const names[] = { "/vader_segment.", "/sm_segment." };
	const char *last = strrchr(path, '.');
	char *end;
	for (size_t i = 0; last && i < sizeof names / sizeof *names; i++) {
		if (!strstr(path, names[i])) continue;
		long rank = strtol(last + 1, &end, 10);
		*maker = (int32_t)rank;
		return end > last + 1 && (*end == '\0' || *end == '\n' || *end == ' ') && rank >= 0 && rank <= INT32_MAX;   /* " (deleted)" */
	}
	return false;
}

bool shared_parse(const char *line, struct shared_segment *s)
{
	char flags[5];
	unsigned major, minor;
	int path = 0;
	if (!is_segment(line, &s->maker)) return false;   /* of some hundred lines a few are: the others' numbers are not converted */
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &s->start, &s->end, flags, &s->offset, &major, &minor,
	           &s->ino, &path) < 7)
		return false;
	s->dev = makedev(major, minor);
	return flags[3] == 's' && path && s->end > s->start && is_segment(line + path, &s->maker);
}

unsigned shared_list(struct shared_segment *list, unsigned most)
{
	char line[LINE_BYTES];
	unsigned n = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && n < most && fgets(line, sizeof line, maps)) n += shared_parse(line, &list[n]);
	if (maps) fclose(maps);
	return n;
}

/* The part of the mapping that has these bytes of the file; false: it has none. */
static bool find_part(const struct shared_segment *s, uint64_t offset, uint64_t bytes, uint64_t *start, uint64_t *length)
{
	uint64_t from = offset > s->offset ? offset : s->offset, end = offset + bytes, behind = s->offset + (s->end - s->start);
	if (end > behind) end = behind;
	if (end <= from) return false;
	*start = s->start + (from - s->offset);
	*length = end - from;
	return true;
}

/* The kernel does not go beyond mappings with the same flags; so every second page gets another one, about reading ahead, which means nothing
 * to memory. */
void shared_part(const struct shared_segment *s, uint64_t offset, uint64_t bytes, bool on)
{
	uint64_t start, length;
	if (!find_part(s, offset, bytes, &start, &length)) return;
	if (!on) madvise((void *)(uintptr_t)start, length, MADV_NORMAL);
	for (uint64_t at = 0; on && at < length && at < (uint64_t)PART_PAGES * PAGE_BYTES; at += 2 * PAGE_BYTES)
		if (madvise((void *)(uintptr_t)(start + at), PAGE_BYTES, MADV_RANDOM)) return;   /* too many mappings: then it is as it was */
}

bool shared_let_go(const struct shared_segment *s, uint64_t offset, uint64_t bytes)
{
	uint64_t start, length;
	return !find_part(s, offset, bytes, &start, &length) || !madvise((void *)(uintptr_t)start, length, MADV_DONTNEED);
}
