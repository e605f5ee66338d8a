#include "worlds.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "random.h"

/* Work of each thread, were all its memory local: long enough for what is moved to pay back, which takes three seconds to be thought of. */
enum { WORK_LEAST_MS = 4000, WORK_MOST_MS = 12000, RUN_MS_LEAST = 5, RUN_MS_MOST = 60, LIMIT_S = 300 };

/* So many threads in one world at most, however many CPUs it has: more of the same would show nothing new. */
enum { THREADS_MOST = 96 };

/* What a thread asks of memory, as a share of what a node's serves: one alone does not fill it. */
#define RATE_LEAST 0.003
#define RATE_MOST 0.4

struct maker {
	struct chance chance;
	double node_gbs;
	char *text;
	unsigned room, used;
	bool full;
};

static unsigned between(struct maker *k, unsigned least, unsigned most)
{
	return least + (unsigned)chance_below(&k->chance, most - least + 1);
}

static bool one_in(struct maker *k, unsigned n)
{
	return !chance_below(&k->chance, n);
}

/* From `least` to `most`, every factor as likely as every other. */
static double scaled(struct maker *k, double least, double most)
{
	return least * pow(most / least, chance_unit(&k->chance));
}

__attribute__((format(printf, 2, 3))) static void say(struct maker *k, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(k->text + k->used, k->room - k->used, format, args);
	va_end(args);
	k->full |= n < 0 || (unsigned)n >= k->room - k->used;
	if (!k->full) k->used += (unsigned)n;
}

static void write_in(struct maker *k, char *text, unsigned room)
{
	k->text = text;
	k->room = room;
	k->used = 0;
	text[0] = '\0';
}

/* ---- the machine ------------------------------------------------------------------------------------------------ */

/* The system is told of twice the local latency between all nodes; what is true is another matter. */
static unsigned make_machine(struct maker *k, struct world *world)
{
	unsigned nodes = between(k, 2, 8), cores = between(k, 1, 8), threads = one_in(k, 4) ? 2 : 1;
	double gbs = k->node_gbs = scaled(k, 4, 100);
	write_in(k, world->machine, sizeof world->machine);
	say(k, "node:%u(memory=32GB) core:%u pu:%u", nodes, cores, threads);
	write_in(k, world->sets, sizeof world->sets);
	say(k, "node_gbs=%.3g link_gbs=%.3g remote=%.3g local_ns=%.3g ", gbs, gbs * scaled(k, 0.2, 1.5), scaled(k, 0.3, 2), scaled(k, 70, 140));
	say(k, "page_move_ns=%.4g cache_kib=%u ", scaled(k, 500, 12000), between(k, 128, 4096));
	say(k, "noise_hz=%.3g noise_ms=%.3g spill=%.3g ", scaled(k, 0.1, 20), scaled(k, 0.05, 2), one_in(k, 3) ? 0 : scaled(k, 0.001, 0.02));
	say(k, "lost=%.3g unresolved=%.3g wrong=%.3g", scaled(k, 0.01, 0.2), scaled(k, 0.02, 0.5), scaled(k, 0.001, 0.05));
	return nodes * cores * threads;
}

static int load_machine(struct world *world, char error[SIM_ERROR])
{
	char pair[64];
	int n, ret = sim_machine_load(&world->m, world->machine, error);
	if (ret) return ret;
	for (const char *at = world->sets; !ret && sscanf(at, " %63s%n", pair, &n) == 1; at += n) ret = sim_machine_set(&world->m, pair, error);
	if (ret) sim_machine_free(&world->m);
	return ret;
}

/* ---- the workload ----------------------------------------------------------------------------------------------- */

/* What a `run` uses; %s is how it goes through slices. */
static void say_uses(struct maker *k)
{
	static const char *const uses[] = { "own%s", "all slice%s", "all%s", "own weight 4%s and all", "all slice weight 8%s and all before",
	                                    "all slice weight 3%s and all", "own%s and all slice", "all slice weight 6%s and all before and all behind" };
	char pass[32] = "";
	if (one_in(k, 2)) snprintf(pass, sizeof pass, " pass %.3gs", scaled(k, 0.2, 4));
	const char *use = uses[between(k, 0, sizeof uses / sizeof *uses - 1)], *at = strstr(use, "%s");
	say(k, "%.*s%s%s", (int)(at - use), use, pass, at + 2);
}

