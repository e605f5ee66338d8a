/* numamodel: a QEMU TCG plugin that gives an emulated machine the timing of a NUMA machine.
 *
 * User-mode instructions and cache misses are charged model time: a miss costs the latency between the virtual CPU's
 * node and the node of the page, plus a queueing delay where the node's memory is asked for more than it can serve.
 * Each virtual CPU is held back to its model time, slowed down by a factor that leaves the host time to spare, so
 * clocks inside the guest read model time (times that factor). Kernel-mode code runs uncharged.
 *
 * Below, "wall" time is the host's, which is also what the guest's clocks read; it counts from the plugin's start. */
#define _GNU_SOURCE
#include "numaoptions.h"
#include "numashape.h"
#include "plugin_api1.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);
int qemu_plugin_version = 1;

enum {
	CACHE_LINES = 256, /* a CPU's private cache, direct mapped: 16 KiB, small, so that small test programs miss */
	PAGES = 64,        /* pages whose node a CPU remembers */
};

#define PAGE_MEMORY_NS 20000000.0 /* wall: for so long; the page may migrate meanwhile */
#define AHEAD_NS 100000.0         /* wall: a CPU sleeps once it is this far ahead; asleep it takes no interrupt, see below */
#define DEBT_NS 50000000.0        /* wall: lag that a CPU may make up later; what is beyond is late, and lost */
#define WINDOW_NS 10000000.0      /* wall: over this a node's demand is counted */
#define WINDOWS_MOST 4.0          /* idle windows that count as capacity, so that a pause does not excuse a burst */
#define QUEUE_GAIN 0.3            /* share of the excess load, times the local latency, by which a window changes the delay */
#define QUEUE_MOST 40.0           /* most delay, in local latencies */
#define SIBLING_NS 3000000.0      /* wall: a sibling thread that ran within this shares the core now */
#define SLOW_PER_CPU 12.5         /* default slowdown for each virtual CPU: what two host CPUs sustain */

static struct options opt;
static struct shape shape;
static int smt, n_vcpus; /* to index with */
static double local_ns, insn_ns, pause_ns, service_ns; /* wall: of a miss, of an instruction; a node serves a line in this */
static double miss_ns[SHAPE_NODES][SHAPE_NODES];       /* wall: from a CPU of the first node to the memory of the second */
static struct timespec start;
static atomic_bool armed;

/* Only the CPU's own thread writes here; print_totals reads and clears the counts while it may run, which can lose a few. */
static struct vcpu {
	uint64_t tag[CACHE_LINES]; /* line number, 0: none */
	struct {
		uint64_t number;
		double until;
		int node;
	} page[PAGES];
	double due;     /* wall time up to which this CPU is charged */
	double pending; /* charged, not yet in due */
	double last_run;
	double busy, late; /* wall ns charged, wall ns lost for good */
	uint64_t insns, accesses, local, remote, served[SHAPE_NODES];
	bool idle;
	char pad[64]; /* the next CPU's are on other cache lines */
} *vcpus;

/* A node's memory, shared by all CPUs. */
static struct memory {
	_Atomic uint64_t window;   /* number of the current one */
	_Atomic uint64_t demanded; /* lines in it */
	_Atomic int64_t delay_ns;  /* wall */
	char pad[40];
} memory[SHAPE_NODES];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)(t.tv_sec - start.tv_sec) * 1e9 + (double)(t.tv_nsec - start.tv_nsec);
}

