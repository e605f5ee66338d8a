/* Snapshots: what is printed is read again to the last bit, and every refusal names line and word. */
#include <check.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "pure/snapshot.h"

enum { ROUNDS = 300, TEXT = 1 << 16 };

#define MACHINE "situation 1\nnode 0 os 0 memory 4GiB serves 0.02 cpus 0:0:0 1:1:0\nnode 1 os 2 memory 0 serves 0.02\n" \
	"latency 0 to 90 189\nlatency 1 to 189 90\n"
#define COSTS "age_ns 5\npage_move_ns 3000\nthread_move_ns 1e5\n"

static const char whole[] = MACHINE COSTS
	"thread 3 on 0\n"
	"thread 4 on - load 0.5 bound fixed moved 12 # a remark\n"
	"\n"
	"talk 3 with 4:0.002\n"
	"talk 4 with 3:0.002\n"
	"chunk 0x1000 pages 512 on 0:0.75 1:0.25 by 3:0.001 4:1e-05 stands 2.5 fixed moved 0\n"
	"chunk 4608 pages 1\n";

START_TEST(fields)
{
	struct machine m;
	struct situation s;
	struct snapshot_error error;
	ck_assert_msg(snapshot_parse(whole, sizeof whole - 1, &m, &s, &error) == 0, "%s", error.text);
	ck_assert_uint_eq(m.n_nodes, 2);
	ck_assert_uint_eq(m.n_cpus, 2);
	ck_assert_uint_eq(m.node[0].memory_bytes, 4ull << 30);
	ck_assert_uint_eq(m.node[1].n_cpus, 0);
	ck_assert_uint_eq(m.node[1].os, 2);
	ck_assert(m.latency_ns[1][0] == 189.0f);
	ck_assert_uint_eq(m.cpu[1].core, 1);
	ck_assert_uint_eq(s.age_ns, 5);
	ck_assert(s.page_move_ns == 3000.0f && s.thread_move_ns == 100000.0f);
	ck_assert_uint_eq(s.n_threads, 2);
	ck_assert_uint_eq(s.thread[0].number, 3);
	ck_assert(s.thread[0].load == 1.0f && !s.thread[0].bound && !s.thread[0].fixed);
	ck_assert_uint_eq(s.thread[0].moved_ms_ago, UINT32_MAX);
	ck_assert_int_eq(s.thread[1].node, -1);
	ck_assert(s.thread[1].load == 0.5f && s.thread[1].bound && s.thread[1].fixed);
	ck_assert_uint_eq(s.thread[1].moved_ms_ago, 12);
	ck_assert_uint_eq(s.n_talks, 2);
	ck_assert_uint_eq(s.thread[1].n_talks, 1);
	ck_assert_uint_eq(s.talk[s.thread[1].first_talk].other, 0);
	ck_assert(s.talk[1].rate == 0.002f);
	ck_assert_uint_eq(s.n_chunks, 2);
	ck_assert_uint_eq(s.chunk[0].page, 0x1000);
	ck_assert_uint_eq(s.chunk[0].n_uses, 2);
	ck_assert(s.chunk[0].where[1].node == 1 && s.chunk[0].where[1].share == 0.25f && s.chunk[0].where[2].node == -1);
	ck_assert_uint_eq(s.use[1].thread, 1);
	ck_assert(s.use[1].rate == 1e-5f);
	ck_assert(s.chunk[0].fixed);
	ck_assert_uint_eq(s.chunk[0].moved_ms_ago, 0);
	ck_assert(s.chunk[0].stands > 2.4f && s.chunk[0].stands < 2.6f && s.chunk[1].stands <= 1);
	ck_assert_uint_eq(s.chunk[1].page, 4608);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

static void same(const struct situation *a, const struct situation *b)
{
	const struct machine *m = a->machine, *n = b->machine;
	ck_assert_uint_eq(m->n_nodes, n->n_nodes);
	ck_assert_uint_eq(m->n_cpus, n->n_cpus);
	ck_assert_mem_eq(m->node, n->node, sizeof m->node);
	ck_assert_mem_eq(m->cpu, n->cpu, m->n_cpus * sizeof *m->cpu);
	ck_assert_mem_eq(m->latency_ns, n->latency_ns, sizeof m->latency_ns);
	ck_assert_uint_eq(a->n_threads, b->n_threads);
	ck_assert_uint_eq(a->n_chunks, b->n_chunks);
	ck_assert_uint_eq(a->n_uses, b->n_uses);
	ck_assert(a->age_ns == b->age_ns && a->page_move_ns == b->page_move_ns && a->thread_move_ns == b->thread_move_ns);
	for (unsigned t = 0; t < a->n_threads; t++) {
		const struct situation_thread *x = &a->thread[t], *y = &b->thread[t];
		ck_assert(x->number == y->number && x->node == y->node && x->bound == y->bound && x->fixed == y->fixed);
		ck_assert(x->load == y->load && x->moved_ms_ago == y->moved_ms_ago);
	}
	ck_assert_uint_eq(a->n_talks, b->n_talks);
	for (unsigned t = 0; t < a->n_threads; t++) {
		const struct situation_thread *x = &a->thread[t], *y = &b->thread[t];
		ck_assert(x->n_talks == y->n_talks && (!x->n_talks || x->first_talk == y->first_talk));
	}
	for (unsigned k = 0; k < a->n_talks; k++)
		ck_assert(a->talk[k].other == b->talk[k].other && a->talk[k].rate == b->talk[k].rate);
	for (unsigned c = 0; c < a->n_chunks; c++) {
		const struct situation_chunk *x = &a->chunk[c], *y = &b->chunk[c];
		ck_assert(x->page == y->page && x->pages == y->pages && x->first_use == y->first_use && x->n_uses == y->n_uses);
		ck_assert(x->fixed == y->fixed && x->moved_ms_ago == y->moved_ms_ago);
		for (unsigned k = 0; k < SITUATION_WHERE; k++)
			ck_assert(x->where[k].node == y->where[k].node && x->where[k].share == y->where[k].share);
	}
	for (unsigned u = 0; u < a->n_uses; u++)
		ck_assert(a->use[u].thread == b->use[u].thread && a->use[u].rate == b->use[u].rate);
}

/* One thread in three talks, to one or two others. */
static void add_talks(struct situation *s, struct dice *dice)
{
	for (unsigned t = 0; s->n_threads > 2 && t < s->n_threads; t += 1 + dice_below(dice, 5)) {
		unsigned others = 1 + dice_below(dice, 2);
		for (unsigned k = 1; k <= others; k++) {
			struct situation_talk *talk = situation_add_talk(s, t);
			*talk = (struct situation_talk){ .other = (t + k) % s->n_threads, .rate = dice_part(dice) };
		}
	}
}

START_TEST(round_trip)
{
	struct dice dice = { (uint64_t)_i };
	struct machine m, n;
	struct situation s, again;
	struct snapshot_error error;
	char *text = malloc(TEXT), *second = malloc(TEXT);
	made_random_machine(&m, &dice);
	made_random_situation(&s, &m, &dice);
	add_talks(&s, &dice);
	size_t bytes = snapshot_print(&s, text, TEXT);
	ck_assert_uint_lt(bytes, TEXT);
	ck_assert_uint_eq(bytes, strlen(text));
	ck_assert_msg(snapshot_parse(text, bytes, &n, &again, &error) == 0, "%s\n%s", error.text, text);
	same(&s, &again);
	ck_assert_uint_eq(snapshot_print(&again, second, TEXT), bytes);
	ck_assert_str_eq(text, second);
	situation_free(&s);
	situation_free(&again);
	machine_free(&m);
	machine_free(&n);
	free(text);
	free(second);
}
END_TEST

/* Numbers of every size and sign keep all of their bits; the locale doesn't matter. */
START_TEST(real_numbers)
{
	static const char *const locales[] = { "C", "de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF" };
	struct dice dice = { 7 };
	struct move move = { .kind = MOVE_PAGES, .page = 1, .pages = 1, .reason = "it is so" };
	struct plan plan = { 0 }, again;
	struct snapshot_error error;
	char text[400];
	setlocale(LC_NUMERIC, locales[_i]);  /* where it is not installed it stays at C */
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t bits = (uint32_t)dice_next(&dice);
		memcpy(&move.gain_ns_per_s, &bits, sizeof bits);
		if (!(move.gain_ns_per_s - move.gain_ns_per_s == 0)) continue;
		move.cost_ns = dice_part(&dice);
		plan_clear(&plan);
		ck_assert_int_eq(plan_add(&plan, &move), 0);
		size_t bytes = snapshot_print_plan(&plan, text, sizeof text);
		ck_assert_msg(snapshot_parse_plan(text, bytes, &again, &error) == 0, "%s", error.text);
		ck_assert_mem_eq(&again.move[0].gain_ns_per_s, &move.gain_ns_per_s, sizeof bits);
		ck_assert_mem_eq(&again.move[0].cost_ns, &move.cost_ns, sizeof bits);
		plan_free(&again);
	}
	plan_free(&plan);
}
END_TEST

