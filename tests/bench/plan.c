/* Times plans: for threads, nodes and chunks of several sizes, and four workloads:
 *
 *   first-touch  all memory on node 0, each thread with its own: most chunks move
 *   groups       threads in groups of four that share memory, apart, their memory anywhere
 *   random       any thread uses any memory, up to four a chunk, anywhere
 *   settled      each thread beside its own memory: nothing moves
 *
 * usage: plan [POLICY [WORKLOAD THREADS NODES CHUNKS]]     (one plan alone, to be looked at with a profiler) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pure/past.h"
#include "pure/policy.h"

enum { RUNS = 9 };

enum workload { FIRST_TOUCH, GROUPS, RANDOM, SETTLED, WORKLOADS };
static const char *const names[] = { "first-touch", "groups", "random", "settled" };

static uint64_t state;

static unsigned below(unsigned most)
{
	state += 0x9e3779b97f4a7c15ull;
	uint64_t z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (unsigned)((z >> 32) * most >> 32);
}

/* CPUs for the threads and half as many again; two distances. */
static int make_machine(struct machine *m, unsigned nodes, unsigned threads)
{
	unsigned cpus = (threads * 3 / 2 + nodes - 1) / nodes, *distance = calloc(nodes * nodes, sizeof *distance);
	if (!distance || machine_init(m, nodes * cpus)) return -1;
	for (unsigned n = 0; n < nodes; n++) {
		machine_add_node(m, n, 64ull << 30);
		for (unsigned c = 0; c < cpus; c++) machine_add_cpu(m, n * cpus + c, n * cpus + c, n);
		for (unsigned k = 0; k < nodes; k++) distance[n * nodes + k] = n == k ? 10 : n / 4 == k / 4 ? 16 : 22;
	}
	machine_set_distances(m, distance);
	free(distance);
	return 0;
}

static int add_use(struct situation *s, unsigned thread, float rate)
{
	struct situation_use *use = situation_add_use(s);
	if (use) *use = (struct situation_use){ thread, rate };
	return use ? 0 : -1;
}

static int add_users(struct situation *s, enum workload w, unsigned c, unsigned threads, float rate)
{
	if (w == FIRST_TOUCH || w == SETTLED) return add_use(s, c % threads, rate);
	if (w == RANDOM) {
		int ret = 0;
		for (unsigned u = below(4) + 1; u > 0; u--) ret |= add_use(s, below(threads), rate / 2);
		return ret;
	}
	/* the four of a group are a quarter of all threads apart */
	unsigned quarter = threads / 4, g = c % quarter;
	return add_use(s, g, rate / 2) | add_use(s, g + quarter, rate / 2) | add_use(s, g + 2 * quarter, rate / 2) | add_use(s, g + 3 * quarter, rate / 2);
}

static int make_situation(struct situation *s, const struct machine *m, enum workload w, unsigned threads, unsigned chunks)
{
	int ret = 0;
	*s = (struct situation){ .machine = m, .age_ns = 10000000000, .page_move_ns = 3000, .thread_move_ns = 100000 };
	for (unsigned t = 0; t < threads; t++) {
		struct situation_thread *thread = situation_add_thread(s);
		if (!thread) return -1;
		*thread = (struct situation_thread){ .number = t, .node = (int16_t)(t * m->n_nodes / threads), .load = 1, .moved_ms_ago = UINT32_MAX, .home = -1 };
	}
	/* half of a thread's time is misses to local memory */
	float rate = 0.5f / MACHINE_LOCAL_NS * (float)threads / (float)chunks;
	for (unsigned c = 0; c < chunks && !ret; c++) {
		struct situation_chunk *chunk = situation_add_chunk(s);
		if (!chunk) return -1;
		chunk->page = 0x100000 + c * 1024ull;
		chunk->pages = 512;
		chunk->moved_ms_ago = UINT32_MAX;
		chunk->where[0].node = w == FIRST_TOUCH ? 0 : w == SETTLED ? s->thread[c % threads].node : (int16_t)below(m->n_nodes);
		chunk->where[0].share = 1;
		ret = add_users(s, w, c, threads, rate);
	}
	return ret;
}

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int run(const struct policy_ops *policy, enum workload w, unsigned threads, unsigned nodes, unsigned chunks, unsigned runs)
{
	static const struct policy_rules rules = { true, true };
	struct machine m;
	struct situation s;
	struct past past = { 0 };
	struct plan plan = { 0 };
	double us[RUNS];
	state = 1;
	if (make_machine(&m, nodes, threads) || make_situation(&s, &m, w, threads, chunks)) return -1;
	int ret = past_look(&past, &s, 0, true);
	for (unsigned i = 0; i < runs && !ret; i++) {
		ret = past_look(&past, &s, 100000000, true);
		plan_clear(&plan);
		double begin = now_us();
		if (!ret) ret = policy_decide(policy, &s, &rules, &plan);
		us[i] = now_us() - begin;
	}
	qsort(us, runs, sizeof *us, by_size);
	printf("%-12s %7u %5u %7u  %8.0f %8.0f %8.0f  %6u\n", names[w], threads, nodes, chunks, us[0], us[runs / 2], us[runs - 1], plan.n);
	plan_free(&plan);
	past_free(&past);
	situation_free(&s);
	machine_free(&m);
	return ret;
}

static int run_one(const struct policy_ops *policy, char **arg)
{
	for (int w = 0; w < WORKLOADS; w++)
		if (!strcmp(names[w], arg[0]))
			return run(policy, (enum workload)w, (unsigned)atoi(arg[1]), (unsigned)atoi(arg[2]), (unsigned)atoi(arg[3]), 1) ? 1 : 0;
	return fprintf(stderr, "there is no workload %s\n", arg[0]), 2;
}

int main(int argc, char **argv)
{
	static const unsigned threads[] = { 64, 256, 1024 }, nodes[] = { 2, 4, 16 }, chunks[] = { 100, 1000, 10000 };
	const struct policy_ops *policy = policy_find(argc > 1 ? argv[1] : "joint");
	int ret = 0;
	if (!policy) return fprintf(stderr, "there is no policy %s\n", argv[1]), 2;
	if (argc == 6) return run_one(policy, argv + 2);
	printf("%s: microseconds for a plan, of %d\n", policy->name, RUNS);
	printf("%-12s %7s %5s %7s  %8s %8s %8s  %6s\n", "workload", "threads", "nodes", "chunks", "least", "median", "most", "moves");
	for (int w = 0; w < WORKLOADS; w++)
		for (unsigned t = 0; t < 3; t++)
			for (unsigned n = 0; n < 3; n++)
				for (unsigned c = 0; c < 3; c++) ret |= run(policy, (enum workload)w, threads[t], nodes[n], chunks[c], RUNS);
	return ret ? 1 : 0;
}
