/* What the bench's programs share: options, where threads and memory are put by hand, a clock with a last third, and
 * one line of result. Each program does the same thing again and again for a given time and says how much it did:
 *
 *     bench: work 123456 seconds 9.00 last_work 45678 last_seconds 3.00
 *
 * The emulated machine's timing model is off while memory is made and on while the work is done. */
#ifndef BENCH_H
#define BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BENCH_THREADS_MOST = 256,
	BENCH_NODES_MOST = 64,
};

/* Who puts threads and memory where. */
enum bench_bind {
	BENCH_NONE,    /* nobody: the operating system, or what is put before the program */
	BENCH_HARD,    /* by hand, as it is best: each thread's memory on its own node, threads spread evenly */
	BENCH_INVERSE, /* the worst: threads as above, each one's memory on another node */
	BENCH_PACK,    /* by hand, on half as many nodes as the above would use */
};

struct bench_options {
	unsigned processes, threads; /* threads: of each process */
	size_t kib;                  /* memory, as the program says */
	double seconds;
	enum bench_bind bind;
	bool parallel_touch; /* each thread touches its memory first; else one thread, on the first CPU, touches all */
	bool shared;         /* all threads of a process use all of its memory */
	bool huge;           /* huge pages where the system gives them; else none, for our memory is small for them */
	unsigned compute;    /* instructions between two lines of memory, about */
	const char *kernel;  /* which of several, where a program has them */
};

/* Ends the program with a message and status 2 where the options are wrong. */
struct bench_options bench_options(int argc, char **argv, struct bench_options defaults, const char *what);

/* ---- places ------------------------------------------------------------------------------------------- */

/* The machine's CPUs, node by node, as far as this process may use them. bench_options makes it. */
struct bench_machine {
	unsigned cpus, nodes;             /* nodes with CPUs */
	int cpu[BENCH_THREADS_MOST];      /* of the operating system, the first node's first */
	int node[BENCH_THREADS_MOST];     /* of that CPU */
	int node_os[BENCH_NODES_MOST];    /* the nodes */
};
extern struct bench_machine bench_machine;

/* Thread I of ALL, where it is put by hand: an index into bench_machine.cpu. */
unsigned bench_cpu_of(enum bench_bind bind, unsigned i, unsigned all);
/* The node for the memory of the thread on that CPU, of the operating system: its own, or with BENCH_INVERSE another. */
int bench_memory_node(enum bench_bind bind, unsigned cpu);
/* Binds the calling thread to that CPU (index), or to where the process may run at all. */
void bench_pin(unsigned cpu);
void bench_unpin(void);
/* Memory's pages go to these nodes, page by page in turn. A set of bits; 0: to where it is touched. */
void bench_memory_to(void *memory, size_t bytes, unsigned long nodes);
/* New memory, not touched. */
void *bench_map(size_t bytes, const struct bench_options *options);
/* The same, and processes that are forked later share it. */
void *bench_map_shared(size_t bytes);

/* ---- threads of one or several processes --------------------------------------------------------------- */

struct bench_worker {
	unsigned process, thread; /* thread: in its process */
	unsigned i, all;          /* of all processes */
	const struct bench_options *options;
	void *memory;             /* of the process, as `prepare` returned it */
};

/* What a program does: `prepare` is called in each process before it has threads, the others in each thread. */
struct bench_work {
	void *(*prepare)(const struct bench_options *options, unsigned process);
	void (*touch)(struct bench_worker *worker); /* before the clock starts; the thread has been pinned */
	uint64_t (*work)(struct bench_worker *worker, uint64_t round); /* a little of it, some ms: how much was done */
};

/* Runs it and prints the result: the exit status. */
int bench_run(const struct bench_options *options, const struct bench_work *work);

/* ---- for programs that have their own threads ----------------------------------------------------------- */

double bench_now_s(void);

/* The clock of a program that works in passes: begin, then after each pass ask whether it goes on. */
struct bench_clock {
	double seconds, begin_s, third_s;
	uint64_t done, third_done;
};
void bench_clock_begin(struct bench_clock *clock, double seconds);
bool bench_clock_goes_on(struct bench_clock *clock, uint64_t done_in_this_pass);
void bench_clock_end(const struct bench_clock *clock);

#endif
