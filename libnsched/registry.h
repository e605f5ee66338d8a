/* The threads of this process that nsched knows. A slot, once given, stays at its address for the life
 * of the process: callbacks hold pointers to it, and may come late. What a callback touches is lock-free
 * and free of system calls; everything else is done by the thread that steps the session. */
#ifndef NSCHED_REGISTRY_H
#define NSCHED_REGISTRY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nsched.h"
#include "pure/counted.h"
#include "region.h"
#include "sys/actuator.h"

enum {
	REGISTRY_THREADS = 4096,   /* most threads at a time; more are not served, and counted */
	REGISTRY_BLOCK = 64,       /* threads made at a time */
	REGISTRY_TOUCHES = 16,     /* uses of memory that a thread can tell between two steps; a power of two */
	REGISTRY_NO_NODE = -1,
	REGISTRY_NOT_LOOKED = -2,
	REGISTRY_UNKNOWN_CPU = 0xff,
};

enum thread_state {
	THREAD_FREE,
	THREAD_LIVE,
	THREAD_GONE,               /* it has left; the next step forgets it and frees the slot */
};

struct nsched_thread {
	struct registry *home;
	uint32_t number;
	pid_t tid;
	_Atomic int state;
	bool registered;           /* it made itself known and places itself; else found in /proc */
	uint16_t process;          /* of which process it is, where one session plans for several; else 0 */

	/* what the plan wants and what is: read by the thread itself, at each region */
	_Atomic int wanted;        /* logical node, REGISTRY_NO_NODE: leave it */
	_Atomic int bound;         /* node that we bound it to */
	_Atomic bool fixed;        /* bound by someone else: we keep off */
	_Atomic uint32_t failed;   /* step in which binding failed or did not help: not again before the next */
	_Atomic int lent;          /* node whose CPUs it has from us, by binding or by inheritance; REGISTRY_NOT_LOOKED, REGISTRY_NO_NODE */
	_Atomic bool held;         /* it is starting another program: it has all its CPUs, and is not bound */
	atomic_flag busy;          /* someone is binding it just now */
	_Atomic uint64_t bindings; /* system calls that bound it */

	struct region_table regions;

	/* memory that it said it uses: the last ones, written by the thread, read by the stepping one */
	_Atomic uint64_t touch[REGISTRY_TOUCHES];
	_Atomic uint32_t touches;
	uint32_t touches_taken;    /* the stepping thread's alone */

	uint32_t looked;           /* step in which it read its counters last */

	/* the stepping thread's alone */
	struct {
		int state, bound;
		bool fixed;
	} seen;                    /* the words above as of registry_see: others change them at any time, a step sees one thing only */
	int node;                  /* where it was seen last */
	bool announced, watched;   /* to the sources; its being fixed has been told */
	uint64_t moved_ms;         /* 0: never */
	uint64_t weight_ns;        /* evidence of it since the last step */
	float load;                /* share of its time on a CPU; 1 until known */
	uint64_t ticks, ticks_ns;  /* its CPU time when that was looked at last, and when */
	struct counted counted;    /* what counters say of it */
	uint64_t kernel_ms;        /* its fault statistics were read then */
	bool kernel_knows;         /* and say where it belongs */
	unsigned no_help;          /* its last moves that did not help, by the counters */
	struct { uint64_t count, timed, ticks; } region_seen[REGION_KEYS]; /* its regions as of the last step */
};

struct registry {
	pthread_mutex_t lock;      /* protects giving and freeing of slots */
	struct nsched_thread *block[REGISTRY_THREADS / REGISTRY_BLOCK];
	_Atomic uint32_t n;        /* slots ever given: numbers are below */
	uint32_t seen_n;           /* the stepping thread's: as of registry_see_all */
	_Atomic uint32_t step;     /* counts the session's steps */
	_Atomic bool masks_changed; /* someone was told to have bound threads: the next step looks at all of them */
	uint32_t refused;
	uint8_t node_of_cpu[MACHINE_CPUS]; /* by OS number; REGISTRY_UNKNOWN_CPU */
	uint16_t cpus_of_node[MACHINE_NODES]; /* that this process may use */
	_Atomic bool settles;      /* threads stay on the node where they begin, until a plan says more; set after these two */

	/* binds the thread (itself, or from the stepping thread) to its wanted node: 1, 0 or -errno; set after
	 * its argument, NULL while there is nobody to do it */
	int (*_Atomic bind)(void *arg, struct nsched_thread *thread);
	void *_Atomic bind_arg;

	/* where threads read counters for themselves: called by each thread once in a step, and when it leaves */
	void (*_Atomic look)(void *arg, unsigned thread);
	void (*_Atomic unlook)(void *arg, unsigned thread);
	void *_Atomic look_arg;
};

void registry_init(struct registry *registry);

/* All threads are forgotten, when nobody steps any more; others may come and go meanwhile. */
void registry_forget_all(struct registry *registry);

/* The same in the child of a fork, which has none of them: the lock may have been another thread's. */
void registry_forked(struct registry *registry);

/* The slot of thread `tid`, made if there is none. NULL: full, or no memory. Takes the lock. */
struct nsched_thread *registry_add(struct registry *registry, pid_t tid, bool registered);
struct nsched_thread *registry_find(struct registry *registry, pid_t tid);

/* The same without the lock, for the thread `tid` itself: nobody else frees its slot while it lives. */
struct nsched_thread *registry_find_unlocked(struct registry *registry, pid_t tid);

/* The stepping thread looks at a thread, or at all of them: what it goes by until it looks again. */
void registry_see(struct nsched_thread *thread);
void registry_see_all(struct registry *registry);

/* Makes slots, free ones, until there are `n`: for a replay, whose threads have the numbers that they had. 0, -ENOMEM or -E2BIG. */
int registry_make(struct registry *registry, uint32_t n);

/* By number, below registry->n; never NULL there. */
struct nsched_thread *registry_at(const struct registry *registry, uint32_t number);

/* The calling thread leaves, by its own word. */
void registry_bye(struct nsched_thread *thread);

/* Leaving is a word; the slot is freed by registry_free_slot, when nothing refers to its number any more. */
void registry_leave(struct nsched_thread *thread);
void registry_free_slot(struct registry *registry, struct nsched_thread *thread);

/* nsched_mem_touch. */
void registry_touch(struct nsched_thread *thread, uint64_t addr);

/* The calling thread, which has just become known, is to stay on the node where it runs, or, if others fill that already, on the one with
 * the most room: registry_place binds it. The kernel's balancer would take it elsewhere for a moment's load (the helper's first
 * steps will do), away from the memory that it touches first. Takes the lock. */
void registry_settle(struct nsched_thread *thread);

/* nsched_thread_place: see nsched.h. */
int registry_place(struct nsched_thread *thread);

#endif
