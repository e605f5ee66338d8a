/* What `nsched doctor` knows, and its parts. It goes one way: everything is read into struct doctor (doctor_*.c
 * by concern), judged by the table of doctor_findings.c, which reads nothing any more, and printed.
 *
 * Every read may fail: what is not known is marked so, told once (doctor_files.h), and never found fault with. */
#ifndef NSCHED_DOCTOR_H
#define NSCHED_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "doctor_files.h"
#include "libnsched/sys/measured.h"
#include "nsched.h"

enum {
	DOCTOR_WORD = 64,          /* names */
	DOCTOR_POLICIES = 8,       /* kinds of memory policy told apart in one process */
	DOCTOR_PROCESSES = 128,    /* looked at in one go; a machine's ranks fit */
	DOCTOR_BINDERS = 24,
	DOCTOR_ABILITIES = 5,
	DOCTOR_SOURCES = 16,
	DOCTOR_FOUND = 64,
	DOCTOR_NO_NODE = MACHINE_NODES,
};

/* ---- the machine (doctor_machine.c) ---------------------------------------------------------------------- */

struct doctor_node {
	unsigned os;
	struct cpu_mask cpus;
	uint64_t memory_kib;       /* 0: it has none */
	uint64_t spare_kib;        /* free, or file cache that can go */
};

struct doctor_machine {
	char host[DOCTOR_WORD], kernel[DOCTOR_WORD], model[DOCTOR_WORD];
	unsigned n_nodes;                /* logical numbers; nodes with neither CPUs nor memory do not count */
	struct doctor_node node[MACHINE_NODES];
	uint16_t distance[MACHINE_NODES][MACHINE_NODES]; /* the firmware's; 0: not known */
	struct cpu_mask online;
	uint16_t core[MACHINE_CPUS];     /* by CPU: the first CPU of its core */
	unsigned threads_per_core;       /* 0: not known */
	int numa_balancing;              /* -1: not known, or not in this kernel */
	int perf_paranoid;               /* -1 likewise... */
	bool perf_paranoid_known;        /* ...for which -1 is a value, too */
	struct measured measured;        /* latency and bandwidth, where they have been measured */
	bool is_measured;
};

void machine_look(struct doctor_machine *machine, struct doctor_files *files);

/* The logical node of a CPU, or DOCTOR_NO_NODE. */
unsigned machine_node_of(const struct doctor_machine *machine, unsigned cpu_os);

/* What a process is allowed, by its cgroup and by itself (doctor_limits.c). */
struct doctor_limits {
	char cgroup[DOCTOR_LINE];
	struct cpu_mask cpus;      /* the cpuset's, cut to what is online; all of these where there is no cpuset */
	struct cpu_mask mems_os;   /* nodes (their OS numbers) that it may have memory of */
	double quota_cpus;         /* CPU time in a second of time; 0: no limit */
	long long throttled;       /* times that the quota has stopped it; -1: not known */
	int seccomp;               /* 2: a filter is in force, as in containers; -1: not known */
	uint64_t capabilities;     /* effective */
};

void limits_look(struct doctor_limits *limits, struct doctor_files *files, const struct doctor_machine *machine, long pid);

/* ---- a process (doctor_process.c, doctor_memory.c, doctor_rank.c) ----------------------------------------------- */

struct doctor_thread {
	long tid;
	char name[DOCTOR_WORD];
	struct cpu_mask cpus;      /* that it may run on; empty: not known */
	unsigned n_cpus;
	int cpu_os;                /* where it ran last; -1: not known */
	char state;
	bool exact;                /* the times below are schedstat's; else the waiting is not known */
	uint64_t run_ns, wait_ns;  /* since its start */
	int run_permille, wait_permille; /* of the time between the two looks; -1: not known */
	bool active;               /* it works, or would if it had a CPU */
	unsigned node;             /* where it is: by its mask, else by where it ran; DOCTOR_NO_NODE */
};

struct doctor_policy {
	char text[DOCTOR_WORD];    /* as numa_maps has it: "bind:0-1" */
	uint64_t kib, node_kib[MACHINE_NODES];
};

/* Memory that is the process's own: not files. */
struct doctor_memory {
	bool known;
	uint64_t kib, node_kib[MACHINE_NODES];
	unsigned n_policies;
	struct doctor_policy policy[DOCTOR_POLICIES];
};

struct doctor_rank {
	const char *launcher;      /* NULL: it is no rank */
	long rank, ranks;          /* -1: not known */
	char job[DOCTOR_LINE];     /* equal for all ranks of a job on this machine */
};

