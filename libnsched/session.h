/* The session: joins sources, evidence, placement, policy, gate and hands, one step at a time. All of it
 * belongs to the thread that steps; the only things that other threads touch are the registry and the
 * ranges, which have their own rules. Clock, sources and hands are given, so that the simulator and
 * the tests run this very code.
 *
 *   session.c          life, and the order of a step
 *   session_threads.c  who is there, where they run, what they are bound to
 *   session_sources.c  starting, feeding and dropping the sources
 *   session_rates.c    how often each thread is sampled
 *   session_counters.c counters: how much memory matters, and whether moves helped
 *   session_kernel.c   the kernel's statistics, where it balances too
 *   session_bandwidth.c  how busy the memory of the nodes is
 *   session_memory.c   where the chunks lie
 *   session_regions.c  what threads tell of regions, loops and tasks
 *   session_trial.c    whether what was moved made them slower, and taking it back
 *   session_view.c     evidence and placement -> situation
 *   session_apply.c    plan -> hands, and what is remembered of it
 *
 * A step is a function of what the session was and of what it is given from outside, to the last bit: by clock, hands, sources,
 * counters and eyes, and, where other threads change things at any time, by what it saw at one point of the step
 * (witness.h). So a record of these is enough to take the same decisions again. */
#ifndef NSCHED_SESSION_H
#define NSCHED_SESSION_H

#include "binding.h"
#include "config.h"
#include "history.h"
#include "neighbours.h"
#include "pure/evidence.h"
#include "pure/gate.h"
#include "pure/past.h"
#include "pure/placement.h"
#include "pure/plan.h"
#include "pure/policy.h"
#include "pure/situation.h"
#include "pure/throttle.h"
#include "pure/trial.h"
#include "ranges.h"
#include "registry.h"
#include "sys/actuator.h"
#include "sys/bandwidth.h"
#include "sys/clock.h"
#include "sys/counter.h"
#include "sys/eyes.h"
#include "sys/source.h"
#include "witness.h"

enum {
	SESSION_SOURCES = 8,
	SESSION_PROBES = 256,       /* accesses of a step whose pages are asked for their node, for the local share */
};

struct session_source {
	const struct source_ops *ops;
	void *state;
	bool on;
	bool needless;              /* not started, since a better one works */
	char why[SOURCE_WHY];       /* why it is off; "" while it is on */
	struct source_counts counts;/* the last ones, kept when it goes off */
	struct source_counts polled;/* as of the last step */
	uint64_t start_ns;          /* what its start took */
	unsigned sample_ns;         /* what a sample takes of its thread */
	uint64_t own_cpu_ns;        /* what taking in its samples took of the helper */
	uint64_t refused;           /* threads that it could not watch */
	unsigned flooded;           /* steps in a row in which it lost nearly all, at the lowest rate that there is */
};

/* Counters, and what they have said so far. */
struct session_counters {
	const struct counter_ops *ops;
	void *state;
	bool on;
	char why[COUNTER_WHY];      /* why they are off */
	struct counter_about about;
	unsigned next;              /* the thread to be read next */
	uint64_t begin_ns, begin_cpu_ns; /* when they were started, and the program's CPU time then */
	bool counted;               /* something was counted */
	unsigned remote_permille_first, remote_permille_now; /* of all threads' accesses; 1001: not known */
	uint64_t helped, no_help;   /* verdicts on moves */
};

/* How busy the memory of the nodes is, all programs of the machine together. */
struct session_bandwidth {
	const struct bandwidth_ops *ops;
	void *state;
	bool on;
	char why[BANDWIDTH_WHY];    /* why it is off */
	const char *counted_by;     /* NULL: it never was */
	unsigned n;                 /* parts of memory that are told apart */
	struct bandwidth_part part[BANDWIDTH_PARTS];
	struct uncore_meter meter[BANDWIDTH_PARTS];
	uint64_t read_ns, readings; /* when it was read last, by the session's clock */
	float now_mbs, busiest_mbs; /* lately, 10^6 bytes a second: all of them, and the one that served most */
};

/* The kernel's NUMA balancing: whether it is at work, and what its statistics say. */
struct session_kernel {
	int balances;               /* bits of kernel.numa_balancing */
	bool on;                    /* its statistics are read */
	char why[SOURCE_WHY];       /* why not */
	float *share;               /* [thread * n_nodes + node]: of the pages that it touched */
	unsigned next;              /* the thread to be read next */
	uint64_t reads, moves;      /* threads read; chunks that were moved, and not by us */
};

/* A leaf of the evidence with users, as collected in this step. */
struct session_leaf {
	uint32_t index;
	uint32_t pages;
	uint64_t page;
};

