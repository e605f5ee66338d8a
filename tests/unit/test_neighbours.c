/* Several processes on one board, each with a made-up situation: who plans, who follows, who is gone. */
#include "neighbours.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made.h"

#define STEP_NS 1000000   /* of the clock that all share here: so little that no sign of life is ever old */
#define SEEN_NS ((BOARD_SEEN_MS + 1000) * 1000000ull)   /* what was seen so long ago is looked at again */

enum {
	NODES = 4, CPUS = 2, THREADS = 2,
	PATIENCE_MS = 20000,          /* for another process's step, on a busy machine */
};

static struct machine machine;
static struct cpu_mask all;

/* One process's part. */
struct part {
	struct neighbours neighbours;
	struct registry *registry;
	struct situation situation;
	uint64_t now_ns;
};

static void setup(void)
{
	made_machine(&machine, NODES, CPUS);
	mask_clear(&all);
	for (unsigned c = 0; c < NODES * CPUS; c++) mask_add(&all, c);
	unsetenv("NSCHED_BOARD");
}

static void give_board(void)
{
	struct board *board;
	char word[BOARD_WORD];
	ck_assert_int_eq(board_make_tree(&board), 0);
	setenv("NSCHED_BOARD", board_word(board, word), 1);
	board_leave(board, true);
}

static void join(struct part *p, int node)
{
	*p = (struct part){ .registry = calloc(1, sizeof *p->registry), .now_ns = 1000000000 };
	registry_init(p->registry);
	neighbours_join(&p->neighbours, &all, false);
	made_situation(&p->situation, &machine);
	for (unsigned t = 0; t < THREADS; t++) {
		struct nsched_thread *thread = registry_add(p->registry, getpid() * 10 + (pid_t)t, true);
		made_thread(&p->situation, thread->number, node < 0 ? (int)t : node);
	}
	for (unsigned t = 0; t < THREADS; t++) {
		made_chunk(&p->situation, 512, 0);
		made_use(&p->situation, t, 0.01f);
	}
	neighbours_take_part(&p->neighbours);
}

static void leave(struct part *p)
{
	neighbours_free(&p->neighbours);
	situation_free(&p->situation);
	for (unsigned b = 0; b < REGISTRY_THREADS / REGISTRY_BLOCK; b++) free(p->registry->block[b]);
	free(p->registry);
}

/* A step, at which everything is due. */
static enum neighbours_mode step(struct part *p)
{
	p->now_ns += STEP_NS;
	p->neighbours.exchanged_ns = p->neighbours.planned_ns = 0;
	return neighbours_exchange(&p->neighbours, &p->situation, &machine, p->registry, policy_find("joint"), true, p->now_ns);
}

/* Steps until the mode is as wanted; false if it never is. */
static bool reaches(struct part *p, enum neighbours_mode mode)
{
	for (int ms = 0; ms < PATIENCE_MS; ms += 5) {
		if (step(p) == mode) return true;
		usleep(5000);
	}
	return false;
}

/* The node where the plan wants all threads; -1: several, or none. */
static int place(struct part *p)
{
	struct plan plan = { 0 };
	if (neighbours_follow(&p->neighbours, &p->situation, p->registry, &plan)) return -1;
	int node = p->situation.thread[0].node;
	for (unsigned t = 0; t < THREADS; t++)
		if (p->situation.thread[t].node != node) node = -1;
	plan_free(&plan);
	return node;
}

START_TEST(nobody_else)
{
	struct part p;
	join(&p, 0);
	ck_assert_ptr_null(p.neighbours.board);
	ck_assert_int_eq(step(&p), NEIGHBOURS_ALONE);
	leave(&p);
	give_board();
	join(&p, 0);
	ck_assert_ptr_nonnull(p.neighbours.board);
	ck_assert_int_eq(step(&p), NEIGHBOURS_ALONE);
	ck_assert_int_eq(step(&p), NEIGHBOURS_ALONE);
	neighbours_free(&p.neighbours);
	ck_assert_int_eq(step(&p), NEIGHBOURS_ALONE);
	leave(&p);
}
END_TEST

/* Alone, a process shows nothing anew, as long as nobody comes; for one that comes it is shown again. */
START_TEST(deserted)
{
	enum { NOT_WRITTEN = 1 };
	struct part p, other;
	give_board();
	join(&p, 0);
	ck_assert_int_eq(step(&p), NEIGHBOURS_ALONE);
	p.neighbours.view->n_threads = NOT_WRITTEN;
	p.neighbours.planned_ns = p.now_ns;
	for (unsigned i = 0; i < 5; i++) {
		p.now_ns += STEP_NS;
		p.neighbours.exchanged_ns = 0;
		ck_assert_int_eq(neighbours_exchange(&p.neighbours, &p.situation, &machine, p.registry, policy_find("joint"), true, p.now_ns), NEIGHBOURS_ALONE);
		ck_assert_uint_eq(p.neighbours.view->n_threads, NOT_WRITTEN);
	}
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		alarm(60);
		join(&other, 1);
		pause();
	}
	bool shown = false;
	for (int ms = 0; ms < PATIENCE_MS && !shown; ms += 5, usleep(5000)) {
		p.now_ns += STEP_NS;
		p.neighbours.exchanged_ns = 0;
		neighbours_exchange(&p.neighbours, &p.situation, &machine, p.registry, policy_find("joint"), true, p.now_ns);
		shown = p.neighbours.view->n_threads == THREADS;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert(shown);
	leave(&p);
}
END_TEST

