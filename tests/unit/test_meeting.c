/* The ranks' meeting, in every order that a table or the dice make: ranks are processes that take one step when they are told to, so that
 * one may stand still, die or be through with its program between any two steps of the others. However it goes, all ranks that get
 * to an end come to the same. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made.h"
#include "tools/ranks_meet.h"

enum {
	RANKS = 3,
	STEPS = MEET_MET,   /* of a rank that meets nobody, without those that wait; a few more do no harm */
	ENOUGH = 40,        /* steps in which every rank gets to an end, once the others are there or it is late */
	SHUFFLES = 300,
};

/* What a rank is told. */
enum order { STEP = 's', LATE = 'l', END_PROGRAM = 'q' };

struct rank {
	pid_t pid;
	int tell, hear;
	enum meet_stage stage;
	unsigned char digest;   /* of what it knows of all, once it has met */
	bool dead;
};

/* ---- a rank ------------------------------------------------------------------------------------------------ */

static unsigned char digest_of(const struct meet *m)
{
	unsigned sum = 1;
	for (unsigned r = 0; r < m->ranks; r++) sum = sum * 31 + m->all[r].wants + (unsigned)m->all[r].launch.word[0] * 7 + m->all[r].flags;
	return (unsigned char)sum;
}

/* What the program's session does with the slot: it writes the head anew, and gives the slot up at its end. */
static void run_program(struct meet *m)
{
	if (!m->board) return;
	m->head.ceiling.word[0] = 0xff;
	board_set_head(m->board, &m->head);
	board_release(m->board);
	board_leave(m->board, false);
	m->board = NULL;
}

static void be_rank(int number, uint32_t wants, const char *job, int hear, int tell)
{
	struct meet m = { .key = { .launcher = getppid(), .job = job }, .ranks = RANKS, .head = { .local_rank = number, .rank = number, .ranks = RANKS },
	                  .own = { .wants = wants, .launch.word = { 1u << number } } };
	char order;
	while (read(hear, &order, 1) == 1) {
		unsigned char answer[2] = { MEET_ALONE, 0 };
		if (order == END_PROGRAM) run_program(&m);
		else answer[0] = (unsigned char)meet_step(&m, order == LATE);
		if (order != END_PROGRAM && m.stage == MEET_MET) answer[1] = digest_of(&m);
		if (write(tell, answer, sizeof answer) != sizeof answer) break;
	}
	_exit(0);
}

/* ---- and who tells it --------------------------------------------------------------------------------------- */

static void start(struct rank *rank, int number, uint32_t wants, const char *job)
{
	int to[2], from[2];
	ck_assert_int_eq(pipe(to), 0);
	ck_assert_int_eq(pipe(from), 0);
	*rank = (struct rank){ .tell = to[1], .hear = from[0], .stage = MEET_COME };
	rank->pid = fork();
	ck_assert_int_ge(rank->pid, 0);
	if (!rank->pid) be_rank(number, wants, job, to[0], from[1]);
	close(to[0]);
	close(from[1]);
}

static bool is_through(const struct rank *rank)
{
	return rank->dead || rank->stage >= MEET_MET;
}

static void order(struct rank *rank, enum order what)
{
	char word = (char)what;
	unsigned char answer[2];
	if (rank->dead || (what != END_PROGRAM && is_through(rank))) return;
	made_hold(write(rank->tell, &word, 1) == 1);
	made_hold(read(rank->hear, answer, sizeof answer) == sizeof answer);
	if (what == END_PROGRAM) return;
	rank->stage = (enum meet_stage)answer[0];
	rank->digest = answer[1];
}

static void end(struct rank *rank)
{
	if (rank->pid) {
		kill(rank->pid, SIGKILL);
		waitpid(rank->pid, NULL, 0);
		close(rank->tell);
		close(rank->hear);
	}
	rank->pid = 0;
	rank->dead = true;
}

/* All that are through came to the same; all that live are through. */
static void same_for_all(const struct rank *rank)
{
	const struct rank *first = NULL;
	for (int r = 0; r < RANKS; r++) {
		if (rank[r].stage < MEET_MET) {
			ck_assert_msg(rank[r].dead, "rank %d came to no end", r);
			continue;
		}
		if (!first) first = &rank[r];
		ck_assert_msg(rank[r].stage == first->stage, "rank %d: %d, another: %d", r, (int)rank[r].stage, (int)first->stage);
		ck_assert_uint_eq(rank[r].digest, first->digest);
	}
}

static unsigned named(void)
{
	unsigned n = 0;
	DIR *folder = opendir("/dev/shm");
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		unsigned layout, user;
		unsigned long long space, launcher;
		n += sscanf(entry->d_name, "nsched-board-%u-%u-%llx-%llx-", &layout, &user, &space, &launcher) == 4 && board_owner_pid(launcher) == getpid();
	}
	if (folder) closedir(folder);
	return n;
}

/* What is left of a meeting that was not completed goes with the launcher, which we are. */
static void clear(const char *job)
{
	struct board *board;
	if (board_meet(&(struct board_key){ getpid(), job }, RANKS, &board) < 0) return;
	board_unlink(board);
	board_leave(board, false);
}

/* ---- orders --------------------------------------------------------------------------------------------------- */

enum fate { WAITS, DIES, ENDS, COMES_AGAIN, FATES };

