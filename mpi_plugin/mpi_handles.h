/* A table from handles of the MPI library (communicators, windows, requests) to what is known of them.
 *
 * Finding takes no lock. The nodes are never freed, only used again, so a reader may follow a chain into
 * which others write: at worst it misses, and then asks again under the lock. A reader that finds its own
 * handle has the right value, since nobody may free a handle that is in use. */
#ifndef NSCHED_MPI_HANDLES_H
#define NSCHED_MPI_HANDLES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { HANDLES_LINES = 1024, HANDLES_LINES_LOG2 = 10 }; /* chains; programs with more handles at a time just get longer ones */

struct handles_node {
	_Atomic uintptr_t handle; /* 0: free */
	void *_Atomic value;
	struct handles_node *_Atomic next;
};

struct handles {
	struct handles_node *_Atomic line[HANDLES_LINES];
	struct handles_node *unused; /* under the lock */
	void (*release)(void *value);
};

/* Fibonacci hashing: handles are addresses, or numbers that differ in their last bits. */
static inline size_t handles_line(uintptr_t handle)
{
	return (size_t)(((uint64_t)handle * 0x9e3779b97f4a7c15u) >> (64 - HANDLES_LINES_LOG2));
}

/* The value, NULL if there is none. */
static inline void *handles_find(struct handles *handles, uintptr_t handle)
{
	struct handles_node *node = atomic_load_explicit(&handles->line[handles_line(handle)], memory_order_acquire);

	while (node != NULL && atomic_load_explicit(&node->handle, memory_order_acquire) != handle)
		node = atomic_load_explicit(&node->next, memory_order_acquire);
	return node == NULL ? NULL : atomic_load_explicit(&node->value, memory_order_relaxed);
}

/* Adds one; the value is the table's then. Returns what the handle has from now on: another thread may
 * have been first, then that one's, and this one is released. NULL: no memory; it is released, too. */
void *handles_add(struct handles *handles, uintptr_t handle, void *value);

/* Forgets the handle and releases its value, if it is in the table. */
void handles_remove(struct handles *handles, uintptr_t handle);

/* In the child of a fork: another thread may have held the lock. */
void handles_forked(void);

#endif
