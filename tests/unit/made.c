#include "made.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t dice_next(struct dice *dice)
{
	uint64_t z = (dice->state += 0x9e3779b97f4a7c15ull);
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

unsigned dice_below(struct dice *dice, unsigned most)
{
	return (unsigned)((dice_next(dice) >> 32) * most >> 32);
}

float dice_part(struct dice *dice)
{
	return (float)(dice_next(dice) >> 40) / (float)(1 << 24);
}

void made_machine(struct machine *machine, unsigned nodes, unsigned cpus)
{
	ck_assert_int_eq(machine_init(machine, nodes * cpus), 0);
	for (unsigned n = 0; n < nodes; n++) {
		machine_add_node(machine, n, 4ull << 30);
		for (unsigned c = 0; c < cpus; c++) machine_add_cpu(machine, n * cpus + c, n * cpus + c, n);
	}
	machine_set_distances(machine, NULL);
}

void made_random_machine(struct machine *machine, struct dice *dice)
{
	unsigned nodes = 1 + dice_below(dice, 6), cpus = 1 + dice_below(dice, 5), odd = dice_below(dice, 2 * nodes);
	unsigned distances[6 * 6];
	ck_assert_int_eq(machine_init(machine, nodes * cpus), 0);
	for (unsigned n = 0; n < nodes; n++) {
		bool without = n && n == odd;
		machine_add_node(machine, 2 * n, without && cpus % 2 ? 0 : 1ull << (20 + dice_below(dice, 20)));
		for (unsigned c = 0; c < cpus && !(without && cpus % 2 == 0); c++)
			machine_add_cpu(machine, c * nodes + n, (c * nodes + n) / 2, n);
	}
	for (unsigned i = 0; i < nodes; i++)
		for (unsigned j = 0; j <= i; j++)
			distances[i * nodes + j] = distances[j * nodes + i] = i == j ? 10 : 11 + dice_below(dice, 30);
	machine_set_distances(machine, distances);
}

void made_situation(struct situation *situation, const struct machine *machine)
{
	*situation = (struct situation){ .machine = machine, .age_ns = 10000000000, .page_move_ns = 3000, .thread_move_ns = 100000 };
}

void made_thread(struct situation *situation, unsigned number, int node)
{
	struct situation_thread *thread = situation_add_thread(situation);
	ck_assert_ptr_nonnull(thread);
	*thread = (struct situation_thread){ .number = number, .node = (int16_t)node, .load = 1, .moved_ms_ago = UINT32_MAX, .home = -1 };
}

void made_chunk(struct situation *s, unsigned pages, int node)
{
	uint64_t page = s->n_chunks ? s->chunk[s->n_chunks - 1].page + s->chunk[s->n_chunks - 1].pages : 0x1000;
	struct situation_chunk *chunk = situation_add_chunk(s);
	ck_assert_ptr_nonnull(chunk);
	chunk->page = page;
	chunk->pages = pages;
	chunk->moved_ms_ago = UINT32_MAX;
	if (node < 0) return;
	chunk->where[0].node = (int16_t)node;
	chunk->where[0].share = 1;
}

void made_use(struct situation *situation, unsigned thread, float rate)
{
	struct situation_use *use = situation_add_use(situation);
	ck_assert_ptr_nonnull(use);
	*use = (struct situation_use){ .thread = thread, .rate = rate };
}

static void made_where(struct situation_chunk *chunk, unsigned nodes, struct dice *dice)
{
	float left = 1;
	unsigned n = dice_below(dice, SITUATION_WHERE + 1);
	for (unsigned k = 0; k < n && k < nodes; k++) {
		chunk->where[k].node = (int16_t)((chunk->page + k) % nodes);
		chunk->where[k].share = k + 1 == n ? left : left * dice_part(dice);
		left -= chunk->where[k].share;
	}
}

/* Some have moved, some at times that the gate looks at. */
static uint32_t made_moved(struct dice *dice)
{
	return dice_below(dice, 3) ? UINT32_MAX : dice_below(dice, 3000);
}

void made_random_situation(struct situation *s, const struct machine *machine, struct dice *dice)
{
	unsigned threads = 1 + dice_below(dice, 2 * machine->n_cpus), chunks = dice_below(dice, 60), number = 0;
	made_situation(s, machine);
	s->age_ns = dice_next(dice) >> (20 + dice_below(dice, 20));
	s->page_move_ns *= dice_part(dice) + 0.1f;
	for (unsigned t = 0; t < threads; t++) {
		unsigned node = machine->cpu[dice_below(dice, machine->n_cpus)].node;
		made_thread(s, number += 1 + dice_below(dice, 3), dice_below(dice, 20) ? (int)node : -1);
		s->thread[t].load = dice_below(dice, 2) ? 1 : dice_part(dice);
		s->thread[t].bound = s->thread[t].node >= 0 && dice_below(dice, 3) == 0;
		s->thread[t].fixed = dice_below(dice, 8) == 0;
		s->thread[t].moved_ms_ago = made_moved(dice);
		s->thread[t].process = (uint16_t)dice_below(dice, 3);
		if (dice_below(dice, 3)) s->thread[t].home = (int16_t)machine->cpu[dice_below(dice, machine->n_cpus)].node;
	}
	for (unsigned c = 0; c < chunks; c++) {
		made_chunk(s, 1u << dice_below(dice, 10), -1);
		struct situation_chunk *chunk = &s->chunk[c];
		chunk->page += dice_below(dice, 600);
		chunk->fixed = dice_below(dice, 8) == 0;
		chunk->moved_ms_ago = made_moved(dice);
		made_where(chunk, machine->n_nodes, dice);
		for (unsigned u = 0; u < 4; u++)
			if (dice_below(dice, 2)) made_use(s, dice_below(dice, threads), dice_part(dice) * 0.02f);
		if (dice_below(dice, 2)) chunk->last = (int16_t)dice_below(dice, machine->n_nodes);
	}
	s->step = dice_below(dice, 30);
	for (unsigned n = 0; n < machine->n_nodes && dice_below(dice, 2); n++)
		s->past[n] = (struct situation_past){ dice_part(dice) * 3, dice_below(dice, 2000) };
}

char *made_read(const char *name, size_t *bytes)
{
	const char *source = getenv("srcdir");
	char path[512], *text = NULL;
	size_t room;
	snprintf(path, sizeof path, "%s/tests/%s", source ? source : ".", name);
	FILE *in = fopen(path, "re"), *out = open_memstream(&text, &room);
	ck_assert_msg(in != NULL, "cannot read %s", path);
	for (int c; (c = getc(in)) != EOF;) putc(c, out);
	fclose(in);
	fclose(out);
	*bytes = room;
	return text;
}

int made_main(const char *name, void (*add)(TCase *tcase))
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, tcase);
	tcase_set_timeout(tcase, 120);   /* sanitizers and emulated machines are slow */
	add(tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
