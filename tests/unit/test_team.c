/* The plan for all processes of a machine, from views made by hand. */
#include "pure/team.h"

#include <stdlib.h>
#include <string.h>

#include "made.h"

enum { MOST = 8 };

static struct machine machine;
static struct slot_view view[MOST];
static struct slot_row row[MOST];
static struct team_member member[MOST];
static struct slot_plan plan;
static unsigned members;

static void setup(void)
{
	made_machine(&machine, 4, 2);
	memset(view, 0, sizeof view);
	memset(row, 0, sizeof row);
	memset(member, 0, sizeof member);
	members = 0;
}

static void teardown(void)
{
	machine_free(&machine);
}

static unsigned add_member(void)
{
	unsigned i = members++;
	view[i].page_move_ns = 3000;
	view[i].age_ms = 10000;
	member[i] = (struct team_member){ .slot = 10 + i, .pid = (int32_t)(100 * (i + 1)), .view = &view[i] };
	return i;
}

/* Its threads have the numbers 100, 101, ...; 200, ... */
static unsigned add_thread(unsigned i, int node)
{
	unsigned t = view[i].n_threads++;
	view[i].thread[t] = (struct slot_thread){ .tid = (int32_t)(100 * (i + 1) + t), .node_os = (int16_t)node, .load = 1, .moved_ms_ago = UINT32_MAX };
	return t;
}

static void add_memory(unsigned i, unsigned thread, int node, unsigned pages, float rate)
{
	struct slot_chunk *c = &view[i].chunk[view[i].n_chunks++];
	*c = (struct slot_chunk){ .pages = pages, .n_users = 1, .where = { { (int16_t)node, 1000 }, { -1, 0 }, { -1, 0 } },
	                          .user = { { (uint16_t)thread, rate } } };
}

static void decide(void)
{
	for (unsigned i = 0; i < members; i++) ck_assert(slot_view_valid(&view[i], slot_view_bytes(&view[i])));
	ck_assert_int_eq(team_decide(&machine, member, members, policy_find("joint"), NULL, 0, &plan), 0);
	ck_assert(slot_plan_valid(&plan, slot_plan_bytes(&plan)));
}

static int ordered(unsigned i, unsigned thread)
{
	for (unsigned k = 0; k < plan.n_orders; k++)
		if (plan.order[k].slot == member[i].slot && plan.order[k].tid == view[i].thread[thread].tid) return plan.order[k].node_os;
	ck_abort_msg("no order for thread %u of member %u", thread, i);
}

static unsigned threads_ordered_to(int node)
{
	unsigned n = 0;
	for (unsigned k = 0; k < plan.n_orders; k++) n += plan.order[k].node_os == node;
	return n;
}

static void talks(unsigned a, unsigned b, uint64_t bytes)
{
	member[a].row = &row[a];
	row[a].rank = a;
	row[a].ranks = MOST;
	row[a].peer[row[a].n_peers++] = (struct slot_peer){ .rank = b, .messages = bytes / 65536, .bytes = bytes };
}

/* What numactl --preferred=0 makes of four processes: each gets a node for itself. */
START_TEST(each_process_has_a_node)
{
	const int at[4][2] = { { 0, 1 }, { 2, 3 }, { 1, 0 }, { 3, 2 } };
	for (unsigned i = 0; i < 4; i++) {
		add_member();
		for (unsigned t = 0; t < 2; t++) {
			add_thread(i, at[i][t]);
			add_memory(i, t, 0, 1024, 0.01f);
		}
	}
	decide();
	for (unsigned i = 0; i < 4; i++) ck_assert_int_eq(ordered(i, 0), ordered(i, 1));
	for (int n = 0; n < 4; n++) ck_assert_uint_eq(threads_ordered_to(n), 2);
}
END_TEST

/* Where that has been done, nobody is sent anywhere else. */
START_TEST(what_stands_stays)
{
	for (unsigned i = 0; i < 4; i++) {
		add_member();
		for (unsigned t = 0; t < 2; t++) {
			add_thread(i, (int)(3 - i));
			view[i].thread[t].bound = 1;
			add_memory(i, t, (int)(3 - i), 1024, 0.01f);
		}
	}
	decide();
	for (unsigned i = 0; i < 4; i++)
		for (unsigned t = 0; t < 2; t++) ck_assert_int_eq(ordered(i, t), (int)(3 - i));
}
END_TEST

/* Each has a node, but half of its memory lies on another's, and copying is dear: threads could change places and save that. They don't,
 * or the next plan would bring them back. */
