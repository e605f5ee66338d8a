/* Binding threads to nodes, and keeping off those that someone else binds.
 *
 * The rule: a thread may be bound while its mask is all that the process was given, or what we gave it.
 * A mask that is a strict subset of the process's and not ours is someone's decision (OMP_PROC_BIND,
 * the program itself): the thread is `fixed` for as long as it is so. One that was widened to all again
 * (perf bench binds its threads to CPU 0 while they allocate; a runtime grows its team) is nobody's. A thread inherits the mask of the
 * thread that made it, so a mask that we gave to any thread counts as ours when a thread is looked at first; from then on only what
 * it got itself. (On one that binds itself, before that, to just the CPUs of a node that others were bound to, we are wrong.) */
#ifndef NSCHED_BINDING_H
#define NSCHED_BINDING_H

#include "registry.h"
#include "sys/actuator.h"

struct binding {
	const struct machine *_Atomic machine;    /* whose nodes threads are bound to now */
	const struct machine *machines[2];        /* those that it may be; masks of both are ours */
	const struct actuator_ops *hands;
	void *hands_state;
	struct cpu_mask allowed;                  /* what the process was given */
	_Atomic bool given[MACHINE_NODES];        /* we have bound a thread to this node */
	bool may_bind;
	_Atomic bool closed;                      /* binding_close was called */
};

/* `machine` must outlive it and holds only CPUs of `allowed`. */
void binding_init(struct binding *binding, const struct machine *machine, const struct actuator_ops *hands, void *hands_state,
                  const struct cpu_mask *allowed, bool may_bind);

/* From now on a node's CPUs are those that it has in `machine`, whose nodes have the same numbers: what all
 * processes of a job may use together, or this one's share. Any thread may be binding itself meanwhile. */
void binding_use(struct binding *binding, const struct machine *machine);

/* Binds the thread to its wanted node. 1: done; 0: nothing to do, or it is fixed now; else -errno.
 * At most two system calls; no lock, no memory: threads call it for themselves in callbacks. */
int binding_apply(void *binding, struct nsched_thread *thread);

/* From its return on no thread is in binding_apply, nor does anything there: what the binding refers to may go. */
void binding_close(struct binding *binding, struct registry *registry);

/* Looks whether the thread is someone else's, as binding_apply does before it binds. */
void binding_look(struct binding *binding, struct nsched_thread *thread);

/* Looks whether a thread that we bound still has the mask that it got: it, or another, may have changed
 * it since. If it is anybody's now it is bound again, to where its memory is; else it is fixed. */
void binding_verify(struct binding *binding, struct nsched_thread *thread);

/* Gives the thread all CPUs of the process back, if its mask is ours. */
void binding_release(struct binding *binding, struct nsched_thread *thread);

/* The calling thread, which is about to start another program, gets all CPUs of the process back, if its mask is ours, and keeps them until
 * it is held no longer. `thread` is its own, NULL where it is not known (the child of a vfork, for one). Async-signal-safe. */
void binding_hold(struct binding *binding, struct nsched_thread *thread, bool hold);

/* The same for a thread that is not known, but inherited a mask of ours. 1 if it had one. */
int binding_release_stranger(struct binding *binding, pid_t tid);

#endif
