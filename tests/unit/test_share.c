/* Shares of ranks, on machines as data. The expected lists are of CPUs by the operating system's numbers. */
#include "pure/share.h"

#include <errno.h>

#include <stdio.h>
#include <stdlib.h>

#include "made.h"
#include "sys/cpulist.h"
#include "sys/topo.h"

enum { WORDS = MACHINE_CPUS / 64, RANKS = 64 };

static const char *share_of(const struct machine *m, const uint16_t *owner, unsigned rank, char *text, size_t bytes)
{
	struct cpu_mask mask;
	mask_clear(&mask);
	for (unsigned c = 0; c < m->n_cpus; c++)
		if (owner[c] == rank) mask_add(&mask, m->cpu[c].os);
	return cpulist_print(&mask, text, bytes);
}

/* "0-1 2-3": the shares of all ranks */
static const char *shares_of(const struct machine *m, const uint16_t *owner, unsigned ranks, char *text, size_t bytes)
{
	size_t length = 0;
	text[0] = 0;
	for (unsigned r = 0; r < ranks; r++) {
		char list[128];
		length += (size_t)snprintf(text + length, bytes - length, "%s%s", r ? " " : "", share_of(m, owner, r, list, sizeof list));
	}
	return text;
}

static const struct {
	const char *machine;
	unsigned ranks;
	const char *shares;
} divided[] = {
	/* whole nodes */
	{ "node:4 core:2 pu:1", 1, "0-7" },
	{ "node:4 core:2 pu:1", 2, "0-3 4-7" },
	{ "node:4 core:2 pu:1", 3, "0-1 2-3 4-5" },
	{ "node:4 core:2 pu:1", 4, "0-1 2-3 4-5 6-7" },
	{ "node:8 core:4 pu:1", 3, "0-7 8-15 20-27" },
	/* caches, inside of nodes */
	{ "node:2 l3:4 core:2 pu:1", 4, "0-3 4-7 8-11 12-15" },
	{ "node:2 l3:4 core:2 pu:1", 8, "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15" },
	{ "node:2 l3:8 core:2 pu:1", 3, "0-7 8-15 16-23" },
	/* cores, inside of nodes */
	{ "node:4 core:2 pu:1", 8, "0 1 2 3 4 5 6 7" },
	{ "node:4 core:2 pu:1", 6, "0 1 2 4 5 6" },
	{ "node:4 core:4 pu:1", 6, "0-1 2-3 4-5 8-9 10-11 12-13" },
	{ "node:1 l3:3 core:4 pu:1", 2, "0-5 6-11" },   /* a cache each would leave the third alone */
	{ "node:1 core:2 pu:1", 2, "0 1" },
	/* threads of a core stay together, while there are cores */
	{ "node:2 core:2 pu:2", 4, "0-1 2-3 4-5 6-7" },
	{ "node:2 core:2 pu:2", 3, "0-1 2-3 4-5" },
	{ "node:2 core:2 pu:2", 5, "0 1 3 4 6" },  /* of four cores, only one has two */
	{ "node:2 core:2 pu:2", 8, "0 1 2 3 4 5 6 7" },
	{ "node:1 core:1 pu:1", 1, "0" },
};

START_TEST(a_machine_is_divided)
{
	struct machine m;
	uint16_t owner[256];
	char text[1024];
	ck_assert_int_eq(topo_load_synthetic(&m, divided[_i].machine), 0);
	ck_assert_int_eq(share_divide(&m, divided[_i].ranks, owner), 0);
	ck_assert_str_eq(shares_of(&m, owner, divided[_i].ranks, text, sizeof text), divided[_i].shares);
	ck_assert_int_eq(share_divide(&m, m.n_cpus + 1, owner), -E2BIG);
	machine_free(&m);
}
END_TEST