START_TEST(processes_are_not_torn)
{
	for (unsigned i = 0; i < 4; i++) {
		add_member();
		view[i].page_move_ns = 300000;
		for (unsigned t = 0; t < 2; t++) {
			add_thread(i, (int)i);
			view[i].thread[t].bound = _i == 1;
			add_memory(i, t, (int)(t ? i ^ 1 : i), 100, 0.005f);
		}
	}
	decide();
	for (unsigned i = 0; i < 4; i++)
		for (unsigned t = 0; t < 2; t++) ck_assert_int_eq(ordered(i, t), (int)i);
}
END_TEST

/* Orders that have just been given are not given otherwise, though nobody has followed them yet; after a while what is counts. */
START_TEST(orders_are_believed)
{
	static struct slot_plan last;
	for (unsigned i = 0; i < 2; i++) {
		add_member();
		add_thread(i, (int)i);
	}
	talks(0, 1, 20ull << 30);
	talks(1, 0, 20ull << 30);
	last = (struct slot_plan){ .n_orders = 2, .order = { { .slot = 10, .tid = 100, .node_os = 2, .since_ms = 500 },
	                                                     { .slot = 11, .tid = 200, .node_os = 2, .since_ms = 500 } } };
	ck_assert_int_eq(team_decide(&machine, member, members, policy_find("joint"), &last, 1000, &plan), 0);
	ck_assert_int_eq(ordered(0, 0), 2);
	ck_assert_int_eq(ordered(1, 0), 2);
	ck_assert_uint_eq(plan.order[0].since_ms, 500);
	ck_assert_int_eq(team_decide(&machine, member, members, policy_find("joint"), &last, 20000, &plan), 0);
	ck_assert_int_ne(ordered(0, 0), 2);
	ck_assert_int_ne(ordered(1, 0), 2);
}
END_TEST

/* A thread was just sent to another node, and what it uses did not come along, or can't: for a while that is no reason to send it back. Who was not
 * moved lately goes to his memory at once. */
START_TEST(memory_is_waited_for)
{
	static struct slot_plan last;
	for (unsigned i = 0; i < 2; i++) {
		add_member();
		add_thread(i, 1);
		view[i].thread[0].bound = 1;
		add_memory(i, 0, i ? 2 : 0, 1024, 0.02f);
		view[i].chunk[0].fixed = 1;
	}
	last = (struct slot_plan){ .n_orders = 2, .order = { { .slot = 10, .tid = 100, .node_os = 1, .since_ms = 100500 },
	                                                     { .slot = 11, .tid = 200, .node_os = 1, .since_ms = 500 } } };
	ck_assert_int_eq(team_decide(&machine, member, members, policy_find("joint"), &last, 101000, &plan), 0);
	ck_assert_int_eq(ordered(0, 0), 1);
	ck_assert_int_eq(ordered(1, 0), 2);
	ck_assert_uint_eq(plan.order[0].since_ms, 100500);
	ck_assert_uint_eq(plan.order[1].since_ms, 101000);
	ck_assert_int_eq(team_decide(&machine, member, members, policy_find("joint"), &last, 120000, &plan), 0);
	ck_assert_int_eq(ordered(0, 0), 0);
}
END_TEST

/* Two whole processes on one node, and others free: nobody waits for a CPU. */
START_TEST(nobody_queues_for_being_whole)
{
	for (unsigned i = 0; i < 2; i++) {
		add_member();
		for (unsigned t = 0; t < 2; t++) {
			add_thread(i, 1);
			view[i].thread[t].bound = 1;
			add_memory(i, t, 1, 100, 0.005f);
		}
	}
	decide();
	unsigned all = 0;
	for (unsigned n = 0; n < 4; n++) {
		ck_assert_uint_le(threads_ordered_to((int)n), 2);
		all += threads_ordered_to((int)n);
	}
	ck_assert_uint_eq(all, 4);
}
END_TEST

/* Two processes that were each bound over two nodes, by themselves, are sorted out. */
START_TEST(torn_processes_are_joined)
{
	for (unsigned i = 0; i < 2; i++) {
		add_member();
		for (unsigned t = 0; t < 2; t++) {
			add_thread(i, (int)(2 * t + i));
			view[i].thread[t].bound = 1;
			add_memory(i, t, (int)(2 * t + i), 512, 0.01f);
		}
	}
	decide();
	for (unsigned i = 0; i < 2; i++) ck_assert_int_eq(ordered(i, 0), ordered(i, 1));
}
END_TEST

