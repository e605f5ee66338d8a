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
#include "libnsched/pure/share.h"
#include "libnsched/sys/board.h"
#include "libnsched/sys/cpulist.h"
#include "libnsched/sys/nodes.h"
#include "libnsched/sys/topo.h"

enum {
	WAIT_MS = 2000,  /* for the others: ranks start within a fraction of a second of each other; who has not come then is not run by us */
	LOOK_MS = 1,
	WORDS = MACHINE_CPUS / 64,
};

struct meeting {
	const struct nsched_config *config;
	struct launcher_job job;
	struct board *board;
	struct machine machine;
	struct board_head own, *head; /* own, and of all local ranks */
	uint64_t *masks;              /* what each rank was given, or has been widened to */
	uint16_t *owner;              /* rank of each CPU of the machine */
	unsigned ranks;
	int widened, jammed;
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

/* ---- the meeting ------------------------------------------------------------------------------------ */

/* The threads that the program was asked to have; 0: not said, or said by us. */
static unsigned wanted_threads(void)
{
	const char *text = environment_is_ours("OMP_NUM_THREADS") ? NULL : getenv("OMP_NUM_THREADS");
	long threads = text == NULL ? 0 : strtol(text, NULL, 10);

	return threads < 1 || threads > MACHINE_CPUS ? 0 : (unsigned)threads;
}

static int arrive(struct meeting *m, int threaded)
{
	struct board_key key = { .launcher = m->job.pid, .job = m->job.job };
	int result = board_meet(&key, m->ranks, &m->board);

	if (result < 0)
		return result;
	m->own = (struct board_head){ .local_rank = m->job.local_rank, .rank = m->job.rank, .ranks = (uint32_t)m->job.ranks,
	                              .wants = wanted_threads() };
	m->own.flags = (threaded ? BOARD_THREADED : 0u) | (m->config->widen ? BOARD_WIDEN | BOARD_ASKED : 0u) |
	               (m->job.default_bound ? BOARD_WIDEN : 0u);
	mask_of(0, &m->own.launch);
	m->own.ceiling = m->own.launch;
	if (board_ranks(m->board) != m->ranks)
		return -EPROTO;
	result = board_claim(m->board, m->job.local_rank, &m->own);
	return result < 0 ? result : 0;
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

/* Those that have come and gone count: a short program may have ended before the last one looks again,
 * and all are to decide alike. */
static int all_there(struct meeting *m)
{
	for (unsigned r = 0; r < m->ranks; r++) {
		if (board_read_arrival(m->board, r, &m->head[r]) < 0)
			return 0;
	}
	return 1;
}

/* Whether all have met, for every one of them alike. */
static int wait_for_all(struct meeting *m)
{
	long end = now_ms() + WAIT_MS;
	int there = all_there(m);

	while (!there && board_meeting(m->board) == BOARD_OPEN && now_ms() < end) {
		rest();
		there = all_there(m);
	}
	if (board_end_meeting(m->board, there ? BOARD_COMPLETE : BOARD_INCOMPLETE) != BOARD_COMPLETE)
		return 0;
	board_unlink(m->board);
	return there || all_there(m); /* the last may have come since we looked */
}

static int get_machine(struct meeting *m)
{
	long end = now_ms() + WAIT_MS;
	int result = board_read_machine(m->board, &m->machine);

	for (; result == -EAGAIN && now_ms() < end; result = board_read_machine(m->board, &m->machine)) {
		offer_machine(m->board); /* if who did it died */
		rest();
	}
	return result < 0 ? topo_load(&m->machine, NULL) : 0;
}

/* ---- the decision: the same for all, from what all have written ---------------------------------------- */

static void join_masks(uint64_t *to, const uint64_t *from)
{
	for (unsigned i = 0; i < WORDS; i++)
		to[i] |= from[i];
}

static unsigned count(const struct cpu_mask *mask)
{
	return cpulist_count(mask);
}

/* A rank with fewer CPUs than the threads it is to have; a program that has threads but was not told
 * how many makes one for each CPU, and one CPU is then surely not what was meant. */
static int is_jammed(const struct board_head *head)
{
	unsigned cpus = count(&head->launch);

	return head->wants > cpus || (head->wants == 0 && cpus == 1 && (head->flags & BOARD_THREADED));
}

/* What the launcher itself may use. One of another user (Slurm's daemon is root's) may use what is not
 * this job's. */
static int launcher_mask(const struct meeting *m, struct cpu_mask *mask)
{
	char path[64];
	struct stat info;

	snprintf(path, sizeof(path), "/proc/%ld", (long)m->job.pid);
	return stat(path, &info) == 0 && info.st_uid == geteuid() && mask_of(m->job.pid, mask) == 0;
}

/* All that the ranks may come to use: what they have, and what the launcher may use of this machine. */
static int wider(const struct meeting *m, const struct cpu_mask *ceiling, struct cpu_mask *wide)
{
	struct cpu_mask machine;

	if (!launcher_mask(m, wide))
		return 0;
	mask_clear(&machine);
	for (unsigned c = 0; c < m->machine.n_cpus; c++)
		mask_add(&machine, m->machine.cpu[c].os);
	for (unsigned i = 0; i < WORDS; i++)
		wide->word[i] &= machine.word[i];
	join_masks(wide->word, ceiling->word);
	return count(wide) > count(ceiling);
}

static void widen(struct meeting *m, struct cpu_mask *ceiling)
{
	struct cpu_mask wide;
	unsigned allowed = 0, asked = 0;

	for (unsigned r = 0; r < m->ranks; r++) {
		allowed += (m->head[r].flags & BOARD_WIDEN) != 0;
		asked += (m->head[r].flags & BOARD_ASKED) != 0;
		m->jammed += is_jammed(&m->head[r]);
	}
	if ((!m->jammed && !asked) || !wider(m, ceiling, &wide)) {
		m->jammed = 0;
		return;
	}
	if (allowed < m->ranks)
		return;
	m->widened = 1;
	*ceiling = wide;
	for (unsigned r = 0; r < m->ranks; r++)
		memcpy(&m->masks[r * WORDS], wide.word, sizeof(wide.word));
}

static void find_share(const struct meeting *m, int rank, struct cpu_mask *share)
{
	mask_clear(share);
	for (unsigned c = 0; c < m->machine.n_cpus; c++) {
		if (m->owner[c] == rank)
			mask_add(share, m->machine.cpu[c].os);
	}
}

/* ---- what follows from it --------------------------------------------------------------------------------- */

/* "0-3, 4-7": what the ranks get, as many as there is room for */
static const char *list_shares(const struct meeting *m, char *text, size_t bytes)
{
	struct cpu_mask share;
	char list[64];
	size_t length = 0;

	for (unsigned r = 0; r < m->ranks; r++) {
		find_share(m, (int)r, &share);
		int more = snprintf(text + length, bytes - length, "%s%s", r > 0 ? ", " : "", cpulist_print(&share, list, sizeof(list)));

		if (length + (size_t)more + sizeof(" ...") > bytes) {
			snprintf(text + length, bytes - length, " ...");
			break;
		}
		length += (size_t)more;
	}
	return text;
}

/* One line for the job, by the first rank of the machine. */
static void say_jam(const struct meeting *m, int verdict)
{
	char shares[256];
	unsigned cpus = count(&m->head[0].launch);
	const char *plural = m->ranks == 1 ? "" : "s", *were = m->ranks == 1 ? "was" : "were", *one = cpus == 1 ? "CPU" : "CPUs";

	if (!m->jammed || m->job.local_rank != 0)
		return;
	if (!m->widened)
		complain("%u rank%s %s bound to %u %s%s for several threads, which may be meant; --widen gives them all that %s may use",
		         m->ranks, plural, were, cpus, one, m->ranks == 1 ? "" : " each", m->job.launcher);
	else if (verdict == SHARE_GIVEN)
		complain("%u rank%s %s bound to %u %s%s for several threads, %s; the CPUs are now %s",
		         m->ranks, plural, were, cpus, one, m->ranks == 1 ? "" : " each",
		         m->job.default_bound ? "by the launcher's default" : "and are to be widened", list_shares(m, shares, sizeof(shares)));
}

/* More ranks than CPUs: they take turns. Runtimes would start a thread for each CPU in each of them,
 * and Open MPI's ranks would wait for each other without giving up the CPU. */
static void make_room(const struct meeting *m)
{
	environment_default("OMP_NUM_THREADS", "1");
	if (strcmp(m->job.launcher, "Open MPI") == 0)
		environment_default("OMPI_MCA_mpi_yield_when_idle", "1");
}

static void take_share(struct meeting *m, int verdict)
{
	struct cpu_mask share;
	char list[256];

	find_share(m, m->job.local_rank, &share);
	if (verdict == SHARE_CROWDED || (verdict == SHARE_GIVEN && count(&share) == 0)) {
		make_room(m);
		return;
	}
	if (verdict != SHARE_GIVEN || mask_equal(&share, &m->own.launch))
		return;
	if (syscall(SYS_sched_setaffinity, 0, sizeof(share), &share) < 0)
		complain("rank %d could not be given CPUs %s: %s", m->job.rank, cpulist_print(&share, list, sizeof(list)), strerror(errno));
	else if (m->config->verbose)
		complain("rank %d, %d of %u on this machine: CPUs %s", m->job.rank, m->job.local_rank, m->ranks,
		         cpulist_print(&share, list, sizeof(list)));
}

static void divide(struct meeting *m)
{
	struct cpu_mask ceiling;
	int verdict;

	mask_clear(&ceiling);
	for (unsigned r = 0; r < m->ranks; r++) {
		memcpy(&m->masks[r * WORDS], m->head[r].launch.word, sizeof(ceiling.word));
		join_masks(ceiling.word, m->head[r].launch.word);
	}
	widen(m, &ceiling);
	m->own.ceiling = ceiling;
	board_set_head(m->board, &m->own);
	m->owner = malloc((m->machine.n_cpus + 1) * sizeof(*m->owner));
	if (m->owner == NULL)
		return;
	verdict = share_masks(&m->machine, m->masks, m->ranks, m->owner);
	if (verdict == SHARE_GIVEN && m->config->shares == SHARES_KEEP && !m->widened)
		verdict = SHARE_OVERLAP;
	/* a rank alone on its machine shares with nobody, but may have been widened */
	if (m->widened && m->ranks == 1) {
		for (unsigned c = 0; c < m->machine.n_cpus; c++)
			m->owner[c] = mask_has(&ceiling, m->machine.cpu[c].os) ? 0 : SHARE_NOBODY;
		verdict = SHARE_GIVEN;
	}
	say_jam(m, verdict);
	take_share(m, verdict);
}

static void join_job(struct meeting *m, int threaded)
{
	long begin = now_ms();
	int result = arrive(m, threaded);

	if (result == 0) {
		m->head = malloc(m->ranks * sizeof(*m->head));
		m->masks = malloc(m->ranks * WORDS * sizeof(*m->masks));
		offer_machine(m->board);
		if (m->head != NULL && m->masks != NULL && wait_for_all(m) && get_machine(m) == 0) {
			divide(m);
			machine_free(&m->machine);
		} else if (m->config->verbose) {
			complain("rank %d did not meet all ranks of this machine: it keeps the CPUs that it has", m->job.rank);
		}
		free(m->head);
		free(m->masks);
		free(m->owner);
	}
	if (m->config->verbose && result == 0)
		complain("rank %d met the others in %ld ms", m->job.rank, now_ms() - begin);
	else if (m->config->verbose)
		complain("no board for the ranks of this machine (%s): each plans alone", strerror(-result));
	if (result == 0)
		hand_on(m->board);
	else
		board_leave(m->board, false);
}

void ranks_prepare(const struct nsched_config *config, int threaded)
{
	static struct meeting m;

	m.config = config;
	launcher_find(&m.job);
	m.ranks = (unsigned)m.job.local_ranks;
	board_sweep();
	if (has_board(&m.job))
		return;
	if (m.ranks > 0)
		join_job(&m, threaded);
	else
		join_tree(config);
}
