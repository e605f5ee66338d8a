/* A program under nsched: what it does is the same with and without, or a test fails. */
#ifndef HARMLESS_VICTIM_H
#define HARMLESS_VICTIM_H

#include <sched.h>

/* Threads that work on memory for about `ms` milliseconds, with an OpenMP region (or, built without OpenMP, a thread's life)
 * every few of them: time for nsched to look, to sample, to bind. Prints nothing. */
void work(int ms);

/* As `work`, and in thread `who` of it `inside(arg)` is called once, in the middle. */
void work_with(int ms, int who, void (*inside)(void *arg), void *arg);

enum { VICTIM_THREADS = 4 };

/* The mask at the start of main, before anybody could have changed it; and whether the caller's is the same. */
extern cpu_set_t victim_mask;
int victim_mask_kept(void);

extern const char *victim_self; /* a path to this program */

/* Cases print what they see, and return the exit status. */
struct victim_case {
	const char *name;
	int (*run)(void);
};
extern const struct victim_case victim_ends[], victim_children[], victim_lives[], victim_openmp[]; /* each ends with a NULL name */

#endif
