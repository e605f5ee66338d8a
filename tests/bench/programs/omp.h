/* The OpenMP programs of the bench: one harness (omp.c), and kernels that it repeats. */
#ifndef BENCH_OMP_H
#define BENCH_OMP_H

#include "bench.h"

struct omp_kernel {
	const char *name, *what;
	/* Gets its memory, -k KiB in all, not touched. */
	void (*make)(const struct bench_options *options);
	/* Touches it first, with numbers: each thread what it will work on, or the calling thread all of it. */
	void (*fill)(bool parallel);
	/* Works on all of it once: bytes that were worked on. */
	uint64_t (*pass)(void);
	/* After so many passes: is the result right? */
	bool (*is_right)(uint64_t passes);
	/* By hand, thread T of ALL sits where thread seat(T) would by default; NULL: where it would. */
	unsigned (*seat)(unsigned t, unsigned all);
};

extern const struct omp_kernel omp_slices, omp_triad, omp_stencil, omp_phases, omp_csr, omp_tasks, omp_nested;

/* Threads are put where they belong by hand, once each; nothing without --bind. With INVERSE while memory is touched,
 * they are put where it shall be. To be called by each thread of a kernel that makes teams of its own. */
void omp_place(unsigned i, unsigned all);

/* The part of N things for thread T of ALL: first and end. */
static inline size_t omp_part(size_t n, unsigned t, unsigned all)
{
	return n * t / all;
}

#endif