static void say_phase(struct maker *k, unsigned work_ms)
{
	unsigned run_ms = between(k, RUN_MS_LEAST, RUN_MS_MOST);
	say(k, "  repeat %u\n    run %ums vary %.2g stall %.2g rate %.3gGB/s on ", work_ms / run_ms + 1, run_ms, scaled(k, 0.01, 0.3),
	    0.1 + 0.85 * chance_unit(&k->chance), k->node_gbs * scaled(k, RATE_LEAST, RATE_MOST));
	say_uses(k);
	say(k, "\n");
	if (one_in(k, 8)) say(k, "    sleep %ums vary 0.5\n", between(k, 1, 20));
	if (one_in(k, 2)) say(k, "    barrier%s\n", one_in(k, 2) ? " spin" : "");
	say(k, "  end\n");
}

/* Who touches memory first: one for all, each his own, or whoever comes. */
static void say_process(struct maker *k, const char *name, unsigned count, unsigned threads, bool later)
{
	unsigned work_ms = between(k, WORK_LEAST_MS, WORK_MOST_MS), touched = between(k, 0, 2), own_KiB = (unsigned)scaled(k, 512, 65536);
	say(k, "process %s count %u\nmemory all %uKiB\nthread main\n", name, count, (unsigned)scaled(k, 4096, 262144) + 64 * threads);
	if (later) say(k, "  sleep %ums\n", between(k, 200, 4000));
	if (touched == 1) say(k, "  touch all\n");
	say(k, "  start worker%s\n  wait\nthread worker%s count %u%s\nmemory own %uKiB each\n", name, name, threads, one_in(k, 2) ? " openmp" : "", own_KiB);
	if (touched == 2) say(k, "  touch all slice\n");
	if (!one_in(k, 4)) say_phase(k, work_ms);
	else {
		say_phase(k, work_ms / 2);
		say_phase(k, work_ms / 2);
	}
}

/* Many short processes, some at a time, as a compiler's. */
static void say_crowd(struct maker *k, unsigned cpus)
{
	say(k, "process make\nthread main\n  spawn job %u\n  wait\nprocess job count 0\nthread job\nmemory own %uMiB\n", between(k, 1, 2 * cpus), between(k, 1, 32));
	say(k, "  run %ums vary 0.5 stall %.2g rate %.3gGB/s on own\n", between(k, 300, 3000), 0.1 + 0.6 * chance_unit(&k->chance), k->node_gbs * scaled(k, RATE_LEAST, RATE_MOST / 4));
}

static void make_workload(struct maker *k, struct world *world, unsigned cpus)
{
	unsigned threads = one_in(k, 4) ? between(k, 1, 2 * cpus) : between(k, 1, cpus), processes = 1 + (threads > 3 && one_in(k, 3) ? between(k, 1, 3) : 0);
	if (threads > THREADS_MOST) threads = THREADS_MOST;
	write_in(k, world->text, sizeof world->text);
	say(k, "workload 1\nabout made by chance, number %llu\nlimit %us\n", (unsigned long long)world->number, LIMIT_S);
	say_process(k, "a", processes, threads / processes ? threads / processes : 1, false);
	if (one_in(k, 6)) say_process(k, "b", 1, between(k, 1, cpus / 2 + 1), true);
	if (one_in(k, 10)) say_crowd(k, cpus);
}

int world_make(struct world *world, uint64_t number, char error[SIM_ERROR])
{
	struct maker k = { .full = false };
	struct workload_error wrong;
	memset(world, 0, sizeof *world);
	world->number = number;
	chance_seed(&k.chance, number);
	unsigned cpus = make_machine(&k, world);
	make_workload(&k, world, cpus);
	int ret = k.full ? -ENOBUFS : load_machine(world, error);
	if (ret) return ret;
	ret = workload_parse(&world->w, world->text, strlen(world->text), NULL, &wrong);
	if (!ret) return 0;
	snprintf(error, SIM_ERROR, "line %u: %.150s", wrong.line, wrong.text);
	sim_machine_free(&world->m);
	return ret;
}

void world_free(struct world *world)
{
	workload_free(&world->w);
	sim_machine_free(&world->m);
}
