/* What becomes of nsched where the process forks or starts another program: the child has no helper and no session, and both begin with
 * the CPUs that the process was given. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "sys/files.h"

enum {
	FORK_WAIT_NS = 100000, FORK_TRIES = 20, /* a fork waits at the most 2 ms for a step to end... */
	FORK_LOAD_TRIES = 1000,                 /* ...and 100 ms for libraries to be loaded: the program may load some in the child, too */
};

/* Of each thread: since glibc 2.36 two threads may be forking at a time. */
static _Thread_local bool fork_has_step_lock, fork_has_ranges_lock;
static _Thread_local pid_t forking;

/* ---- fork ---------------------------------------------------------------------------------------------- */

static bool lock_soon(pthread_mutex_t *lock)
{
	const struct timespec wait = { 0, FORK_WAIT_NS };
	bool locked = false;
	for (int i = 0; !locked && i < FORK_TRIES; i++) {
		locked = pthread_mutex_trylock(lock) == 0;
		if (!locked) nanosleep(&wait, NULL);
	}
	return locked;
}

/* With the step lock the session is whole in the child and can be taken down; without it (a step that
 * takes long) the child leaves it as it is, and loses memory, but nothing else. Likewise with the ranges; in the order in which a step takes them. */
static void fork_prepare(void)
{
	int saved = errno;
	const struct timespec wait = { 0, FORK_WAIT_NS };
	forking = (pid_t)syscall(SYS_gettid);
	for (int i = 0; atomic_load(&process_loading) && i < FORK_LOAD_TRIES; i++) nanosleep(&wait, NULL);
	fork_has_step_lock = process_one.opens && lock_soon(&process_one.step_lock);
	fork_has_ranges_lock = lock_soon(&process_one.ranges.lock);
	errno = saved;
}

static bool serves(void)
{
	return process_one.opens && process_one.prepared && !process_one.stopped;
}

/* The child begins with the CPUs that the process was given, and so does every program that it becomes: nsched bound its parent. */
static void give_back_cpus(pid_t tid)
{
	binding_hold(&process_one.session.binding, registry_find_unlocked(&process_one.registry, tid), true);
}

static void fork_parent(void)
{
	if (fork_has_ranges_lock) pthread_mutex_unlock(&process_one.ranges.lock);
	if (fork_has_step_lock) pthread_mutex_unlock(&process_one.step_lock);
}

static void fork_child(void)
{
	int saved = errno;
	pthread_mutex_init(&process_open_lock, NULL);
	if (fork_has_step_lock) pthread_mutex_unlock(&process_one.step_lock);   /* ours: this is the thread that took it */
	else pthread_mutex_init(&process_one.step_lock, NULL);                  /* a step's, which goes on in the parent */
	process_left_behind |= atomic_load(&process_loading) > 0;
	atomic_store(&process_loading, 0);
	ranges_forked(&process_one.ranges, fork_has_ranges_lock);
	if (serves()) give_back_cpus(forking);
	exchange_forked(&process_one.exchange);
	if (process_one.opens) {
		if (process_one.prepared && fork_has_step_lock) {
			session_forked(&process_one.session);
			recorder_forked(&process_one.recorder);
		}
		neighbours_forked(&process_one.neighbours);
		files_together();
		process_one.prepared = false;
		process_one.opens = 0;
		process_one.loop.running = false;
	}
	registry_forked(&process_one.registry);   /* also where it is closed: a thread may just have come too late */
	errno = saved;
}

/* ---- exec ---------------------------------------------------------------------------------------------- */

void process_exec_begin(void)
{
	if (serves()) give_back_cpus((pid_t)syscall(SYS_gettid));
}

void process_exec_end(void)
{
	struct nsched_thread *self = process_one.opens ? registry_find_unlocked(&process_one.registry, (pid_t)syscall(SYS_gettid)) : NULL;
	if (self) atomic_store(&self->held, false);
}

/* The preloaded library sees when this process starts other programs: it is told whom to tell. */
static void watch_execs(void)
{
	void *found = dlsym(RTLD_DEFAULT, "nsched_preload_exec");
	void (*watch)(void (*begin)(void), void (*end)(void));
	if (!found) return;
	memcpy(&watch, &found, sizeof watch);
	watch(process_exec_begin, process_exec_end);
}

void process_watch_children(void)
{
	static bool forks_watched;
	watch_execs();
	if (!forks_watched) forks_watched = pthread_atfork(fork_prepare, fork_parent, fork_child) == 0;
}