/* With less room it is cut, closed, and the length is still that of the whole. */
START_TEST(cut)
{
	struct machine m;
	struct situation s;
	struct snapshot_error error;
	char text[sizeof whole + 100], part[sizeof text];
	ck_assert_int_eq(snapshot_parse(whole, sizeof whole - 1, &m, &s, &error), 0);
	size_t bytes = snapshot_print(&s, text, sizeof text);
	ck_assert_uint_eq(snapshot_print(&s, NULL, 0), bytes);
	for (size_t room = 1; room <= bytes + 1; room++) {
		memset(part, 'x', sizeof part);
		ck_assert_uint_eq(snapshot_print(&s, part, room), bytes);
		ck_assert_uint_eq(strlen(part), room - 1);
		ck_assert_mem_eq(part, text, room - 1);
		ck_assert(room == sizeof part || part[room] == 'x');
	}
	situation_free(&s);
	machine_free(&m);
}
END_TEST

/* No beginning of the text, and no text with one byte changed, does harm; a beginning that ends in a line is
 * a situation once the costs are in. */
START_TEST(hostile)
{
	struct machine m;
	struct situation s;
	struct snapshot_error error;
	struct dice dice = { 3 };
	size_t costs = sizeof(MACHINE COSTS) - 1;
	for (size_t n = 0; n < sizeof whole; n++) {
		char *text = malloc(n ? n : 1);
		memcpy(text, whole, n);
		int ret = snapshot_parse(text, n, &m, &s, &error);
		ck_assert(ret == 0 || (ret == -EINVAL && error.text[0]));
		ck_assert(n >= costs - strlen("e5\n") || ret);
		if (!ret) situation_free(&s), machine_free(&m);
		free(text);
	}
	for (unsigned i = 0; i < 20000; i++) {
		char text[sizeof whole];
		memcpy(text, whole, sizeof whole);
		for (unsigned k = 0; k < 1 + i % 3; k++) text[dice_below(&dice, sizeof whole - 1)] = (char)dice_next(&dice);
		int ret = snapshot_parse(text, sizeof whole - 1, &m, &s, &error);
		ck_assert(ret == 0 || (ret == -EINVAL && error.text[0]));
		if (!ret) situation_free(&s), machine_free(&m);
	}
}
END_TEST

