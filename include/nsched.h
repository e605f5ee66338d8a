/* nsched: a NUMA scheduler that lives inside HPC programs.
 *
 * One process has one scheduler, whoever opens it: the OpenMP plugin, the preloaded start
 * of `nsched run`, the program itself. It watches which memory each thread uses and puts
 * threads and pages together. On a machine with one NUMA node it does nothing at all.
 *
 * Conventions, for every call:
 *  - returns 0, or a count, or a negated errno value; the caller's errno is left as it was;
 *  - never ends, blocks or prints from the program that it is in;
 *  - "thread-safe" means: from any thread, at any time, also while others do the same;
 *  - sizes are bytes, times are nanoseconds, shares are per mille, and names say so;
 *  - pointers stay the caller's unless the contract says otherwise. */
#ifndef NSCHED_H
#define NSCHED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NSCHED_VERSION_MAJOR 0
#define NSCHED_VERSION_MINOR 1
#define NSCHED_VERSION_PATCH 0
#define NSCHED_VERSION (NSCHED_VERSION_MAJOR * 10000 + NSCHED_VERSION_MINOR * 100 + NSCHED_VERSION_PATCH)

#if defined(__GNUC__)
#define NSCHED_API __attribute__((visibility("default")))
#define NSCHED_MUST_CHECK __attribute__((warn_unused_result))
#else
#define NSCHED_API
#define NSCHED_MUST_CHECK
#endif

typedef struct nsched nsched_t;               /* the process's scheduler */
typedef struct nsched_config nsched_config_t; /* options, by name */
typedef struct nsched_thread nsched_thread_t; /* a thread known to the scheduler */

/* A text for a human, beside the error number: names the wrong thing and the nearest right one. */
typedef struct nsched_error {
	char text[200];
} nsched_error_t;

/* The version of the library that is loaded, as NSCHED_VERSION. Thread-safe. */
NSCHED_API int nsched_version(void);

/* ---- options ---------------------------------------------------------------------------------- */

/* Makes a set of options, all at their defaults. The caller owns it and destroys it.
 * -EINVAL  config is NULL
 * -ENOMEM  no memory
 * Thread-safe. */
NSCHED_API NSCHED_MUST_CHECK int nsched_config_create(nsched_config_t **config);

/* Frees the options; NULL is allowed. A scheduler opened with them keeps its own copy. */
NSCHED_API void nsched_config_destroy(nsched_config_t *config);

/* Sets the option `name` ("policy") to `value` ("joint"), both copied. `nsched run --help` lists
 * them. `error` may be NULL; else it says in words what was wrong.
 * -EINVAL  an argument is NULL, or the value is not one of the option's kind
 * -ENOENT  there is no option of that name
 * -ERANGE  the value is a number outside the option's range
 * Not thread-safe for one config. */
NSCHED_API NSCHED_MUST_CHECK int nsched_config_set(nsched_config_t *config, const char *name, const char *value,
                                                   nsched_error_t *error);

/* Takes every NSCHED_* variable of the environment. Wrong ones are left at what they were; the
 * first of them is told in `error` (may be NULL), and all others are still taken.
 * -EINVAL, -ENOENT, -ERANGE  as above, for the first wrong one
 * Not thread-safe against setenv, as getenv is not. */
NSCHED_API NSCHED_MUST_CHECK int nsched_config_environment(nsched_config_t *config, nsched_error_t *error);

/* The value in force of the option `name`, as text, into `value` of `bytes` bytes.
 * Returns its length; -ENOENT no such option; -ENOSPC it did not fit; -EINVAL an argument is NULL. */
NSCHED_API int nsched_config_get(const nsched_config_t *config, const char *name, char *value, size_t bytes);

/* ---- the scheduler of this process --------------------------------------------------------------- */

/* 1 where nsched has something to do here: more than one NUMA node that this process may use.
 * 0 where not, with the reason in `why` (may be NULL). Reads a few files of /sys and /proc, starts
 * and loads nothing. Thread-safe. */
