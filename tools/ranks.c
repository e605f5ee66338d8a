#define _GNU_SOURCE
#include "ranks.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "environment.h"
#include "launcher.h"
#include "libnsched/sys/board.h"
#include "libnsched/sys/nodes.h"
#include "libnsched/sys/topo.h"
#include "ranks_decide.h"
#include "ranks_follow.h"
#include "ranks_meet.h"

enum {
	WAIT_MS = 2000,  /* for the others: ranks start within a fraction of a second of each other; who has not come then is not run by us */
	LOOK_MS = 1,
};

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void rest(void)
{
	struct timespec look = { 0, LOOK_MS * 1000000 };

	nanosleep(&look, NULL);
}

static int mask_of(pid_t pid, struct cpu_mask *mask)
{
	mask_clear(mask);
	return syscall(SYS_sched_getaffinity, pid, sizeof(*mask), mask) < 0 ? -errno : 0;
}

/* ---- a tree of processes -------------------------------------------------------------------------- */

static void hand_on(struct board *board)
{
	char word[BOARD_WORD];

	if (setenv("NSCHED_BOARD", board_word(board, word), 1) == 0)
		board_leave(board, true);
	else
		board_leave(board, false);
}

static void join_tree(const struct nsched_config *config)
{
	struct board *board;
	int result;

	if (!nodes_to_choose("", NULL))
		return;
	result = board_make_tree(&board);
	if (result == 0)
		hand_on(board);
	else if (config->verbose)
		complain("no board for this process and its children (%s): each plans alone", strerror(-result));
}

/* Has an `nsched run` further up done all this? Its board is ours, unless it was of another job. */
static int has_board(const struct launcher_job *job)
{
	const char *word = getenv("NSCHED_BOARD");
	struct board *board;
	int same;

	if (word == NULL || board_attach(word, &board) < 0) {
		unsetenv("NSCHED_BOARD");
		return 0;
	}
	same = job->local_ranks == 0 || (board_ranks(board) > 0 && board_launcher(board) == job->pid);
	if (same)
		hand_on(board);
	else
		board_leave(board, false);
	return same;
}

/* ---- the ranks of a job ------------------------------------------------------------------------------ */

/* The threads that the program was asked to have; 0: not said, or said by us. */
static unsigned wanted_threads(void)
{
	const char *text = environment_is_ours("OMP_NUM_THREADS") ? NULL : getenv("OMP_NUM_THREADS");
	long threads = text == NULL ? 0 : strtol(text, NULL, 10);

	return threads < 1 || threads > MACHINE_CPUS ? 0 : (unsigned)threads;
}

/* What the launcher itself may use. One of another user (Slurm's daemon is root's) may use what is not
 * this job's. */
static void launcher_mask(pid_t pid, struct cpu_mask *mask)
{
	char path[64];
	struct stat info;

	snprintf(path, sizeof(path), "/proc/%ld", (long)pid);
	if (stat(path, &info) != 0 || info.st_uid != geteuid() || mask_of(pid, mask) < 0)
		mask_clear(mask);
}

static void introduce(struct meet *m, const struct nsched_config *config, const struct launcher_job *job, int threaded)
{
	*m = (struct meet){ .key = { .launcher = job->pid, .job = job->job }, .ranks = (unsigned)job->local_ranks };
	m->head = (struct board_head){ .local_rank = job->local_rank, .rank = job->rank, .ranks = (uint32_t)job->ranks };
	m->own.wants = wanted_threads();
	m->own.flags = (threaded ? BOARD_THREADED : 0u) | (config->widen ? BOARD_WIDEN | BOARD_ASKED : 0u) |
	               (job->default_bound ? BOARD_WIDEN : 0u) | (config->shares == SHARES_KEEP ? BOARD_KEEP : 0u);
	mask_of(0, &m->own.launch);
	launcher_mask(job->pid, &m->own.launcher);
	m->head.ceiling = m->own.launch;
}

/* One loads the topology, while the others are still coming. */
static void offer_machine(struct board *board)
{
	struct machine machine;

	if (!board_take_machine(board))
		return;
	int loaded = topo_load(&machine, NULL) == 0;

	board_write_machine(board, loaded ? &machine : NULL);
	if (loaded)
		machine_free(&machine);
}

static enum meet_stage meet_all(struct meet *m)
{
	while (m->stage < MEET_WAIT)
		meet_step(m, 0);
	if (m->stage == MEET_WAIT)
		offer_machine(m->board);
	for (long end = now_ms() + WAIT_MS; m->stage < MEET_MET;) {
		if (meet_step(m, now_ms() >= end) == MEET_WAIT)
			rest();
	}
	return m->stage;
}

static int get_machine(struct board *board, struct machine *machine)
{
	long end = now_ms() + WAIT_MS;
	int result = board_read_machine(board, machine);

	for (; result == -EAGAIN && now_ms() < end; result = board_read_machine(board, machine)) {
		offer_machine(board); /* if who did it died */
		rest();
	}
	return result < 0 ? topo_load(machine, NULL) : 0;
}

/* The ceiling is for the session in the program. */
static void divide(struct meet *m, const struct machine *machine, const struct nsched_config *config, const struct launcher_job *job)
{
	struct decision decision;
	struct follow follow = { .config = config, .job = job, .machine = machine, .decision = &decision, .first = &m->all[0],
	                         .launch = &m->own.launch, .ranks = m->ranks };

	if (ranks_decide(m->all, m->ranks, machine, &decision) == 0) {
		m->head.ceiling = decision.ceiling;
		board_set_head(m->board, &m->head);
		ranks_follow(&follow);
	}
	free(decision.owner);
}

static void join_job(const struct nsched_config *config, const struct launcher_job *job, int threaded)
{
	struct machine machine;
	struct meet m;
	long begin = now_ms();

	introduce(&m, config, job, threaded);
	if (meet_all(&m) == MEET_MET && get_machine(m.board, &machine) == 0) {
		divide(&m, &machine, config, job);
		machine_free(&machine);
	} else if (m.error == 0 && config->verbose) {
		complain("rank %d did not meet all ranks of this machine: it keeps the CPUs that it has", job->rank);
	}
	if (config->verbose && m.error == 0)
		complain("rank %d met the others in %ld ms", job->rank, now_ms() - begin);
	else if (config->verbose)
		complain("no board for the ranks of this machine (%s): each plans alone", strerror(-m.error));
	if (m.error == 0)
		hand_on(m.board);
	else
		board_leave(m.board, false);
	free(m.all);
}

void ranks_prepare(const struct nsched_config *config, int threaded)
{
	struct launcher_job job;

	launcher_find(&job);
	board_sweep();
	if (has_board(&job))
		return;
	if (job.local_ranks > 0)
		join_job(config, &job, threaded);
	else
		join_tree(config);
}