struct refusal {
	const char *text, *error;
};

static const struct refusal refusals[] = {
	{ "", "line 1, at its end: situation should begin this line" },
	{ "# only a remark\n", "line 2, at its end: situation should begin this line" },
	{ "plan 1\n", "line 1, \"plan\": situation should begin this line" },
	{ "situation 2\n", "line 1, \"2\": a number from 0 to 1 should be here" },
	{ "situation 0\n", "line 1, \"0\": a version that is not known" },
	{ "situation 1 2\n", "line 1, \"2\": too much, or not in its place" },
	{ "situation 1\nnod 0\n", "line 2, \"nod\": node should begin this line" },
	{ "situation 1\nnode 1 os 0 memory 0 serves 1\n", "line 2, \"1\": nodes count up from 0" },
	{ "situation 1\nnode 0 memory 4GiB\n", "line 2, \"memory\": os should be here" },
	{ "situation 1\nnode 0 os 0 memory 4GB serves 1\n", "line 2, \"4GB\": a number from 0 to 18446744073709551615 should be here" },
	{ "situation 1\nnode 0 os 0 memory xMiB serves 1\n", "line 2, \"xMiB\": bytes of memory should be here" },
	{ "situation 1\nnode 0 os 0 memory 99999999999999999GiB\n", "line 2, \"99999999999999999GiB\": bytes of memory should be here" },
	{ "situation 1\nnode 0 os 0 memory\n", "line 2, at its end: bytes of memory should be here" },
	{ "situation 1\nnode 0 os 0 memory 1 serves 0\n", "line 2, \"0\": a number above 0 should be here" },
	{ "situation 1\nnode 0 os 0 memory 1 serves 1 cpus\n", "line 2, at its end: OS:CORE:L3 should be here" },
	{ "situation 1\nnode 0 os 0 memory 1 serves 1 cpus 0:1\n", "line 2, \"0:1\": OS:CORE:L3 should be here" },
	{ "situation 1\nnode 0 os 0 memory 1 serves 1 cpus 0:0:9999\n", "line 2, \"0:0:9999\": OS:CORE:L3 should be here" },
	{ "situation 1\nnode 0 os 0 memory 1 serves 1\n", "line 3, at its end: latency should begin this line" },
	{ "situation 1\nnode 0 os 0 memory 1 serves 1\nlatency 1 to 90\n", "line 3, \"1\": latencies count up from 0" },
	{ "situation 1\nnode 0 os 0 memory 1 serves 1\nlatency 0 to 90 90\n", "line 3, \"90\": too much, or not in its place" },
	{ "situation 1\nnode 0 os 0 memory 1 serves 1\nlatency 0 to -90\n", "line 3, \"-90\": a number above 0 should be here" },
	{ "situation 1\nnode 0 os 0 memory 1 serves 1\nlatency 0 to 1e39\n", "line 3, \"1e39\": a number above 0 should be here" },
	{ "situation 1\nnode 0 os 0 memory 1 serves 1\nlatency 0 to nan\n", "line 3, \"nan\": a number above 0 should be here" },
	{ "situation 1\nnode 0 os 0 memory 1 serves 1\nlatency 0 to 1,5\n", "line 3, \"1,5\": a number above 0 should be here" },
	{ MACHINE "page_move_ns 1\n", "line 6, \"page_move_ns\": age_ns should begin this line" },
	{ MACHINE "age_ns -1\n", "line 6, \"-1\": a number from 0 to 18446744073709551615 should be here" },
	{ MACHINE "age_ns 18446744073709551616\n", "line 6, \"18446744073709551616\": a number from 0 to 18446744073709551615 should be here" },
	{ MACHINE COSTS "tread 0 on 0\n", "line 9, \"tread\": thread, talk or chunk should begin this line" },
	{ MACHINE COSTS "thread 0 on 2\n", "line 9, \"2\": a number from 0 to 1 should be here" },
	{ MACHINE COSTS "thread 0 on 0 fixed bound\n", "line 9, \"bound\": too much, or not in its place" },
	{ MACHINE COSTS "thread 0 on 0 load -1\n", "line 9, \"-1\": a number, 0 or more, should be here" },
	{ MACHINE COSTS "thread 1 on 0\nthread 1 on 0\n", "line 10, \"1\": threads come by ascending number" },
	{ MACHINE COSTS "thread 65535 on 0\n", "line 9, \"65535\": a number from 0 to 65534 should be here" },
#define PAIR "thread 0 on 0\nthread 1 on 1\n"
	{ MACHINE COSTS PAIR "talk 2 with 1:1\n", "line 11, \"2\": there is no such thread above" },
	{ MACHINE COSTS PAIR "talk 0 with 0:1\n", "line 11, \"0:1\": another thread above should be here" },
	{ MACHINE COSTS PAIR "talk 0 with 2:1\n", "line 11, \"2:1\": another thread above should be here" },
	{ MACHINE COSTS PAIR "talk 0 with 1\n", "line 11, \"1\": NUMBER:PART should be here" },
	{ MACHINE COSTS PAIR "talk 0 by 1:1\n", "line 11, \"by\": with should be here" },
	{ MACHINE COSTS PAIR "talk 0 with 1:1\ntalk 0 with 1:1\n", "line 12, \"0\": each thread talks in one line, by ascending number" },
	{ MACHINE COSTS PAIR "talk 1 with 0:1\ntalk 0 with 1:1\n", "line 12, \"0\": each thread talks in one line, by ascending number" },
	{ MACHINE COSTS PAIR "talk 0 with 1:1\nthread 2 on 0\n", "line 12, \"thread\": talk or chunk should begin this line" },
	{ MACHINE COSTS PAIR "chunk 1 pages 2\ntalk 0 with 1:1\n", "line 12, \"talk\": chunk should begin this line" },
	{ MACHINE COSTS "chunk 1 pages 0\n", "line 9, \"0\": a chunk has a page or more, below 2 to the 52nd" },
	{ MACHINE COSTS "chunk 0xfffffffffffff pages 2\n", "line 9, \"2\": a chunk has a page or more, below 2 to the 52nd" },
	{ MACHINE COSTS "chunk 1 pages 2\nchunk 2 pages 1\n", "line 10, \"2\": chunks come by ascending page, and none overlaps" },
	{ MACHINE COSTS "chunk 1 pages 2\nthread 0 on 0\n", "line 10, \"thread\": chunk should begin this line" },
	{ MACHINE COSTS "chunk 1 pages 2 on\n", "line 9, at its end: NUMBER:PART should be here" },
	{ MACHINE COSTS "chunk 1 pages 2 on 0\n", "line 9, \"0\": NUMBER:PART should be here" },
	{ MACHINE COSTS "chunk 1 pages 2 on 2:1\n", "line 9, \"2:1\": NUMBER:PART should be here" },
	{ MACHINE COSTS "chunk 1 pages 2 on 0:1 1:0.5\n", "line 9, \"1:0.5\": the shares are more than 1" },
	{ MACHINE COSTS "chunk 1 pages 2 on 0:0.5 0:0.5\n", "line 9, \"0:0.5\": this node was named before" },
	{ MACHINE COSTS "chunk 1 pages 2 by 0:1\n", "line 9, \"0:1\": there is no such thread above" },
	{ MACHINE COSTS "thread 0 on 0\nchunk 1 pages 2 by 0:-1\n", "line 10, \"0:-1\": NUMBER:PART should be here" },
	{ MACHINE COSTS "thread 0 on 0\nchunk 1 pages 2 by 0:1 on 0:1\n", "line 10, \"on\": too much, or not in its place" },
	{ MACHINE COSTS "thread \x01\xff" "0123456789012345678901234567890123456789012345 on 0\n",
	  "line 9, \"??01234567890123456789012345678901234567\": a number from 0 to 65534 should be here" },
};