NSCHED_API int nsched_worthwhile(nsched_error_t *why);

/* One kind of evidence of who uses which memory, and whether it can be had here. */
typedef struct nsched_source {
	char name[32];          /* "clock-perf", as in the report */
	char why[160];          /* why it is off, in one line; empty where it works */
	int32_t error;          /* 0: it works; else a negated errno value */
	uint32_t probe_us;      /* what the probe took */
} nsched_source_t;

/* Tries every source of evidence by using it on the calling thread, as nsched_start would, and puts
 * it off again. Fills the first `most` of `source` (each of `size` bytes: sizeof(nsched_source_t); a
 * newer library fills what an older caller knows) and returns how many sources there are.
 * -EINVAL  source is NULL, or size is smaller than the first published struct
 * -EBUSY   a scheduler is open in this process: its report has the states
 * Thread-safe; takes up to some tenths of a second of CPU time, and starts no thread. */
NSCHED_API NSCHED_MUST_CHECK int nsched_probe(nsched_source_t *source, size_t size, unsigned most);

/* Opens the process's scheduler. The first call makes it, from a copy of `config` (NULL: defaults
 * and environment); later ones get the same, and their config is not looked at. Each needs its
 * nsched_close. Where nsched_worthwhile says no, the scheduler is idle: every call works and
 * nothing happens.
 * -EINVAL  handle is NULL
 * -ENOMEM  no memory
 * Thread-safe. After fork the child has none and may open its own. */
NSCHED_API NSCHED_MUST_CHECK int nsched_open(const nsched_config_t *config, nsched_t **handle);

/* Closes it. The last one out stops the helper thread, gives threads back the CPUs they had, and
 * writes the report, if one was asked for. The handle is void afterwards.
 * -EINVAL  handle is NULL or not open in this process
 * Thread-safe. */
NSCHED_API int nsched_close(nsched_t *handle);

/* Starts the helper thread, which steps the scheduler from now on; it blocks every signal. A second
 * call does nothing. Waits until the helper knows the machine (milliseconds; a second at the most).
 * -EAGAIN, -EPERM: the thread could not be had (the program goes on without);
 * -EINVAL: handle is NULL. Thread-safe. */
NSCHED_API NSCHED_MUST_CHECK int nsched_start(nsched_t *handle);

/* One step by hand, for programs that want no helper thread: reads the evidence, decides, acts.
 * Returns the number of moves made (threads and page batches).
 * -EBUSY   the helper thread does it already, or another thread is in this call
 * -EINVAL  handle is NULL
 * Thread-safe; takes milliseconds: not from a signal handler or a callback. */
NSCHED_API int nsched_step(nsched_t *handle);

/* ---- threads ----------------------------------------------------------------------------------- */

/* Makes the calling thread known. *thread is the scheduler's; it is valid until this thread calls
 * nsched_thread_unregister, or the process forks. A thread registered twice gets the same. With
 * the option `threads=all` the helper thread finds the others in /proc/self/task by itself.
 * -EINVAL  an argument is NULL
 * -ENOMEM  no memory
 * Thread-safe. One system call the first time. */
NSCHED_API NSCHED_MUST_CHECK int nsched_thread_register(nsched_t *handle, nsched_thread_t **thread);

/* Forgets the calling thread (NULL is allowed), which keeps the CPUs it has. Thread-safe. */
NSCHED_API void nsched_thread_unregister(nsched_thread_t *thread);

/* A good moment for the calling thread to follow the plan: it binds itself if the plan has changed
 * since, or if it is not where the plan wants it. Returns 1 if it did, else 0. Else no system call:
 * a few nanoseconds. `thread` must be the calling thread's (NULL: does nothing).
 * Thread-safe; may be called in an OMPT callback. */
NSCHED_API int nsched_thread_place(nsched_thread_t *thread);

/* The calling thread enters (leaves) a parallel region, known by `key` (a code address; it is a
 * hint only). One region in some is timed, to learn whether a placement was better.
 * Thread-safe; tens of nanoseconds; no system call. */