/* Threads with memory of their own, each beside it, are not brought together for its own sake. */
START_TEST(good_places_are_not_given_up)
{
	for (unsigned i = 0; i < 2; i++) {
		add_member();
		for (unsigned t = 0; t < 4; t++) {
			add_thread(i, (int)t);
			add_memory(i, t, (int)t, 200000, 0.01f);
		}
	}
	decide();
	for (unsigned i = 0; i < 2; i++)
		for (unsigned t = 0; t < 4; t++) ck_assert_int_eq(ordered(i, t), (int)t);
}
END_TEST

/* Eight ranks of one thread in pairs whose partners are on different nodes: each pair gets a node. */
START_TEST(those_who_talk_are_together)
{
	const unsigned distance[] = { 1, 4, 2 };
	unsigned d = distance[_i];
	for (unsigned i = 0; i < 8; i++) {
		add_member();
		add_thread(i, (int)(i % 4));
		add_memory(i, 0, (int)(i % 4), 64, 0.0005f);
	}
	for (unsigned a = 0; a < 8; a++) {
		if (a / d % 2) continue;
		talks(a, a + d, 20ull << 30);
		talks(a + d, a, 20ull << 30);
	}
	decide();
	for (unsigned a = 0; a < 8; a++) {
		int here = ordered(a, 0) < 0 ? (int)(a % 4) : ordered(a, 0);
		unsigned b = a / d % 2 ? a - d : a + d;
		int there = ordered(b, 0) < 0 ? (int)(b % 4) : ordered(b, 0);
		ck_assert_msg(here == there, "rank %u on %d, rank %u on %d", a, here, b, there);
	}
}
END_TEST

/* Where nothing is to be moved, nobody is: each thread may stay, unbound, however much better it would be elsewhere. */
START_TEST(watched_only)
{
	for (unsigned i = 0; i < 4; i++) {
		add_member();
		add_thread(i, (int)(i % 2));
		add_thread(i, 2);
		add_memory(i, 0, 3, 64, 0.01f);
		talks(i, 3 - i, 20ull << 30);
	}
	decide();
	ck_assert_uint_lt(threads_ordered_to(-1), 8);
	for (unsigned round = 0; round < 2; round++) {
		static struct slot_plan last;
		ck_assert_int_eq(team_decide(&machine, member, members, policy_find("stay"), round ? &last : NULL, 1000 * round, &plan), 0);
		ck_assert(slot_plan_valid(&plan, slot_plan_bytes(&plan)));
		ck_assert_uint_eq(plan.n_orders, 8);
		ck_assert_uint_eq(threads_ordered_to(-1), 8);
		last = plan;
	}
}
END_TEST

/* The same for ranks of several threads, which go as they are: nodes of four CPUs have room for two of them. */
START_TEST(teams_who_talk_are_together)
{
	machine_free(&machine);
	made_machine(&machine, 4, 4);
	for (unsigned i = 0; i < 4; i++) {
		add_member();
		for (unsigned t = 0; t < 2; t++) {
			add_thread(i, (int)i);
			view[i].thread[t].bound = 1;
			add_memory(i, t, (int)i, 64, 0.0005f);
		}
	}
	for (unsigned a = 0; a < 4; a++) talks(a, 3 - a, 20ull << 30);
	decide();
	for (unsigned i = 0; i < 4; i++) ck_assert_int_eq(ordered(i, 0), ordered(i, 1));
	ck_assert_int_eq(ordered(0, 0), ordered(3, 0));
	ck_assert_int_eq(ordered(1, 0), ordered(2, 0));
	ck_assert_int_ne(ordered(0, 0), ordered(1, 0));
}
END_TEST

/* Who follows another plan takes its CPUs, and gets no orders. */
START_TEST(others_are_in_the_way)
{
	add_member();
	add_member();
	for (unsigned t = 0; t < 2; t++) {
		add_thread(0, 0);
		add_thread(1, 0);
		add_memory(1, t, 0, 64, 0.01f);
	}
	member[0].theirs = true;
	decide();
	ck_assert_uint_eq(plan.n_orders, 2);
	ck_assert_int_eq(ordered(1, 0), ordered(1, 1));
	ck_assert_int_ne(ordered(1, 0), 0);
}
END_TEST