/* A child that takes part until it has its place, which it reports, and goes on until its pipe is closed. */
struct child { pid_t pid; int report, go; };

static struct child start(void)
{
	int report[2], go[2];
	char byte;
	ck_assert_int_eq(pipe(report), 0);
	ck_assert_int_eq(pipe(go), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct part p;
		close(go[1]);
		join(&p, -1);
		int node = reaches(&p, NEIGHBOURS_TOGETHER) ? place(&p) : -2;
		if (write(report[1], &node, sizeof node) != sizeof node) _exit(1);
		fcntl(go[0], F_SETFL, O_NONBLOCK);
		while (read(go[0], &byte, 1) != 0) {   /* 0: closed by the test, or by its end */
			step(&p);
			usleep(5000);
		}
		neighbours_free(&p.neighbours);
		_exit(0);
	}
	close(report[1]);
	close(go[0]);
	return (struct child){ pid, report[0], go[1] };
}

static int place_of(const struct child *c)
{
	int node = -3;
	ck_assert_int_eq(read(c->report, &node, sizeof node), sizeof node);
	return node;
}

static void end(struct child *c)
{
	close(c->go);
	close(c->report);
	waitpid(c->pid, NULL, 0);
}

/* This process and a child each get a node of their own; when the child is gone, this one is alone again. */
START_TEST(two_and_one)
{
	struct part p;
	give_board();
	join(&p, -1);
	struct child c = start();
	ck_assert(reaches(&p, NEIGHBOURS_TOGETHER));
	int here = -1, there = -1;
	for (int i = 0; i < 2000 && there == -1; i++) {
		reaches(&p, NEIGHBOURS_TOGETHER);
		here = place(&p);
		fd_set set;
		struct timeval soon = { 0, 1000 };
		FD_ZERO(&set);
		FD_SET(c.report, &set);
		if (select(c.report + 1, &set, NULL, NULL, &soon) == 1) there = place_of(&c);
	}
	ck_assert_int_ge(here, 0);
	ck_assert_int_ge(there, 0);
	ck_assert_int_ne(here, there);
	kill(c.pid, SIGKILL);
	end(&c);
	p.now_ns += SEEN_NS;
	ck_assert(reaches(&p, NEIGHBOURS_ALONE));
	ck_assert_uint_eq(p.neighbours.together, 1);
	leave(&p);
}
END_TEST

/* Has a process taken part from this slot? */
static bool takes_part(const struct part *p, unsigned slot)
{
	struct board_head head;
	for (int ms = 0; ms < PATIENCE_MS; ms += 5) {
		if (!board_read_head(p->neighbours.board, slot, &head, NULL) && head.flags & BOARD_PLANS && board_last_beat(p->neighbours.board, slot)) return true;
		usleep(5000);
	}
	return false;
}

/* The planner is killed: the next one plans for those who are left. */
START_TEST(take_over)
{
	struct part p, look;
	give_board();
	look = (struct part){ 0 };
	ck_assert_int_eq(board_attach(getenv("NSCHED_BOARD"), &look.neighbours.board), 0);
	struct child a = start();
	ck_assert(takes_part(&look, 0));
	join(&p, -1);
	struct child c = start();
	ck_assert(takes_part(&look, 2));
	ck_assert(reaches(&p, NEIGHBOURS_TOGETHER));
	ck_assert_uint_eq(p.neighbours.leader, 0);
	ck_assert_uint_eq(p.neighbours.totals.made, 0);
	kill(a.pid, SIGKILL);
	end(&a);
	p.now_ns += SEEN_NS;
	for (int i = 0; i < 1000 && !p.neighbours.totals.made; i++) ck_assert(reaches(&p, NEIGHBOURS_TOGETHER));
	ck_assert_uint_eq(p.neighbours.leader, 1);
	ck_assert_uint_eq(p.neighbours.totals.taken_over, 1);
	ck_assert_uint_eq(p.neighbours.together, 2);
	end(&c);
	board_leave(look.neighbours.board, false);
	leave(&p);
}
END_TEST

/* The child of a fork has no slot, and leaves its parent's alone. */
START_TEST(forked)
{
	struct part p;
	int status;
	give_board();
	join(&p, 0);
	pid_t pid = fork();
	if (!pid) {
		neighbours_forked(&p.neighbours);
		int alone = step(&p) == NEIGHBOURS_ALONE;
		struct part own;
		join(&own, 0);
		_exit(alone && own.neighbours.board && board_own(own.neighbours.board) == 1 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(board_own(p.neighbours.board), 0);
	leave(&p);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, nobody_else);
	tcase_add_test(tcase, deserted);
	tcase_add_test(tcase, two_and_one);
	tcase_add_test(tcase, take_over);
	tcase_add_test(tcase, forked);
}

int main(void)
{
	return made_main("neighbours", add);
}