NSCHED_API void nsched_region_begin(nsched_thread_t *thread, const void *key);
NSCHED_API void nsched_region_end(nsched_thread_t *thread);

/* The calling thread, inside a region, takes up iterations from `start` on of a loop: the first chunk that it gets in this
 * visit counts. Whether threads come back to the same iterations says whether their memory stays theirs; the report
 * tells. Thread-safe; nanoseconds; no system call. */
NSCHED_API void nsched_loop_chunk(nsched_thread_t *thread, uint64_t start);

/* The calling thread is about to start another program, in its own place (execve) or beside it (posix_spawn, system, popen, vfork), which
 * would inherit the CPUs that nsched bound the thread to: it gets back those that the process was given, and keeps them
 * until nsched_exec_end. Under `nsched run` this is done by itself; for fork it always is. Without an open
 * scheduler both do nothing. Thread-safe and async-signal-safe; also in the child of a vfork, which needs no end. */
NSCHED_API void nsched_exec_begin(void);
NSCHED_API void nsched_exec_end(void);

/* ---- memory ------------------------------------------------------------------------------------ */

/* Gives the `bytes` bytes at `addr` a name (copied, at most 31 characters are kept), which the
 * report then uses. The range must stay mapped until nsched_mem_detach.
 * -EINVAL  an argument is NULL, or bytes is 0
 * -EEXIST  it overlaps a range that was attached before
 * -ENOSPC  more ranges than the option `max_ranges`
 * Thread-safe. */
NSCHED_API NSCHED_MUST_CHECK int nsched_mem_attach(nsched_t *handle, const char *name, const void *addr, size_t bytes);

/* Forgets a range, and what was said of it. -ENOENT: none begins at `addr`. Thread-safe. */
NSCHED_API int nsched_mem_detach(nsched_t *handle, const void *addr);

/* Says that `thread` will read or write the `bytes` bytes at `addr`, about `bytes_per_s` bytes each
 * second (0: forget what was said for this thread and this very range). It holds until it is said
 * anew or the range is detached. `addr` must lie in an attached range, with all its bytes.
 * -EINVAL  an argument is NULL, or bytes is 0
 * -ENOENT  not inside one attached range
 * -ENOSPC  more hints than the option `max_hints`
 * Thread-safe. */
NSCHED_API NSCHED_MUST_CHECK int nsched_mem_hint(nsched_t *handle, nsched_thread_t *thread, const void *addr, size_t bytes,
                                                 uint64_t bytes_per_s);

/* The calling thread uses the memory at `addr` about now: evidence like that of a sample (an OpenMP task's dependence,
 * say). The last 16 between two looks of the scheduler are kept. `thread` must be the calling thread's (NULL: does
 * nothing). Thread-safe; nanoseconds; no system call; may be called in an OMPT callback. */
NSCHED_API void nsched_mem_touch(nsched_thread_t *thread, const void *addr);

/* ---- ranks ------------------------------------------------------------------------------------- */

/* What this process, a rank of a job, has sent to another one since the start. */
typedef struct nsched_exchange {
	int32_t rank; /* the other rank; -1: all that are not of this job (spawned, connected) */
	uint64_t bytes;
	uint64_t messages;
} nsched_exchange_t;

/* How often a call of the message library was made. `name` stays the source's. */
typedef struct nsched_call_count {
	const char *name;
	uint64_t calls;
} nsched_call_count_t;

/* Who counts the messages of this process: the MPI plugin. `size` is set to
 * sizeof(nsched_exchange_source_t); all texts and functions must stay valid until the source is
 * taken away or the process ends. */
