/* ballast: a library to preload, which makes a process look as large as BENCH_BALLAST_MIB: numad does not look at one
 * below 300 MB, and a process with so much memory in use is more than the emulated machine can serve. A few MB of
 * memory are mapped again and again, to be read only, and never used: they cost page tables, no time and no place. So
 * they are in the way of nobody: the kernel's NUMA balancing leaves out what can only be read. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE_MIB = 32 }; /* of huge pages, where the kernel can: few entries of page tables */

static int piece = -1;

/* Where anything fails, the process is just not as large: numad's log shows whether it took notice. */
static void map_all(void)
{
	const char *text = getenv("BENCH_BALLAST_MIB");
	unsigned long mib = text != NULL ? strtoul(text, NULL, 10) : 0;

	for (unsigned long at = 0; piece >= 0 && at < mib; at += PIECE_MIB)
		if (mmap(NULL, PIECE_MIB << 20, PROT_READ, MAP_SHARED | MAP_POPULATE, piece, 0) == MAP_FAILED)
			break;
}

static void make_piece(void)
{
	char *memory;

	piece = memfd_create("bench-ballast", MFD_CLOEXEC);
	if (piece < 0 || ftruncate(piece, PIECE_MIB << 20) != 0)
		return;
	memory = mmap(NULL, PIECE_MIB << 20, PROT_READ | PROT_WRITE, MAP_SHARED, piece, 0);
	if (memory == MAP_FAILED)
		return;
	madvise(memory, PIECE_MIB << 20, MADV_HUGEPAGE);
	for (size_t at = 0; at < PIECE_MIB << 20; at += 4096)
		memory[at] = 1;
	munmap(memory, PIECE_MIB << 20);
}

__attribute__((constructor)) static void begin(void)
{
	if (getenv("BENCH_BALLAST_MIB") == NULL)
		return;
	make_piece();
	map_all();
	pthread_atfork(NULL, NULL, map_all); /* a child does not inherit what can be mapped again */
}
