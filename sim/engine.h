/* The engine: simulated time, the CPUs, and the tasks that run on them.
 *
 * Between two events of a CPU its task runs at a steady pace: the time that its work would take, were all its
 * memory local and nobody else there, times a factor for where its pages lie, for how full memories and links are, and
 * for who else is on the core. How full they are is measured from one tick to the next.
 *
 *   engine.c   time and events, the pace of what runs, traffic
 *   os.c       which task runs where and when: the simulated system's scheduler
 *   program.c  what tasks do, line by line
 *   memory.c   pages
 *
 * Nothing here knows nsched; sources.c and hands.c join the two. */
#ifndef NSCHED_SIM_ENGINE_H
#define NSCHED_SIM_ENGINE_H

#include "heap.h"
#include "machine.h"
#include "memory.h"
#include "random.h"
#include "sys/cpumask.h"
#include "workload.h"

enum {
	INBOX = 32,              /* messages that wait for a receiver; then senders wait */
	TICK_NS = 10000000,      /* how often loads are measured and CPUs look for work: as a kernel with 100 Hz */
	NO_CPU = 0xffff,
};

enum task_state { TASK_READY, TASK_RUNNING, TASK_ASLEEP, TASK_BLOCKED, TASK_DONE };
enum task_kind { TASK_PROGRAM, TASK_NOISE, TASK_HELPER };

struct task_queue { struct task *head, *tail; };

struct process {
	const struct wl_process *section;
	unsigned number, id;     /* among those of its section, and of all */
	unsigned tasks;          /* alive */
	uint64_t cpu_ns;
	struct piece **region;  /* by slot */
	struct barrier *barrier; /* one for each thread section of the workload */
	struct task ***member;   /* its tasks, by section and index; NULL: not started, or ended */
};

struct barrier {
	unsigned members, arrived;
	struct task *waiting;
};

struct task {
	uint32_t id;
	uint8_t kind, state;
	bool spinning, woken;    /* in a barrier; queued among those that woke */
	uint16_t cpu;            /* where it runs, waits or ran last */
	uint16_t last_cpu;       /* whose cache has its data; NO_CPU */
	struct task *next, *before; /* in a queue */

	/* what it does */
	const struct wl_thread *section;
	struct process *process;
	unsigned index;          /* among those of its section in its process */
	unsigned pc, depth;
	uint64_t loop[WORKLOAD_DEPTH];
	uint64_t step;           /* inside an operation that takes several: pages touched, messages sent */
	uint32_t parent;         /* id */
	unsigned children, below;/* alive; it waits until there are fewer than `below` */
	struct task *wait_next;  /* in a barrier or before a full inbox */
	struct task *senders;    /* that wait for room in its inbox */
	unsigned inbox, inbox_first;
	bool pinned;             /* by itself, to the one node of `nodes` */
	uint64_t nodes_before;
	bool receiving, paid;    /* waits for a message; has done the work of sending one */
	const struct wl_op *at;  /* the line that it is at */
	uint16_t from[INBOX];    /* nodes of those who sent */

	/* its burst: what it computes until the next thing happens */
	const struct wl_op *op;  /* the `run` that it is of, NULL: plain computing */
	uint64_t op_began;
	double left, factor;     /* ns of work, and by how much they are stretched */
	double cold_ns;          /* to pay first: refilling a cache */
	double progress;         /* ns of work in runs that stream */
	struct window *use[WORKLOAD_USES];
	uint64_t version;        /* of the windows, when share[] was made */
	const struct wl_op *resolved;  /* the op that use[] is of */
	struct piece **own;     /* regions of its own, by slot */

	/* accounts */
	uint64_t since, cpu_ns, began, ended, busy_mark;
	uint64_t nodes;          /* bit for each node that it may use */
	struct cpu_mask *mask;   /* NULL: all CPUs */
	double sample_credit, sample_period; /* ns of CPU time */
	void *watcher;           /* of sources.c */
	float share[];           /* of its accesses, by node of the page */
};

struct cpu {
	struct task *current;
	struct task_queue woken, normal;
	unsigned waiting, picks;
	uint16_t node, l3;
	uint64_t slice_end, dispatched, busy_ns;
};

struct engine_counts {
	uint64_t events, switches, migrations, node_migrations, messages, marks;
	uint64_t tasks, task_ns;     /* that ended, and their CPU time */
	double bytes, local_bytes;   /* traffic */
};