START_TEST(refused)
{
	const struct refusal *c = &refusals[_i];
	struct machine m;
	struct situation s;
	struct snapshot_error error;
	ck_assert_int_eq(snapshot_parse(c->text, strlen(c->text), &m, &s, &error), -EINVAL);
	ck_assert_str_eq(error.text, c->error);
	ck_assert_ptr_null(strstr(c->error, "line 0"));
	ck_assert_uint_eq(error.line, (unsigned)strtoul(c->error + 5, NULL, 10));
}
END_TEST

/* ---- plans ---------------------------------------------------------------------------------------- */

static const char plan_text[] = "plan 1\n"
	"thread 3 from 0 to 1 support 1000 gain 1.5e+07 cost 1e+05 because to its memory\n"
	"thread 4 from - to 0 support 0 gain -2 cost 0 again because hold beside its memory\n"
	"pages 0x1000 count 512 from 1 to 0 support 751 gain 0.25 cost 1536000 because to its main users\n";

START_TEST(plan_round_trip)
{
	struct plan plan;
	struct snapshot_error error;
	char text[sizeof plan_text], again[sizeof plan_text + 8];
	strcpy(text, plan_text);
	ck_assert_msg(snapshot_parse_plan(text, sizeof text - 1, &plan, &error) == 0, "%s", error.text);
	ck_assert_uint_eq(plan.n, 3);
	ck_assert(plan.move[0].kind == MOVE_THREAD && plan.move[0].thread == 3 && plan.move[0].to == 1);
	ck_assert(plan.move[1].from == -1 && plan.move[1].again && plan.move[1].gain_ns_per_s == -2.0f);
	ck_assert(plan.move[2].kind == MOVE_PAGES && plan.move[2].page == 0x1000 && plan.move[2].pages == 512);
	ck_assert_str_eq(plan.move[2].reason, "to its main users");
	ck_assert_uint_eq(snapshot_print_plan(&plan, again, sizeof again), sizeof plan_text - 1);
	ck_assert_str_eq(again, plan_text);
	plan_free(&plan);
}
END_TEST