struct session_totals {
	uint64_t steps, samples, thread_moves, moved_pages, failed_moves, reverts;
	uint64_t own_cpu_ns;        /* of the stepping thread, inside steps */
	uint64_t sampled_ns;        /* of the threads that were sampled: interrupts and signals */
	uint64_t moving_cpu_ns;     /* of it, what moving took: the gate has weighed that against the gain */
	struct gate_held held;      /* sums */
	unsigned bound, fixed;      /* threads bound by us, and by someone else, at the last step */
	uint64_t bindings;          /* times that threads were bound */
	uint64_t touches;           /* uses of memory that threads told of */
};

/* How often to look. */
struct session_pace {
	uint64_t changed_ns;        /* when something changed last */
	unsigned steps;             /* that saw something since then */
	unsigned live;              /* threads at the last step */
	float local;                /* the local share lately; 0: not known */
	bool sleeps;                /* the program did next to nothing since the step before */
	uint64_t cpu_ns, own_ns, at_ns; /* the process's CPU time, and our part of it, as of the last step, and when that was */
};

/* How often threads are sampled. It goes out to the sources, and nothing that is decided depends on it but through what they see then. */
struct session_rates {
	struct throttle_thread *thread; /* by number, as the next two */
	struct throttle_seen *seen;     /* of this step */
	uint64_t *wanted_ns;
	unsigned n;
};

struct session {
	struct nsched_config config;
	struct machine machine;     /* with the CPUs that all processes of the job may use together */
	struct machine own;         /* the same nodes with this process's share of them */
	struct neighbours *neighbours; /* NULL, or those it is planned with */
	enum neighbours_mode mode;
	const struct clock_ops *clock;
	void *clock_state;
	const struct actuator_ops *hands;
	void *hands_state;
	const struct policy_ops *policy;
	struct registry *registry;
	struct ranges *ranges;
	struct binding binding;
	struct session_source source[SESSION_SOURCES];
	unsigned n_sources;
	struct session_counters counters;
	struct session_bandwidth bandwidth;
	struct session_kernel kernel;
	const struct eyes_ops *eyes; /* what /proc says; NULL in a simulation, which tells of its threads by itself */
	void *eyes_state;
	const struct witness_ops *witness; /* NULL: nobody takes notes */
	void *witness_state;
	pid_t self_tid;             /* the helper's own thread, never served; 0: none */

	struct evidence *evidence;
	struct placement placement;
	struct session_leaf *leaf;
	unsigned n_leaves, room_leaves, next_look;
	struct situation situation;
	struct past past;
	struct plan plan;
	struct trial trial;         /* what was moved is on trial */
	struct plan back;           /* what is to be taken back yet */
	bool taking_back;           /* in this step */

	uint64_t start_ns, last_ns, start_cpu_ns;
	float page_move_ns;         /* measured: what moving a page takes */
	unsigned strangers_ms;      /* since threads were looked for that inherited a mask of ours */

	struct { uint64_t addr; uint32_t thread; float weight; } probe[SESSION_PROBES];
	unsigned n_probes;
	uint64_t probes_seen;
	float local;                /* share of them that were to the thread's own node; -1: not known */
	struct session_pace pace;

	uint64_t period_ns;         /* between two samples of a thread, as sources were told at their start... */
	struct session_rates rates; /* ...and as it is now */
	uint64_t sampled_step;      /* in which the last sample came, 0 before the first */
	float hints_per_ns;         /* faults of the kernel's sampling, all threads */
	unsigned hints;             /* those of this step */
	float access_ns;            /* what taking in one access costs, measured */
	bool priced;                /* it was: until then it is a guess */
	uint64_t taken;             /* samples of this step that were taken in, whatever came of them */
	float seen;                 /* share of the samples of this step that were taken in; 1 without any */
	uint64_t fixed_ns;          /* what the last step cost besides taking in samples and moving */

	struct session_totals totals;
	unsigned refusals;          /* of move_pages as such, in a row */
	bool pages_refused;         /* move_pages as such: not tried again */
	struct history history;
};

struct session_setup {
	const struct nsched_config *config;
	struct machine machine;                    /* the session frees it */
	struct cpu_mask allowed;                   /* the process's own CPUs */
	struct neighbours *neighbours;             /* NULL: it is planned by itself */
	const struct clock_ops *clock;
	void *clock_state;
	const struct actuator_ops *hands;
	void *hands_state;
	const struct source_ops *const *sources;   /* those to try, NULL behind the last */
	const struct counter_ops *counters;        /* NULL: this build has none */
	const struct bandwidth_ops *bandwidth;     /* NULL: it is not read */
	struct registry *registry;
	struct ranges *ranges;
	const struct eyes_ops *eyes;               /* NULL: none */
	void *eyes_state;
	const struct witness_ops *witness;         /* NULL: none */
	void *witness_state;
};

/* 0; -ENOMEM; -EINVAL: the policy of the configuration does not exist. The machine is freed either way. */
int session_init(struct session *session, const struct session_setup *setup);