/* Nothing is known yet: nobody is ordered about. */
START_TEST(nothing_known)
{
	for (unsigned i = 0; i < 4; i++) {
		add_member();
		add_thread(i, 0);
		add_thread(i, 3);
	}
	view[2].n_threads = 0;
	decide();
	ck_assert_uint_eq(plan.n_orders, 6);
}
END_TEST

/* A large situation becomes a small view with the same pages and traffic. */
START_TEST(condensed)
{
	struct situation s;
	int32_t tid[4] = { 11, 12, 13, 14 };
	made_situation(&s, &machine);
	for (unsigned t = 0; t < 4; t++) made_thread(&s, t, (int)t);
	for (unsigned c = 0; c < 10000; c++) {
		made_chunk(&s, 512, (int)(c % 3));
		made_use(&s, c % 4, 0.001f);
		if (c % 5 == 0) made_use(&s, (c + 1) % 4, 0.001f);
	}
	team_condense(&s, tid, &view[0]);
	ck_assert(slot_view_valid(&view[0], slot_view_bytes(&view[0])));
	ck_assert_uint_eq(view[0].n_threads, 4);
	ck_assert_int_eq(view[0].thread[2].tid, 13);
	ck_assert_uint_eq(view[0].n_chunks, 24);   /* 3 nodes x (4 users + 4 pairs) */
	unsigned long pages = 0;
	double rate = 0;
	for (unsigned c = 0; c < view[0].n_chunks; c++) {
		pages += view[0].chunk[c].pages;
		for (unsigned u = 0; u < view[0].chunk[c].n_users; u++) rate += (double)view[0].chunk[c].user[u].rate;
		ck_assert_uint_ge(view[0].chunk[c].where[0].permille, 990);
	}
	ck_assert_uint_eq(pages, 10000 * 512);
	ck_assert(rate > 11.9 && rate < 12.1);
	/* two halves of which each was rounded up */
	s.chunk[0].where[0].share = s.chunk[0].where[1].share = 128.0f / 255;
	s.chunk[0].where[1].node = 3;
	s.n_chunks = 1;
	s.thread[0].load = 1.01f;
	team_condense(&s, tid, &view[0]);
	ck_assert(slot_view_valid(&view[0], slot_view_bytes(&view[0])));
	ck_assert_uint_eq(view[0].chunk[0].where[1].permille, 500);
	situation_free(&s);
}
END_TEST

/* Whatever a process scribbles into its slot: it is refused, or it does no harm. */
START_TEST(scribbled)
{
	struct dice dice = { 7 };
	for (unsigned i = 0; i < 2; i++) {
		add_member();
		for (unsigned t = 0; t < 3; t++) {
			add_thread(i, (int)t);
			add_memory(i, t, 0, 64, 0.01f);
		}
	}
	unsigned taken = 0;
	for (unsigned k = 0; k < 3000; k++) {
		static struct slot_view whole;
		whole = view[0];
		unsigned char *byte = (unsigned char *)&view[0];
		uint32_t bytes = slot_view_bytes(&view[0]);
		for (unsigned j = 0; j < 3; j++) {
			unsigned at = dice_below(&dice, 2) ? dice_below(&dice, 16 + 64) : dice_below(&dice, bytes);
			byte[at] = (unsigned char)dice_next(&dice);
		}
		if (slot_view_valid(&view[0], bytes)) {
			taken++;
			made_hold(team_decide(&machine, member, members, policy_find("joint"), NULL, 0, &plan) == 0);
			made_hold(slot_plan_valid(&plan, slot_plan_bytes(&plan)));
		}
		view[0] = whole;
	}
	ck_assert_uint_gt(taken, 100);
	ck_assert_uint_lt(taken, 2900);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, each_process_has_a_node);
	tcase_add_test(tcase, what_stands_stays);
	tcase_add_loop_test(tcase, processes_are_not_torn, 0, 2);
	tcase_add_test(tcase, orders_are_believed);
	tcase_add_test(tcase, memory_is_waited_for);
	tcase_add_test(tcase, nobody_queues_for_being_whole);
	tcase_add_test(tcase, torn_processes_are_joined);
	tcase_add_test(tcase, good_places_are_not_given_up);
	tcase_add_loop_test(tcase, those_who_talk_are_together, 0, 3);
	tcase_add_test(tcase, teams_who_talk_are_together);
	tcase_add_test(tcase, watched_only);
	tcase_add_test(tcase, others_are_in_the_way);
	tcase_add_test(tcase, nothing_known);
	tcase_add_test(tcase, condensed);
	tcase_add_test(tcase, scribbled);
}

int main(void)
{
	return made_main("team", add);
}