struct engine {
	const struct sim_machine *machine;
	const struct workload *workload;
	struct memory memory;
	struct chance chance;
	struct heap heap;
	uint64_t now, ended;
	unsigned n_nodes, n_cpus;
	struct cpu *cpu;
	unsigned node_waiting[MACHINE_NODES], node_running[MACHINE_NODES], waiting;
	unsigned balance_next;
	double balance_due;

	struct task **task;      /* by id */
	unsigned n_tasks, room_tasks;
	struct task *noise_pool, *helper, *gone;
	struct task *acting;     /* what it does next is being found: its CPU is not to be given away */
	bool helper_done;
	unsigned alive, asleep, runnable, spinning;   /* of the program's tasks */
	bool stuck, called;      /* called: a process has begun, and has not run yet: somebody may want to place it */
	struct process **process;
	unsigned n_processes, room_processes;
	unsigned *first_process; /* of each section, those from the start */
	struct piece **region;  /* of the whole machine, by slot */
	struct barrier *everywhere;

	/* where memory is full: traffic since the last tick in bytes, and what came of it */
	double traffic[MACHINE_NODES][MACHINE_NODES];
	double node_stretch[MACHINE_NODES], link_stretch[MACHINE_NODES][MACHINE_NODES];
	float cost[MACHINE_NODES][MACHINE_NODES];     /* of an access, local and alone is 1 */
	uint64_t last_tick;

	const struct placed *placed; /* NULL: none */
	const struct cpu_mask *cpus; /* what the program may use, as under taskset; NULL: all */
	struct engine_counts counts;
	uint64_t cpu_ns;         /* of the program */

	/* told of samples, of tasks that come and go, and of regions that they went through */
	void *watch_arg;
	double sample_period;    /* of those that begin to be watched, ns of CPU time; 0: nobody is sampled any more */
	void (*sample)(void *arg, struct task *task, double period);
	void (*born)(void *arg, struct task *task);
	void (*died)(void *arg, struct task *task);
	void (*visited)(void *arg, struct task *task, const struct wl_op *region, uint64_t ns);   /* NULL: nobody times regions */
};

/* NULL without memory. Both must outlive it. */
struct engine *engine_new(const struct sim_machine *machine, const struct workload *workload, uint64_t seed);
void engine_free(struct engine *engine);

/* The processes that are there from the start. */
void engine_begin(struct engine *engine);

/* Lets time pass until `until`, or until the workload has ended, can't go on, or has called; the caller takes that back. */
void engine_run(struct engine *engine, uint64_t until);
bool engine_done(const struct engine *engine);

/* nsched's helper thread computes for so long, in competition with everybody, while time passes. */
void engine_help(struct engine *engine, double ns);

/* The line of the workload at which some task waits for ever. */
unsigned engine_stuck_line(const struct engine *engine);

/* ---- between engine.c, os.c and program.c -------------------------------------------------------------- */

/* Takes account of what the CPU's task did since the last time. */
void engine_settle(struct engine *engine, unsigned cpu);

/* Finds the pace of the CPU's task and the time of the CPU's next event. */
void engine_pace(struct engine *engine, unsigned cpu);

/* A task waits on a timer. */
void engine_sleep_until(struct engine *engine, struct task *task, uint64_t when);

struct task *engine_add_task(struct engine *engine, enum task_kind kind);

/* A task that has ended, and whose children have, may be used anew. */
void engine_reap(struct engine *engine, struct task *task);

/* The shares of a task's accesses by node, from its windows. */
void engine_share(const struct engine *engine, struct task *task);

/* os.c */
void os_start(struct engine *engine, struct task *task, int parent_cpu);
void os_wake(struct engine *engine, struct task *task);
void os_leave(struct engine *engine, unsigned cpu);          /* its task blocks, sleeps or ends: the next one's turn */
void os_turn(struct engine *engine, unsigned cpu);           /* its time is up */
void os_balance(struct engine *engine);                      /* at each tick */
void os_noise(struct engine *engine);
void os_allow(struct engine *engine, struct task *task, const struct cpu_mask *mask);  /* from now on these CPUs */
double os_noise_wait(struct engine *engine);
bool os_may(const struct engine *engine, const struct task *task, unsigned cpu);

/* program.c: goes on with what the task does until it computes, blocks or ends; its state tells. */
void program_go_on(struct engine *engine, struct task *task);
int program_begin(struct engine *engine);
void program_free_process(const struct engine *engine, struct process *process);

#endif