struct doctor_process {
	long pid, parent;
	char name[DOCTOR_WORD];
	bool target;               /* to be judged; others are looked at as its neighbours */
	bool gone;                 /* it ended between the looks */
	unsigned n_threads, n_active;
	struct doctor_thread *thread;
	struct cpu_mask cpus;      /* of all its threads together */
	unsigned n_cpus;
	struct doctor_limits limits;
	struct doctor_memory memory;
	char *environment;         /* zeros between the variables; NULL: not known */
	size_t environment_bytes;
	const char *openmp, *mpi;  /* the run-time library that is loaded, or NULL */
	bool nsched;               /* libnsched.so is */
	struct doctor_rank rank;
};

/* Reads one process. 0, or -errno where it is not there. */
int process_look_at(struct doctor_process *process, struct doctor_files *files, const struct doctor_machine *machine, long pid);
void process_free(struct doctor_process *process);

/* Times of the threads from what has changed since the look `then`, `window_ns` ago. */
void process_compare(struct doctor_process *now, const struct doctor_process *then, uint64_t window_ns,
                     const struct doctor_machine *machine);

void memory_look(struct doctor_memory *memory, struct doctor_files *files, const struct doctor_machine *machine, long pid);

/* From the process's environment. */
void rank_look(struct doctor_rank *rank, const char *environment, size_t bytes, long parent);

/* The value of a variable in an environment as /proc/PID/environ has it, or NULL. */
const char *variable(const char *environment, size_t bytes, const char *name);

/* ---- processes (doctor_job.c) -------------------------------------------------------------------------------- */

struct doctor_job {
	unsigned n;
	struct doctor_process *process;  /* DOCTOR_PROCESSES of them */
};

/* Looks at `pid` and all below it, and at their neighbours: other ranks on this machine. 0, -ESRCH, -ENOMEM. */
int job_look(struct doctor_job *job, struct doctor_files *files, const struct doctor_machine *machine, long pid);
void job_compare(struct doctor_job *now, const struct doctor_job *then, uint64_t window_ns, const struct doctor_machine *machine);
void job_free(struct doctor_job *job);

/* ---- what nsched can do here, and who else binds ---------------------------------------------------------------- */

struct doctor_source {
	nsched_source_t is;
	char remedy[DOCTOR_LINE];  /* how to get it, or a better one; empty where there is nothing to do */
};

/* A system call that nsched acts with, tried. */
struct doctor_ability {
	const char *name;          /* "pages move" */
	int error;                 /* 0, or the negated errno of the refusal */
	const char *without;       /* what is lost */
	char remedy[DOCTOR_LINE];
};

struct doctor_tools {
	bool loaded;                     /* libnsched.so was there */
	char library[DOCTOR_LINE];       /* where; or why it could not be loaded */
	int worthwhile;
	nsched_error_t why_not;
	unsigned n_sources, n_abilities;
	struct doctor_source source[DOCTOR_SOURCES];
	struct doctor_ability ability[DOCTOR_ABILITIES];
};

/* Loads the library and tries everything (doctor_tools.c). */
void tools_look(struct doctor_tools *tools, const struct doctor_limits *own, const struct doctor_machine *machine);

/* What helps where a source or a system call was refused with `error`, for the reason `why` (may be empty);
 * nothing where nothing does (doctor_remedy.c). */
void remedy_for(const char *why, int error, bool is_perf, const struct doctor_limits *own, const struct doctor_machine *machine,
                char remedy[DOCTOR_LINE]);

struct doctor_binder {
	long pid;                        /* 0: of the whole machine */
	char who[DOCTOR_WORD];           /* "OpenMP", "Open MPI", "kernel" */
	char setting[DOCTOR_WORD];       /* "OMP_PROC_BIND=close" */
	const char *effect;
};

struct doctor_binders {
	unsigned n;
	struct doctor_binder binder[DOCTOR_BINDERS];
};

/* Those of the machine, and those in the environments of the processes (doctor_binders.c). */
void binders_look(struct doctor_binders *binders, struct doctor_files *files, const struct doctor_machine *machine);
void binders_of(struct doctor_binders *binders, long pid, const char *environment, size_t bytes);

/* ---- all of it, and what is wrong with it -------------------------------------------------------------------------- */

struct finding {
	const char *id;
	long pid;                        /* 0: the machine */
	char what[DOCTOR_LINE], evidence[DOCTOR_LINE], remedy[DOCTOR_LINE];
};

struct doctor {
	struct doctor_files files;
	struct doctor_machine machine;
	struct doctor_limits own;        /* of the doctor itself: what a program that is started here gets */
	struct doctor_tools tools;
	bool tools_tried;
	struct doctor_binders binders;
	struct doctor_job job;           /* empty where no program was asked for */
	bool with_program;
	unsigned n_found;
	struct finding found[DOCTOR_FOUND];
};

/* Fills doctor->found from the rest. */
void doctor_judge(struct doctor *doctor);

void doctor_text(const struct doctor *doctor, FILE *out);
int doctor_json(const struct doctor *doctor, FILE *out);

/* Measures latency and bandwidth between all nodes and keeps them. 0, or -errno after a complaint. */
int doctor_measure(struct doctor *doctor);

#endif
