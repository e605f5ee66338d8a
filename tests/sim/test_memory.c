/* The pages of windows are those that are there, whatever happens; and the order of the heap. */
#include <errno.h>
#include <stdlib.h>

#include "heap.h"
#include "made.h"
#include "memory.h"

static void check_window(const struct window *w, unsigned nodes)
{
	uint32_t on[MACHINE_NODES] = { 0 }, present = 0;
	for (uint32_t i = w->first; i < w->first + w->count; i++) {
		if (w->region->node[i] == MEMORY_ABSENT) continue;
		on[w->region->node[i]]++;
		present++;
	}
	made_hold(w->present == present);
	for (unsigned n = 0; n < nodes; n++) made_hold(w->on[n] == on[n]);
}

START_TEST(windows)
{
	struct machine machine;
	struct memory m;
	struct dice dice = { (uint64_t)_i };
	int status[64];
	made_machine(&machine, 4, 2);
	memory_init(&m, &machine);
	for (unsigned r = 0; r < 5; r++) ck_assert_ptr_nonnull(memory_add(&m, 1 + dice_below(&dice, 300)));
	for (unsigned step = 0; step < 2000; step++) {
		struct piece *p = m.region[dice_below(&dice, m.n)];
		uint32_t first = dice_below(&dice, p->pages), count = 1 + dice_below(&dice, p->pages - first);
		unsigned node = dice_below(&dice, 4);
		switch (dice_below(&dice, 3)) {
		case 0: memory_touch(&m, p, first, count, node); break;
		case 1: memory_move(&m, p->page + first, count < 64 ? count : 64, node, status); break;
		default: ck_assert_ptr_nonnull(memory_window(&m, p, first, count)); break;
		}
	}
	for (unsigned r = 0; r < m.n; r++)
		for (const struct window *w = m.region[r]->windows; w; w = w->next) check_window(w, 4);
	memory_free(&m);
	machine_free(&machine);
}
END_TEST

START_TEST(moves)
{
	struct machine machine;
	struct memory m;
	int status[4];
	made_machine(&machine, 2, 1);
	machine.node[1].memory_bytes = 2 * MEMORY_PAGE;
	memory_init(&m, &machine);
	struct piece *p = memory_add(&m, 4);
	ck_assert_uint_eq(memory_touch(&m, p, 0, 3, 0), 3);
	ck_assert_uint_eq(memory_touch(&m, p, 0, 3, 1), 0);
	memory_move(&m, p->page, 4, 1, status);
	ck_assert_int_eq(status[0], 1);
	ck_assert_int_eq(status[1], 1);
	ck_assert_int_eq(status[2], -ENOMEM);
	ck_assert_int_eq(status[3], -ENOENT);
	ck_assert_int_eq(memory_node(&m, p->page), 1);
	ck_assert_int_eq(memory_node(&m, p->page + 2), 0);
	ck_assert_int_eq(memory_node(&m, p->page + 3), -1);
	ck_assert_int_eq(memory_node(&m, p->page + 4), -2);
	ck_assert_int_eq(memory_node(&m, 0), -2);
	ck_assert_uint_eq(memory_touch(&m, p, 3, 1, 1), 1);   /* node 1 is full: beside it */
	ck_assert_int_eq(memory_node(&m, p->page + 3), 0);
	memory_remove(&m, p);
	ck_assert_int_eq(memory_node(&m, p->page), -2);
	ck_assert_int_eq((int)m.free_pages[1], 2);
	memory_free(&m);
	machine_free(&machine);
}
END_TEST

START_TEST(heap_order)
{
	enum { IDS = 200 };
	struct heap h = { 0 };
	struct dice dice = { (uint64_t)_i };
	uint64_t time[IDS], last = 0;
	ck_assert(heap_room(&h, IDS));
	for (unsigned i = 0; i < IDS; i++) time[i] = HEAP_NEVER;
	for (unsigned k = 0; k < 5000; k++) {
		unsigned id = dice_below(&dice, IDS);
		time[id] = dice_below(&dice, 4) ? dice_below(&dice, 1000) : HEAP_NEVER;
		heap_set(&h, id, time[id]);
	}
	while (h.n) {
		struct heap_entry e = h.entry[0];
		made_hold(e.time >= last && e.time == time[e.id]);
		last = e.time;
		time[e.id] = HEAP_NEVER;
		heap_set(&h, e.id, HEAP_NEVER);
	}
	for (unsigned i = 0; i < IDS; i++) ck_assert_uint_eq(time[i], HEAP_NEVER);
	heap_free(&h);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, windows, 0, 10);
	tcase_add_test(tcase, moves);
	tcase_add_loop_test(tcase, heap_order, 0, 5);
}

int main(void)
{
	return made_main("memory", add);
}