typedef struct {
	size_t size;
	const char *library;   /* "Open MPI 4.1.4" */
	int32_t rank, ranks;   /* this one, and how many the job has; -1 and 0 where that is not known */
	uint64_t start_ns;     /* what the source took while the message library was starting */
	void *context;         /* handed to the functions below */
	/* Copies up to `most` peers with something sent, in the order of their ranks, beginning at rank
	 * `from`; -1 comes first. Returns how many were copied: fewer than `most` means that it was all.
	 * Both are called from the helper thread, and from nsched_report and nsched_close, one call at a
	 * time, while the program goes on: totals may be read between a message's bytes and its count.
	 * They must not block, and must not call nsched or the message library. */
	size_t (*sent)(void *context, int32_t from, nsched_exchange_t *peers, size_t most);
	/* Copies up to `most` counts, beginning at the number `from`; calls never made may be left out
	 * with `calls` 0. Returns as above. May be NULL. */
	size_t (*calls)(void *context, uint32_t from, nsched_call_count_t *counts, size_t most);
	/* `on` not 0: memory that the message library shares with other processes has to stay mapped from now on, until the
	 * call with 0. Answers 0 where that can't be promised, since the library is about to end; also to a further
	 * call meanwhile, which comes every few milliseconds: then the call with 0 follows at once. From the helper thread only.
	 * May be NULL: then such memory stays on the nodes where it is. */
	int (*hold)(void *context, int on);
} nsched_exchange_source_t;

/* Makes the source of this process's messages known; the struct is copied. The report then has what
 * it says, and the plan of all ranks on this machine takes it into account. NULL takes the source
 * away: after the return none of its functions runs or will run. A forked child has none.
 * -EINVAL  handle is NULL, or source->size is smaller than the first published struct, or `sent` is NULL
 * -EEXIST  there is a source already
 * Thread-safe. */
NSCHED_API NSCHED_MUST_CHECK int nsched_exchange_source(nsched_t *handle, const nsched_exchange_source_t *source);

/* Says that somebody else may just have changed CPUs of this process's threads (an MPI library binds in
 * MPI_Init, or when it reorders ranks). The next step looks at every thread's mask, not only at some
 * threads'; those that someone binds are left alone from then on. Makes no system call itself.
 * -EINVAL: handle is NULL. Thread-safe. */
NSCHED_API int nsched_masks_changed(nsched_t *handle);

/* ---- figures ----------------------------------------------------------------------------------- */

/* What has happened so far (the struct's own name is not the call's, which in C++ would hide it).
 * `size` is set by the caller to sizeof(nsched_stats_t); a newer library
 * fills what an older caller knows. Counts are since nsched_open. */
typedef struct nsched_stats_record {
	size_t size;
	uint32_t active;           /* 0: idle, see nsched_worthwhile */
	uint32_t nodes;            /* NUMA nodes that this process may use */
	uint32_t threads;          /* threads known now */
	uint32_t steps;            /* times the scheduler has looked */
	uint64_t samples;          /* pieces of evidence taken in */
	uint64_t thread_moves;     /* threads bound to another node */
	uint64_t moved_bytes;      /* pages moved */
	uint64_t failed_moves;     /* pages and threads that did not go */
	uint64_t reverts;          /* plans taken back */
	uint32_t local_permille;   /* share of the traffic seen lately that was to the thread's own node; 1001: none seen */
	uint32_t overhead_permille;/* nsched's own CPU time in the process's */
} nsched_stats_t;

/* -EINVAL: an argument is NULL, or stats->size is smaller than the first published struct. Thread-safe. */
NSCHED_API NSCHED_MUST_CHECK int nsched_stats(nsched_t *handle, nsched_stats_t *stats);

/* Writes the report as it stands now to `file` ("-": standard error): JSON where the name ends in
 * .json; what the last plan was made of (for a bug report) where it ends in .situation; text otherwise. What is there already is
 * written over if it is a report, or the option `report_over` says so. -EINVAL: an argument is NULL; -EEXIST: another file is there;
 * else what open or write said. Thread-safe. */
NSCHED_API NSCHED_MUST_CHECK int nsched_report(nsched_t *handle, const char *file);

#ifdef __cplusplus
}
#endif
#endif