static const struct refusal plan_refusals[] = {
	{ "situation 1\n", "line 1, \"situation\": plan should begin this line" },
	{ "plan 1\nmove 3\n", "line 2, \"move\": thread or pages should begin this line" },
	{ "plan 1\npages 3 from 0\n", "line 2, \"from\": count should be here" },
	{ "plan 1\nthread 3 from 0 to 1 support 1001 gain 1 cost 1 because x\n", "line 2, \"1001\": a number from 0 to 1000 should be here" },
	{ "plan 1\nthread 3 from 0 to 64 support 1 gain 1 cost 1 because x\n", "line 2, \"64\": a number from 0 to 63 should be here" },
	{ "plan 1\nthread 3 from 0 to - support 1 gain 1 cost 1 because x\n", "line 2, \"-\": a number from 0 to 63 should be here" },
	{ "plan 1\nthread 3 from 0 to 1 support 1 gain 1 cost 1 why x\n", "line 2, \"why\": because should be here" },
	{ "plan 1\nthread 3 from 0 to 1 support 1 gain x cost 1 because x\n", "line 2, \"x\": a number should be here" },
	{ "plan 1\nthread 3 from 0 to 1 support 1 gain 1 cost 1 because\n",
	  "line 2, \"because\": a reason should be here, and the line's end behind it" },
	{ "plan 1\nthread 3 from 0 to 1 support 1 gain 1 cost 1 because x",
	  "line 2, \"because\": a reason should be here, and the line's end behind it" },
};

START_TEST(plan_refused)
{
	char text[200];
	struct plan plan;
	struct snapshot_error error;
	strcpy(text, plan_refusals[_i].text);
	ck_assert_int_eq(snapshot_parse_plan(text, strlen(text), &plan, &error), -EINVAL);
	ck_assert_str_eq(error.text, plan_refusals[_i].error);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, fields);
	tcase_add_loop_test(tcase, round_trip, 0, ROUNDS);
	tcase_add_loop_test(tcase, real_numbers, 0, 4);
	tcase_add_test(tcase, cut);
	tcase_add_test(tcase, hostile);
	made_loop(tcase, refused, refusals);
	tcase_add_test(tcase, plan_round_trip);
	made_loop(tcase, plan_refused, plan_refusals);
}

int main(void)
{
	return made_main("snapshot", add);
}