static double clamp(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

/* One line from that node: what it waits. The delay integrates the excess of demand over capacity, window by window, so
 * that it settles where the CPUs together ask for just what the node can serve. */
static double queue_delay(int n, double t)
{
	struct memory *m = &memory[n];
	uint64_t window = (uint64_t)(t / WINDOW_NS), old = atomic_load_explicit(&m->window, memory_order_relaxed);

	if (window != old && atomic_compare_exchange_strong(&m->window, &old, window)) {
		double capacity = WINDOW_NS / service_ns * clamp((double)window - (double)old, 1, WINDOWS_MOST);
		double load = (double)atomic_exchange(&m->demanded, 0) / capacity;
		double delay = (double)atomic_load(&m->delay_ns) + QUEUE_GAIN * (load - 1) * local_ns;

		atomic_store(&m->delay_ns, (int64_t)clamp(delay, 0, QUEUE_MOST * local_ns));
	}
	atomic_fetch_add_explicit(&m->demanded, 1, memory_order_relaxed);
	return (double)atomic_load_explicit(&m->delay_ns, memory_order_relaxed);
}

/* Charges what is pending, and sleeps if the CPU is ahead of its time. Sleeps are kept short: each page that migrates waits
 * until all CPUs have dropped its old translation, and with 8 busy ones that took 1.3 ms a page with sleeps from 1 ms on,
 * 0.3 ms with sleeps from 0.1 ms on. */
static void settle(struct vcpu *v, double t)
{
	v->busy += v->pending;
	v->due += v->pending;
	v->pending = 0;
	v->last_run = t;
	if (v->due < t - DEBT_NS) {
		v->late += t - DEBT_NS - v->due;
		v->due = t - DEBT_NS;
	}
	if (v->due > t + AHEAD_NS) {
		uint64_t ns = (uint64_t)(v->due - t);
		struct timespec ts = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

		nanosleep(&ts, NULL);
	}
}

/* A halted CPU owes nothing for the time it slept. */
static void on_idle(qemu_plugin_id_t id, unsigned cpu)
{
	(void)id;
	if (cpu < (unsigned)n_vcpus)
		vcpus[cpu].idle = true;
}

static void on_resume(qemu_plugin_id_t id, unsigned cpu)
{
	(void)id;
	if (cpu >= (unsigned)n_vcpus)
		return;
	struct vcpu *v = &vcpus[cpu];
	double t = now_ns();

	if (v->idle && v->due < t)
		v->due = t;
	v->idle = false;
}

/* A new address space: what the CPU remembers of the old one's addresses is void. */
static void on_cr3(unsigned cpu, void *unused)
{
	struct vcpu *v = &vcpus[cpu];

	(void)unused;
	memset(v->tag, 0, sizeof v->tag);
	memset(v->page, 0, sizeof v->page);
}

static bool shares_core(unsigned cpu)
{
	unsigned first = cpu / (unsigned)smt * (unsigned)smt;

	for (unsigned i = first; i < first + (unsigned)smt; i++)
		if (i != cpu && vcpus[i].last_run + SIBLING_NS > vcpus[cpu].last_run)
			return true;
	return false;
}

static void on_block(unsigned cpu, void *insns)
{
	if (!atomic_load_explicit(&armed, memory_order_relaxed))
		return;
	struct vcpu *v = &vcpus[cpu];
	double cost = (double)(uintptr_t)insns * insn_ns;

	v->insns += (uintptr_t)insns;
	if (smt > 1 && shares_core(cpu))
		cost *= opt.smtfactor;
	v->pending += cost;
	if (v->pending > AHEAD_NS)
		settle(v, now_ns());
}

/* A spin loop's `pause`. The emulator takes far longer for one than for another instruction: uncharged, threads that wait for each
 * other in user mode would keep the host from emulating those that work. */
static void on_pause(unsigned cpu, void *unused)
{
	struct vcpu *v = &vcpus[cpu];

	(void)unused;
	if (!atomic_load_explicit(&armed, memory_order_relaxed))
		return;
	v->pending += pause_ns;
	if (v->pending > AHEAD_NS)
		settle(v, now_ns());
}

/* The node of an address' page, -1 where it is no node's memory. */
static int node_of(struct vcpu *v, qemu_plugin_meminfo_t info, uint64_t vaddr, double t)
{
	uint64_t number = vaddr >> 12;
	unsigned slot = number % PAGES;

	if (v->page[slot].number != number || v->page[slot].until < t) {
		struct qemu_plugin_hwaddr *h = qemu_plugin_get_hwaddr(info, vaddr);

		if (!h || qemu_plugin_hwaddr_is_io(h))
			return -1;
		v->page[slot].number = number;
		v->page[slot].until = t + PAGE_MEMORY_NS;
		v->page[slot].node = shape_node_of(&shape, qemu_plugin_hwaddr_phys_addr(h));
	}
	return v->page[slot].node;
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *unused)
{
	(void)unused;
	if (vaddr >> 47 || !atomic_load_explicit(&armed, memory_order_relaxed))
		return;
	struct vcpu *v = &vcpus[cpu];
	uint64_t line = vaddr >> 6;
	unsigned slot = (line ^ line >> 8) % CACHE_LINES;

	v->accesses++;
	if (v->tag[slot] == line)
		return;
	v->tag[slot] = line;

	double t = now_ns();
	int n = node_of(v, info, vaddr, t);

	if (n < 0)
		return;
	int own = shape.node_of_cpu[cpu];

	v->served[n]++;
	*(n == own ? &v->local : &v->remote) += 1;
	v->pending += miss_ns[own][n] + queue_delay(n, t);
	settle(v, t);
}

/* Takes one CPU's counts into the sum and clears them. */
static void collect(struct vcpu *sum, struct vcpu *v)
{
	sum->insns += v->insns;
	sum->accesses += v->accesses;
	sum->local += v->local;
	sum->remote += v->remote;
	sum->busy += v->busy;
	sum->late += v->late;
	for (int n = 0; n < shape.nodes; n++) {
		sum->served[n] += v->served[n];
		v->served[n] = 0;
	}
	v->insns = v->accesses = v->local = v->remote = 0;
	v->busy = v->late = 0;
}

/* One line of totals since the last line. */
static void print_totals(const char *what)
{
	static double last;
	struct vcpu sum = { 0 };
	double t = now_ns();
	FILE *f = opt.out ? fopen(opt.out, "a") : stderr;

	if (!f)
		return;
	for (int i = 0; i < n_vcpus; i++)
		collect(&sum, &vcpus[i]);
	double misses = (double)(sum.local + sum.remote), time = sum.busy + sum.late;

	fprintf(f, "model %s: wall_s %.2f insns %llu accesses %llu misses %.0f local_permille %.0f late_permille %.0f served", what,
		last > 0 ? (t - last) / 1e9 : 0, (unsigned long long)sum.insns, (unsigned long long)sum.accesses, misses,
		misses > 0 ? 1000 * (double)sum.local / misses : 0, time > 0 ? 1000 * sum.late / time : 0);
	for (int n = 0; n < shape.nodes; n++)
		fprintf(f, " %llu", (unsigned long long)sum.served[n]);
	fprintf(f, "\n");
	if (opt.out)
		fclose(f);
	last = t;
}

/* The guest speaks by an instruction that does nothing, see mark.h. */
static void on_mark(unsigned cpu, void *digit)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	(void)cpu;
	pthread_mutex_lock(&lock);
	switch ((char)(uintptr_t)digit) {
	case '0':
		if (atomic_exchange(&armed, false))
			print_totals("end");
		break;
	case '1':
		for (int i = 0; i < n_vcpus; i++) {
			vcpus[i].due = now_ns();
			vcpus[i].pending = 0;
		}
		print_totals("before");
		atomic_store(&armed, true);
		break;
	case '2':
		print_totals("lap");
		break;
	default:
		break;
	}
	pthread_mutex_unlock(&lock);
}