/* Stops the sources and gives the threads their CPUs back; what was counted can still be reported. */
void session_stop(struct session *session);

/* Frees the rest, after session_stop. */
void session_free(struct session *session);

/* In the child of a fork: frees what was inherited and touches nothing else. */
void session_forked(struct session *session);

/* One look at the evidence: the number of moves made. */
int session_step(struct session *session);

/* Asks the sources that are on for their counts. */
void session_count_sources(struct session *session);

/* What threads say of a region of code: how long they work in it and how long they wait for the slowest. */
enum { SESSION_REGIONS = 16 };
struct session_region {
	uintptr_t key;
	uint64_t visits;            /* of the thread that was there most often */
	unsigned threads;
	float work_ns, slowest_ns;  /* of a visit: the mean over the threads, and the slowest thread's */
	unsigned waits_permille;    /* of the threads' time in it that is waiting for the slowest */
	unsigned returned_permille; /* of loops' first chunks that came back to their thread; 1001: not known */
};

/* The regions that threads know now, longest first; their number. Any thread, at any time. */
unsigned session_regions(const struct session *session, struct session_region region[SESSION_REGIONS]);

/* CPU time of the program since the session began. */
uint64_t session_program_cpu_ns(const struct session *session);

/* When the next step should be: after the interval, or later where steps cost more than they may. */
uint64_t session_wait_ms(const struct session *session);

/* ---- between the files of the session -------------------------------------------------------------- */

uint64_t session_now_ms(const struct session *session);

/* CPU time that watching may still take, in ns: the option's share of the program's CPU time, and what
 * a start is allowed, less what it took so far. */
int64_t session_credit_ns(const struct session *session);

/* Times that the interval is doubled, since nothing changes; and after a step, whether something did. */
unsigned session_calm(const struct session *session);
void session_pace(struct session *session, const struct session_totals *before);
unsigned session_sample_ns(const struct session *session);
void session_watch(struct session *session, struct nsched_thread *thread);
void session_start_sources(struct session *session, const struct source_ops *const *sources);
void session_stop_sources(struct session *session);
uint64_t session_poll_sources(struct session *session, uint64_t passed_ns);
void session_rate_begin(struct session *session, unsigned thread);
void session_rate_end(struct session *session, unsigned thread);
void session_rates_take(void *session, const struct source_taken *taken); /* what a sink takes */
uint64_t session_period_longest(const struct session *session);
void session_set_rates(struct session *session, unsigned most, uint64_t passed_ns);
void session_free_rates(struct session *session);
uint64_t session_half_life_ns(const struct session *session);
void session_start_counters(struct session *session, const struct counter_ops *ops);
void session_stop_counters(struct session *session);
void session_read_counters(struct session *session);
void session_start_bandwidth(struct session *session, const struct bandwidth_ops *ops);
void session_stop_bandwidth(struct session *session);
void session_read_bandwidth(struct session *session);

/* Numbers of nodes as the kernel writes them: "0-1". */
void session_bandwidth_nodes(uint64_t nodes_os, char *text, size_t bytes);
void session_count_move(struct session *session, const struct move *move);
void session_record(struct session *session, const struct move *move, unsigned moved, unsigned failed);

/* Moves the pages of `n` moves; how many moves have moved some. */
int session_move_pages(struct session *session, const struct move *move, unsigned n);
void session_scale_view(struct session *session);
void session_start_kernel(struct session *session);
void session_free_kernel(struct session *session);
void session_read_kernel(struct session *session);
int session_view_kernel(struct session *session);
void session_kernel_moved(struct session *session, const struct placement_entry *before, struct placement_entry *entry);

/* What /proc/self/task/T/sched says of the thread, or `text` in its place. */
void session_kernel_saw(struct session *session, struct nsched_thread *thread, const char *text);
void session_take_touches(struct session *session);
void session_see_regions(struct session *session);

/* The move was made; of pages, so many. */
void session_on_trial(struct session *session, const struct move *move, uint32_t pages);

/* Where moves are being taken back, the plan is what may go in this step, and `taking_back` says so. 0 or -errno. */
int session_take_back(struct session *session, uint64_t budget_pages);

/* Is it too early to move anything, since what it does could not be judged? */
bool session_awaits_looks(const struct session *session);
void session_look_for_threads(struct session *session, uint64_t passed_ns);
void session_update_threads(struct session *session);
unsigned session_live(const struct session *session);   /* threads, as this step sees them */

/* The thread was looked at or bound, which said `ret`: what the step sees of it from now on. Returns what to take for `ret`. */
int session_bound(struct session *session, struct nsched_thread *thread, int ret);
void session_release_threads(struct session *session);
void session_add_hints(struct session *session, uint64_t passed_ns);
void session_locate(struct session *session);
void session_count_local(struct session *session);
int session_view(struct session *session);
int session_apply(struct session *session);

#endif