static const struct {
	const char *machine;
	const char *masks;       /* of each rank */
	int verdict;
	const char *shares;
} masked[] = {
	{ "node:4 core:2 pu:1", "0-7 0-7", SHARE_GIVEN, "0-3 4-7" },
	{ "node:4 core:2 pu:1", "0-3 0-3 4-7 4-7", SHARE_GIVEN, "0-1 2-3 4-5 6-7" },  /* mpirun --map-by package */
	{ "node:4 core:2 pu:1", "0-3 4-7 0-3 4-7", SHARE_GIVEN, "0-1 4-5 2-3 6-7" },
	{ "node:4 core:2 pu:1", "2-5 2-5", SHARE_GIVEN, "2-3 4-5" },                   /* taskset in front of mpiexec */
	{ "node:4 core:2 pu:1", "0,2,7 0,2,7", SHARE_GIVEN, "0 2" },
	{ "node:4 core:2 pu:1", "0-1 2-3", SHARE_ALONE, "" },
	{ "node:4 core:2 pu:1", "0", SHARE_ALONE, "" },
	{ "node:4 core:2 pu:1", "0-3 0-1", SHARE_OVERLAP, "" },
	{ "node:4 core:2 pu:1", "0 0 0", SHARE_CROWDED, "" },
	{ "node:4 core:2 pu:1", "0 0 2-3 2-3", SHARE_GIVEN, "  2 3" },                 /* two on one CPU: they are left alone */
	{ "node:2 core:1 pu:2", "0,2 0,2", SHARE_GIVEN, "0 2" },                       /* a thread of each core */
};

START_TEST(masks_are_divided)
{
	struct machine m;
	struct cpu_mask mask;
	uint64_t masks[RANKS * WORDS];
	uint16_t owner[256];
	char text[1024], list[1024];
	unsigned ranks = 0;
	ck_assert_int_eq(topo_load_synthetic(&m, masked[_i].machine), 0);
	snprintf(list, sizeof list, "%s", masked[_i].masks);
	for (char *word = strtok(list, " "); word; word = strtok(NULL, " ")) {
		ck_assert_int_eq(cpulist_parse(word, &mask), 0);
		memcpy(&masks[ranks++ * WORDS], mask.word, sizeof mask.word);
	}
	ck_assert_int_eq(share_masks(&m, masks, ranks, owner), masked[_i].verdict);
	if (masked[_i].verdict == SHARE_GIVEN)
		ck_assert_str_eq(shares_of(&m, owner, ranks, text, sizeof text), masked[_i].shares);
	machine_free(&m);
}
END_TEST

/* Of every machine and number of ranks: nobody without CPUs, nobody on a CPU of another, nobody across nodes who need not be. */
START_TEST(what_holds_always)
{
	struct dice dice = { (uint64_t)_i + 1 };
	struct machine m;
	made_random_machine(&m, &dice);
	uint16_t *owner = calloc(m.n_cpus + 1, sizeof *owner);
	for (unsigned ranks = 1; ranks <= m.n_cpus; ranks++) {
		made_hold(share_divide(&m, ranks, owner) == 0);
		unsigned cores[RANKS] = { 0 }, with_cpus = 0;
		int node[RANKS], last_core[RANKS];
		for (unsigned n = 0; n < m.n_nodes; n++) with_cpus += m.node[n].n_cpus > 0;
		for (unsigned r = 0; r < ranks; r++) node[r] = last_core[r] = -1;
		for (unsigned c = 0; c < m.n_cpus; c++) {
			unsigned r = owner[c];
			if (r == SHARE_NOBODY) continue;
			made_hold(r < ranks);
			made_hold(ranks <= with_cpus || node[r] < 0 || node[r] == m.cpu[c].node);
			node[r] = m.cpu[c].node;
			cores[r]++;
		}
		for (unsigned r = 0; r < ranks; r++) made_hold(cores[r] > 0);
	}
	free(owner);
	machine_free(&m);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, a_machine_is_divided, divided);
	made_loop(tcase, masks_are_divided, masked);
	tcase_add_loop_test(tcase, what_holds_always, 0, 200);
}

int main(void)
{
	return made_main("share", add);
}