/* mov %reg,%cr3, with or without a prefix */
static bool loads_cr3(const uint8_t *b, size_t bytes)
{
	return bytes >= 3 && b[bytes - 3] == 0x0f && b[bytes - 2] == 0x22 && (b[bytes - 1] & 0x38) == 0x18;
}

static bool is_mark(const uint8_t *b, size_t bytes)
{
	static const uint8_t mark[7] = { 0x0f, 0x1f, 0x84, 0x00, 'n', 'u', 'm' };

	return bytes == 8 && !memcmp(b, mark, sizeof mark);
}

static bool is_pause(const uint8_t *b, size_t bytes)
{
	return bytes == 2 && b[0] == 0xf3 && b[1] == 0x90;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	bool user = !(qemu_plugin_tb_vaddr(tb) >> 47);
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	if (user)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)n);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *b = qemu_plugin_insn_data(insn);
		size_t bytes = qemu_plugin_insn_size(insn);

		if (user) {
			qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
			if (is_mark(b, bytes))
				qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)b[7]);
			if (is_pause(b, bytes))
				qemu_plugin_register_vcpu_insn_exec_cb(insn, on_pause, QEMU_PLUGIN_CB_NO_REGS, NULL);
		} else if (loads_cr3(b, bytes)) {
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_cr3, QEMU_PLUGIN_CB_NO_REGS, NULL);
		}
	}
}

static void at_exit(qemu_plugin_id_t id, void *unused)
{
	(void)id;
	(void)unused;
	if (atomic_load(&armed))
		print_totals("end");
}

static void derive(void)
{
	if (opt.slow <= 0)
		opt.slow = SLOW_PER_CPU * n_vcpus;
	if (opt.far <= 0)
		opt.far = opt.local + 2 * (opt.remote - opt.local);
	smt = (int)opt.smt;
	local_ns = opt.local * opt.slow;
	insn_ns = opt.insn * opt.slow;
	pause_ns = opt.pause * opt.slow;
	service_ns = local_ns / (opt.streams * n_vcpus / shape_memories(&shape));
	for (int from = 0; from < shape.nodes; from++)
		for (int to = 0; to < shape.nodes; to++)
			miss_ns[from][to] = opt.slow * (from == to ? opt.local : shape_near(&shape, from, to) ? opt.remote : opt.far);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	if (info->version.min > qemu_plugin_version || info->version.cur < qemu_plugin_version) {
		fprintf(stderr, "numamodel: plugin requires API version %d, but this QEMU supports only version %d\n", qemu_plugin_version,
			info->version.cur);
		return -1;
	}
	options_default(&opt);
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "probe=on")) { /* the last argument: all before it was right */
			fprintf(stderr, "numamodel: ready\n");
			return -1;
		}
		int taken = shape_set(&shape, argv[i]);
		if (taken < 0 || (!taken && options_set(&opt, argv[i])))
			return -1;
	}
	n_vcpus = info->system.max_vcpus;
	if (!info->system_emulation || strcmp(info->target_name, "x86_64") || n_vcpus != shape.cpus || shape_wrong(&shape)) {
		fprintf(stderr, "numamodel: wanted an x86_64 machine of %d CPUs on %d nodes, not %s with %d\n", shape.cpus, shape.nodes,
			info->target_name, n_vcpus);
		return -1;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	derive();
	vcpus = calloc((size_t)n_vcpus, sizeof *vcpus);
	if (!vcpus)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_vcpu_idle_cb(id, on_idle);
	qemu_plugin_register_vcpu_resume_cb(id, on_resume);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