/* Who told, died, and came again after the others had met is too late for them, and meets nobody. */
static bool forget_if_too_late(struct rank *rank)
{
	if (rank->stage != MEET_ALONE) return false;
	end(rank);
	rank->stage = MEET_COME;
	return true;
}

/* One rank gets so many steps far, and then waits, dies, or is through with its program (if it has met), before the others go on: one after the
 * other, or in turns. */
static void one_is_apart(int steps, enum fate fate, bool in_turns, int who)
{
	struct rank rank[RANKS];
	char job[64];
	snprintf(job, sizeof job, "apart-%d-%d-%d-%d", steps, (int)fate, in_turns, who);
	for (int r = 0; r < RANKS; r++) start(&rank[r], r, 1, job);
	/* the others have told before, so that the one can get to the end */
	for (int r = 0; r < RANKS; r++)
		for (int i = 0; r != who && i < MEET_WAIT; i++) order(&rank[r], STEP);
	for (int i = 0; i < steps; i++) order(&rank[who], STEP);
	if (fate == ENDS && rank[who].stage == MEET_MET) order(&rank[who], END_PROGRAM);
	if (fate == DIES || fate == ENDS || fate == COMES_AGAIN) {
		struct rank was = rank[who];
		end(&rank[who]);
		if (fate == COMES_AGAIN && was.stage < MEET_MET) start(&rank[who], who, 99, job);   /* `nsched run a || nsched run b` */
	}
	for (int k = 0; k < ENOUGH * RANKS; k++) {
		int r = in_turns ? k % RANKS : k / ENOUGH, i = in_turns ? k / RANKS : k % ENOUGH;
		if (r != who) order(&rank[r], i < ENOUGH / 2 ? STEP : LATE);
	}
	for (int i = 0; i < ENOUGH; i++) order(&rank[who], i < ENOUGH / 2 ? STEP : LATE);
	bool too_late = fate == COMES_AGAIN && forget_if_too_late(&rank[who]);
	same_for_all(rank);
	for (int r = 0; r < RANKS; r++)
		if (rank[r].stage == MEET_MET && !too_late) ck_assert_uint_eq(named(), 0);
	for (int r = 0; r < RANKS; r++) end(&rank[r]);
	clear(job);
}

START_TEST(apart)
{
	for (int steps = 0; steps <= STEPS; steps++)
		for (int who = 0; who < RANKS; who++) one_is_apart(steps, (enum fate)(_i / 2), _i % 2, who);
}
END_TEST

/* Any order, with deaths and ends in between. */
START_TEST(shuffled)
{
	struct dice dice = { (uint64_t)_i + 1 };
	struct rank rank[RANKS];
	bool again[RANKS] = { false };
	char job[64];
	snprintf(job, sizeof job, "shuffled-%d", _i);
	for (int r = 0; r < RANKS; r++) start(&rank[r], r, 1, job);
	for (int i = 0; i < ENOUGH * RANKS; i++) {
		struct rank *one = &rank[dice_below(&dice, RANKS)];
		unsigned what = (unsigned)dice_below(&dice, 64);
		bool late = i > ENOUGH || what < 4;
		if (what == 63 && _i % 2) {
			bool met = one->stage == MEET_MET;
			end(one);
			again[one - rank] = _i % 4 == 1 && !met;
			if (again[one - rank]) start(one, (int)(one - rank), 99, job);
		}
		else if (what > 50 && one->stage == MEET_MET && !one->dead) order(one, END_PROGRAM), end(one);
		else order(one, late ? LATE : STEP);
	}
	for (int r = 0; r < RANKS; r++)
		for (int i = 0; i < ENOUGH; i++) order(&rank[r], LATE);
	for (int r = 0; r < RANKS; r++)
		if (again[r]) forget_if_too_late(&rank[r]);
	same_for_all(rank);
	for (int r = 0; r < RANKS; r++) end(&rank[r]);
	clear(job);
}
END_TEST

START_TEST(all_meet)
{
	struct rank rank[RANKS];
	for (int r = 0; r < RANKS; r++) start(&rank[r], r, 1, "all");
	for (int i = 0; i < ENOUGH; i++)
		for (int r = 0; r < RANKS; r++) order(&rank[r], STEP);
	same_for_all(rank);
	ck_assert_int_eq(rank[0].stage, MEET_MET);
	ck_assert_uint_eq(named(), 0);
	for (int r = 0; r < RANKS; r++) end(&rank[r]);
}
END_TEST

/* One that never comes. */
START_TEST(one_is_missing)
{
	struct rank rank[RANKS];
	for (int r = 0; r < RANKS; r++) start(&rank[r], r, 1, "missing");
	end(&rank[1]);
	for (int i = 0; i < ENOUGH; i++)
		for (int r = 0; r < RANKS; r++) order(&rank[r], STEP);
	ck_assert_int_eq(rank[0].stage, MEET_WAIT);
	order(&rank[2], LATE);
	for (int i = 0; i < ENOUGH; i++)
		for (int r = 0; r < RANKS; r++) order(&rank[r], STEP);
	same_for_all(rank);
	ck_assert_int_eq(rank[0].stage, MEET_ALONE);
	for (int r = 0; r < RANKS; r++) end(&rank[r]);
	clear("missing");
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, all_meet);
	tcase_add_test(tcase, one_is_missing);
	tcase_add_loop_test(tcase, apart, 0, FATES * 2);
	tcase_add_loop_test(tcase, shuffled, 0, SHUFFLES);
}

int main(void)
{
	return made_main("meeting", add);
}
