/* The one scheduler of this process: its opening and closing, its helper thread, its forks. */
#ifndef NSCHED_PROCESS_H
#define NSCHED_PROCESS_H

#include "config.h"
#include "exchange.h"
#include "loop.h"
#include "pure/slot.h"
#include "recorder.h"
#include "session.h"
#include "sharing.h"

struct nsched {
	struct nsched_config config;
	struct registry registry;
	struct ranges ranges;
	struct exchange exchange;
	struct loop loop;
	struct session session;
	struct neighbours neighbours; /* joined when the session is made */
	struct sharing sharing;
	struct recorder recorder;
	struct cpu_mask allowed;      /* CPUs of the process when it was opened */
	_Atomic bool idle;            /* nothing to do here, or it could not be prepared */
	_Atomic bool begun;           /* the helper knows whether there is anything to do */
	_Atomic bool prepared;        /* the session exists; any thread may ask */
	_Atomic bool stopped;         /* and does nothing any more: what is left is its report */
	nsched_error_t idle_reason;
	char no_look[120];            /* why no helper looks; empty: one does, or none was asked for */
	uint64_t open_ns;
	uint32_t threads_most;
	pthread_mutex_t step_lock;    /* held over a step, and while what steps change is read */
	struct slot_row *row;         /* what this rank has sent, as of the last step; NULL: no rank, under step_lock */
	_Atomic unsigned opens;       /* changed under process_open_lock */
	pid_t pid;
};

/* The contracts of the calls of the same names in nsched.h; they may change errno. */
int process_open(const struct nsched_config *config, struct nsched **handle);
int process_close(struct nsched *handle);
int process_start(struct nsched *handle);
int process_step(struct nsched *handle);
int process_report(struct nsched *handle, const char *file);
int process_stats(struct nsched *handle, nsched_stats_t *stats);
int process_probe(nsched_source_t *source, size_t size, unsigned most);
int process_worthwhile(nsched_error_t *why);
void process_exec_begin(void);
void process_exec_end(void);

/* ---- between process.c and process_children.c -------------------------------------------------------- */

extern struct nsched process_one;
extern pthread_mutex_t process_open_lock;   /* protects opens, pid and what is made and freed with them */

/* Threads that are loading libraries or reading the topology for nsched. hwloc and the loader have locks and lists of their own, which a child that another
 * thread forks meanwhile has half changed for ever: nsched stands aside in it. */
extern _Atomic int process_loading;
extern bool process_left_behind;            /* in such a child */

/* From now on it is seen when the process forks, or starts other programs. Again does nothing more. Under the lock. */
void process_watch_children(void);

#endif
