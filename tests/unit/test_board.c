/* Boards: who gets in, whose a slot is, what is left of a writer that died, and what is swept. */
#include "sys/board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board_apart.h"
#include "made.h"
#include "sys/board_map.h"

enum { RANKS = 3 };

char board_apart_folder[] = "/dev/shm/nsched-test.XXXXXX";

/* Boards of this user that have a name. */
static unsigned named(void)
{
	unsigned n = 0;
	DIR *folder = opendir(board_apart_folder);
	char prefix[64];
	snprintf(prefix, sizeof prefix, "nsched-board-%d-%u-", BOARD_LAYOUT, (unsigned)geteuid());
	for (struct dirent *entry; folder && (entry = readdir(folder));) n += !strncmp(entry->d_name, prefix, strlen(prefix));
	if (folder) closedir(folder);
	return n;
}

static struct board_head head_of(int rank)
{
	return (struct board_head){ .local_rank = rank, .rank = rank, .ranks = RANKS };
}

/* Runs `what` in a child and waits; its exit status. */
static int in_child(int (*what)(void *arg), void *arg)
{
	int status = -1;
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) _exit(what(arg));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int meet_as(void *arg)
{
	struct board *board;
	struct board_key key = { getppid(), "job" };
	struct board_head head = head_of(*(int *)arg);
	if (board_meet(&key, RANKS, &board) != 0) return 1;      /* 0: joined */
	if (board_claim(board, head.local_rank, &head) != head.local_rank) return 2;
	if (board_arrive(board, &(struct board_arrival){ .wants = 7 }) || board_arrive(board, &(struct board_arrival){ .wants = 8 })) return 3;
	board_release(board);
	if (board_arrive(board, &(struct board_arrival){ .wants = 9 }) != -EINVAL) return 4;
	board_leave(board, false);
	return 0;
}

START_TEST(ranks_meet)
{
	struct board *board;
	struct board_key key = { getpid(), "job" };
	struct board_head head = head_of(0), read;
	struct board_arrival arrival;
	int one = 1;
	unsigned before = named();
	ck_assert_int_eq(board_meet(&key, RANKS, &board), 1);
	ck_assert_uint_eq(named(), before + 1);
	ck_assert_uint_eq(board_ranks(board), RANKS);
	ck_assert_int_eq(board_launcher(board), getpid());
	ck_assert_int_eq(board_own(board), -1);
	ck_assert_int_eq(board_claim(board, 0, &head), 0);
	ck_assert_int_eq(board_own(board), 0);
	ck_assert_int_eq(in_child(meet_as, &one), 0);
	/* rank 1 has come, and is gone */
	ck_assert_int_eq(board_read_head(board, 1, &read, NULL), -ENOENT);
	ck_assert_int_eq(board_read_head(board, 0, &read, NULL), 0);
	ck_assert_int_eq(read.ranks, RANKS);
	ck_assert_int_eq(board_read_arrival(board, 1, &arrival), 0);
	ck_assert_uint_eq(arrival.wants, 7);
	ck_assert_int_eq(board_read_arrival(board, 2, &arrival), -ENOENT);
	ck_assert_int_eq(board_read_arrival(board, board_slots(board), &arrival), -ENOENT);
	ck_assert_int_eq(board_end_meeting(board, BOARD_INCOMPLETE), BOARD_INCOMPLETE);
	ck_assert_int_eq(board_end_meeting(board, BOARD_COMPLETE), BOARD_INCOMPLETE);
	board_unlink(board);
	ck_assert_uint_eq(named(), before);
	board_leave(board, false);
	key.launcher = 0;
	ck_assert_int_eq(board_meet(&key, RANKS, &board), -EINVAL);
}
END_TEST

static int claim_taken(void *arg)
{
	struct board_head head = head_of(0);
	struct board *board = arg;
	/* the mapping is the parent's, its slot is not ours */
	if (board_own(board) != -1) return 1;
	if (board_set_head(board, &head) != -EINVAL || board_write(board, BOARD_VIEW, &head, 8) != -EINVAL) return 2;
	if (board_claim(board, 0, &head) != -EBUSY) return 3;
	int slot = board_claim(board, BOARD_NO_RANK, &head);
	return slot == RANKS && board_claim(board, BOARD_NO_RANK, &head) == slot ? 0 : 4;
}

START_TEST(slots_of_live_processes)
{
	struct board *board;
	struct board_key key = { getpid(), "other" };
	struct board_head head = head_of(0);
	ck_assert_int_eq(board_meet(&key, RANKS, &board), 1);
	ck_assert_int_eq(board_claim(board, 0, &head), 0);
	for (int i = 0; i < 2 * BOARD_SPARE_SLOTS; i++) ck_assert_int_eq(in_child(claim_taken, board), 0);   /* the dead ones' are free again */
	board_release(board);
	ck_assert_int_eq(board_own(board), -1);
	board_unlink(board);
	board_leave(board, false);
}
END_TEST

START_TEST(inherited)
{
	struct board *board, *other;
	char word[BOARD_WORD], wrong[BOARD_WORD + 8];
	ck_assert_int_eq(board_make_tree(&board), 0);
	board_word(board, word);
	ck_assert_int_eq(board_attach(word, &other), 0);
	ck_assert_uint_eq(board_slots(other), BOARD_TREE_SLOTS);
	ck_assert_uint_eq(board_ranks(other), 0);
	board_leave(other, false);
	/* still open: it is the first one's */
	ck_assert_int_eq(board_attach(word, &other), 0);
	board_leave(other, false);
	snprintf(wrong, sizeof wrong, "%s0", word);
	ck_assert_int_eq(board_attach(wrong, &other), -ENOENT);
	const char *const words[] = { "", "x", "1:2", "0:1:0", "-1:1:1", "99999:1:1", "1:1:1:1", "500:1:zz" };
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++) ck_assert_int_eq(board_attach(words[i], &other), -ENOENT);
	board_leave(board, false);
	ck_assert_int_eq(board_attach(word, &other), -ENOENT);
}
END_TEST

/* What is no board, or has been one, is refused. */
START_TEST(damaged)
{
	struct board *board, *other;
	char word[BOARD_WORD];
	struct board_header header;
	ck_assert_int_eq(board_make_tree(&board), 0);
	board_word(board, word);
	ck_assert_int_eq(board_pread(board->fd, &header, sizeof header, 0), 0);
	const struct board_header good = header;
	for (int i = 0; i < 5; i++) {
		header = good;
		if (i == 0) header.magic++;
		else if (i == 1) header.layout++;
		else if (i == 2) header.slots = 1u << 30;
		else if (i == 3) header.slots++;
		else header.ranks = header.slots + 1;
		ck_assert_int_eq(board_pwrite(board->fd, &header, sizeof header, 0), 0);
		ck_assert_int_eq(board_attach(word, &other), -ENOENT);
	}
	header = good;
	header.pid_space++;
	ck_assert_int_eq(board_pwrite(board->fd, &header, sizeof header, 0), 0);
	ck_assert_int_eq(board_attach(word, &other), -EXDEV);
	ck_assert_int_eq(ftruncate(board->fd, 4096), -1);   /* sealed: what is mapped stays */
	board_leave(board, false);
}
END_TEST

START_TEST(parts)
{
	struct board *board;
	static struct slot_view view, read;
	uint32_t number = 0;
	ck_assert_int_eq(board_make_tree(&board), 0);
	ck_assert_int_eq(board_write(board, BOARD_VIEW, &view, slot_view_pack(&view)), -EINVAL);
	int own = board_claim(board, BOARD_NO_RANK, NULL);
	ck_assert_int_eq(own, 0);
	ck_assert_int_eq(board_read(board, 0, BOARD_VIEW, &read, sizeof read, NULL), 0);
	ck_assert_int_eq(board_read(board, 9999, BOARD_VIEW, &read, sizeof read, NULL), 0);
	view.n_threads = 1;
	view.thread[0] = (struct slot_thread){ .tid = 5, .load = 1 };
	ck_assert_int_eq(board_write(board, BOARD_VIEW, &view, slot_view_pack(&view)), 0);
	ck_assert_int_eq(board_read(board, 0, BOARD_VIEW, &read, sizeof read, &number), (int)slot_view_bytes(&view));
	ck_assert_int_eq(read.thread[0].tid, 5);
	ck_assert_uint_eq(number, 1);
	ck_assert_int_eq(board_read(board, 0, BOARD_VIEW, &read, 100, NULL), -EPROTO);   /* fits, but has to be unpacked */
	ck_assert_int_eq(board_read(board, 0, BOARD_VIEW, &read, 4, NULL), -EPROTO);
	view.n_threads = SLOT_THREADS + 1;
	view.n_chunks = 0;
	ck_assert_int_eq(board_write(board, BOARD_VIEW, &view, sizeof view), 0);   /* as if somebody had scribbled there */
	ck_assert_int_eq(board_read(board, 0, BOARD_VIEW, &read, sizeof read, NULL), -EPROTO);
	ck_assert_int_eq(board_write(board, BOARD_VIEW, &view, 1u << 24), -EINVAL);
	/* one that dies while it writes */
	atomic_fetch_add(&board->cell[0].part[BOARD_VIEW].seq, 1);
	ck_assert_int_eq(board_read(board, 0, BOARD_VIEW, &read, sizeof read, NULL), -EAGAIN);
	atomic_fetch_add(&board->cell[0].head_seq, 1);
	struct board_head head;
	ck_assert_int_eq(board_read_head(board, 0, &head, NULL), -EAGAIN);
	atomic_store(&board->cell[0].owner, 12345);   /* a process that is long gone */
	ck_assert_int_eq(board_read_head(board, 0, &head, NULL), -ENOENT);
	head = head_of(2);
	ck_assert_int_eq(board_claim(board, 0, &head), 0);
	ck_assert_int_eq(board_read_head(board, 0, &head, NULL), 0);
	ck_assert_int_eq(board_read(board, 0, BOARD_VIEW, &read, sizeof read, NULL), 0);
	board_leave(board, false);
}
END_TEST

START_TEST(machines)
{
	struct board *board;
	struct dice dice = { (uint64_t)_i + 1 };
	struct machine machine, read;
	made_random_machine(&machine, &dice);
	ck_assert_int_eq(board_make_tree(&board), 0);
	ck_assert_int_eq(board_read_machine(board, &read), -EAGAIN);
	ck_assert_int_eq(board_take_machine(board), 1);
	ck_assert_int_eq(board_take_machine(board), 1);
	ck_assert_int_eq(board_write_machine(board, &machine), 0);
	ck_assert_int_eq(board_take_machine(board), 0);
	ck_assert_int_eq(board_read_machine(board, &read), 0);
	ck_assert_uint_eq(read.n_cpus, machine.n_cpus);
	ck_assert_mem_eq(read.cpu, machine.cpu, machine.n_cpus * sizeof *machine.cpu);
	ck_assert_mem_eq(read.node, machine.node, sizeof machine.node);
	machine_free(&read);
	/* scribbled over: refused, or a machine that holds together */
	for (unsigned k = 0; k < 200; k++) {
		unsigned char byte = (unsigned char)dice_next(&dice);
		off_t at = board_machine_offset(board->slots) + (off_t)dice_below(&dice, sizeof(struct machine) + 64);
		made_hold(board_pwrite(board->fd, &byte, 1, at) == 0);
		int ret = board_read_machine(board, &read);
		const char *why;
		made_hold(ret == -ENODEV || ret == 0);
		if (!ret) {
			made_hold(!machine_check(&read, &why));
			machine_free(&read);
		}
	}
	ck_assert_int_eq(board_write_machine(board, NULL), 0);
	ck_assert_int_eq(board_read_machine(board, &read), -ENODEV);
	machine_free(&machine);
	board_leave(board, false);
}
END_TEST

static int leave_one_behind(void *arg)
{
	struct board *board;
	struct board_key key = { getpid(), arg };
	return board_meet(&key, RANKS, &board) == 1 ? 0 : 1;
}

START_TEST(dead_launchers_are_swept)
{
	struct board *board;
	struct board_key key = { getpid(), "alive" };
	board_sweep();
	unsigned before = named();
	ck_assert_int_eq(board_meet(&key, RANKS, &board), 1);
	ck_assert_int_eq(in_child(leave_one_behind, (void *)"dead"), 0);
	ck_assert_uint_eq(named(), before + 2);
	ck_assert_int_ge(board_sweep(), 1);
	ck_assert_uint_eq(named(), before + 1);
	board_unlink(board);
	board_leave(board, false);
	/* something else of our user that looks like one, and something that is none of ours */
	char path[64];
	snprintf(path, sizeof path, "%s/nsched-board-of-a-test", board_apart_folder);
	int fd = open(path, O_CREAT | O_RDWR, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	board_sweep();
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(owners)
{
	board_owner self = board_owner_of(getpid());
	ck_assert(self != 0);
	ck_assert_int_eq(board_owner_pid(self), getpid());
	ck_assert(board_owner_alive(self));
	ck_assert(!board_owner_alive(self + (1ull << 22)));   /* the same number, started later */
	ck_assert(!board_owner_alive(0));
	ck_assert(board_owner_of(-1) == 0);
	pid_t pid = fork();
	if (!pid) _exit(0);
	siginfo_t info;
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert(board_owner_of(pid) == 0);   /* dead, not yet fetched */
	waitpid(pid, NULL, 0);
}
END_TEST

/* Who else could make of the name what he likes: a file that others may read, another user's, a link, a folder, a pipe. Refused, and as it
 * was; without waiting for anybody. */
START_TEST(not_ours)
{
	const enum { OPEN_TO_ALL, ANOTHERS, LINK, DANGLING, FOLDER, PIPE } kind = (unsigned)_i;
	struct board *board, *other = NULL;
	struct board_key key = { getpid(), "not ours" };
	struct stat st;
	char path[256];
	ck_assert_int_eq(board_meet(&key, RANKS, &board), 1);
	ck_assert(!fstat(board->fd, &st));
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_uint_eq(st.st_uid, geteuid());
	snprintf(path, sizeof path, "%s/%s", board_apart_folder, board->header->name);
	if (kind > ANOTHERS) ck_assert_int_eq(unlink(path), 0);
	switch (kind) {
	case OPEN_TO_ALL: ck_assert_int_eq(chmod(path, 0660), 0); break;
	case ANOTHERS:
		if (chown(path, 65534, 65534)) ck_assert_int_eq(chmod(path, 0604), 0);   /* root alone can */
		break;
	case LINK: ck_assert_int_eq(symlink("/dev/null", path), 0); break;
	case DANGLING: ck_assert_int_eq(symlink("/dev/shm/nsched-test-nothing", path), 0); break;
	case FOLDER: ck_assert_int_eq(mkdir(path, 0700), 0); break;
	case PIPE: ck_assert_int_eq(mkfifo(path, 0600), 0); break;
	}
	int ret = board_meet(&key, RANKS, &other);
	ck_assert_msg(ret < 0 && !other, "%d: %d", _i, ret);
	ck_assert(access("/dev/shm/nsched-test-nothing", F_OK) != 0);
	ck_assert(!lstat(path, &st));                     /* nor was it taken away */
	ck_assert(!(kind == FOLDER ? rmdir(path) : unlink(path)));
	board_leave(board, false);
}
END_TEST

/* A program of its own, as launchers are: where it was loaded is chosen anew. */
static pid_t launcher(void)
{
	int ends[2];
	char byte;
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (!pid) {
		execlp("sleep", "sleep", "20", NULL);
		_exit(127);
	}
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &byte, 1), 0);   /* closed by the exec */
	close(ends[0]);
	return pid;
}

/* The last word of a name is a hash with the launcher's secret in it: of the same job below two launchers it differs. */
START_TEST(names)
{
	struct board *board[2];
	char word[2][32];
	pid_t pid[2];
	for (int i = 0; i < 2; i++) {
		pid[i] = launcher();
		struct board_key key = { pid[i], "names" };
		ck_assert_int_ge(board_meet(&key, RANKS, &board[i]), 0);
		const char *last = strrchr(board[i]->header->name, '-');
		ck_assert_ptr_nonnull(last);
		snprintf(word[i], sizeof word[i], "%s", last + 1);
		ck_assert_uint_eq(strlen(word[i]), 12);
	}
	ck_assert_str_ne(word[0], word[1]);
	for (int i = 0; i < 2; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
		board_unlink(board[i]);
		board_leave(board[i], false);
	}
}
END_TEST

/* A live process takes our slots and gives signs of life: whether it lives is asked of /proc no more often than it has to be, and its
 * end is seen all the same, whatever stands on the board. */
START_TEST(signs_of_life)
{
	struct board *board;
	struct board_key key = { getpid(), "job" };
	struct board_head head = head_of(0), read;
	const uint64_t ms = 1000000, begin = 1000000 * ms;
	int one = 1;
	ck_assert_int_eq(board_meet(&key, RANKS, &board), 1);
	ck_assert_int_eq(board_claim(board, 0, &head), 0);
	ck_assert_int_eq(in_child(meet_as, &one), 0);      /* rank 1's cell has been written */
	pid_t pid = fork();
	if (!pid) {
		alarm(60);
		pause();
		_exit(0);
	}
	struct board_cell *cell = &board->cell[1];
	board_owner owner = board_owner_of(pid);
	atomic_store(&cell->owner, owner);
	ck_assert_int_eq(board_read_head(board, 1, &read, NULL), 0);
	ck_assert(board_is_taken(board, 1));
	board_beat(board, begin);
	ck_assert_int_eq(board_read_head(board, 1, &read, NULL), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert(!board_is_taken(board, 1));
	ck_assert(!board_is_taken(board, 2));
	ck_assert(!board_is_taken(board, board_slots(board)));
	/* seen just now */
	board_beat(board, begin + (BOARD_SEEN_MS - 1) * ms);
	ck_assert_int_eq(board_read_head(board, 1, &read, NULL), 0);
	/* it has lived since, by its own word */
	atomic_store(&cell->beat_ns, begin + 1000 * ms);
	board_beat(board, begin + (BOARD_SEEN_MS + 999) * ms);
	ck_assert_int_eq(board_read_head(board, 1, &read, NULL), 0);
	/* a word from the future is none */
	atomic_store(&cell->beat_ns, UINT64_MAX);
	board_beat(board, begin + (BOARD_SEEN_MS + 1000) * ms);
	ck_assert_int_eq(board_read_head(board, 1, &read, NULL), -ENOENT);
	/* nor is anything believed of one that was not seen alive */
	atomic_store(&cell->beat_ns, begin + (BOARD_SEEN_MS + 1000) * ms);
	ck_assert_int_eq(board_read_head(board, 1, &read, NULL), -ENOENT);
	/* and one that seems to live for ever is asked for: the slot is of a live process, which then goes */
	pid = fork();
	if (!pid) {
		alarm(60);
		pause();
		_exit(0);
	}
	owner = board_owner_of(pid);
	atomic_store(&cell->owner, owner);
	ck_assert_int_eq(board_read_head(board, 1, &read, NULL), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unsigned seconds = 0;
	do {
		uint64_t now = begin + (BOARD_SEEN_MS + 1000 + ++seconds * 1000) * ms;
		atomic_store(&cell->beat_ns, now);
		board_beat(board, now);
	} while (seconds < 100 && !board_read_head(board, 1, &read, NULL));
	ck_assert_uint_gt(seconds, 10);
	ck_assert_uint_lt(seconds, 100);
	/* somebody else's slot: what was seen of the last one says nothing */
	atomic_store(&cell->owner, owner + (1ull << 22));
	ck_assert_int_eq(board_read_head(board, 1, &read, NULL), -ENOENT);
	board_unlink(board);
	board_leave(board, false);
}
END_TEST

/* A limit on files refuses a write; in a thread with its signal blocked nothing else comes of it. */
START_TEST(limited)
{
	struct board *board;
	struct rlimit before, none = { 0 };
	static struct slot_view view;
	sigset_t all, mask;
	ck_assert_int_eq(board_make_tree(&board), 0);
	ck_assert_int_eq(board_claim(board, BOARD_NO_RANK, NULL), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	none.rlim_max = before.rlim_max;
	if (_i) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &mask);
		board_write_blocked(board);
	}
	/* (Check writes to a file, too) */
	int set = setrlimit(RLIMIT_FSIZE, &none), ret = board_write(board, BOARD_VIEW, &view, slot_view_pack(&view));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_eq(set, 0);
	ck_assert_int_eq(ret, -EFBIG);
	ck_assert_int_eq(board_write(board, BOARD_VIEW, &view, slot_view_pack(&view)), 0);
	board_leave(board, false);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, signs_of_life);
	tcase_add_loop_test(tcase, limited, 0, 2);
	tcase_add_loop_test(tcase, not_ours, 0, 6);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, ranks_meet);
	tcase_add_test(tcase, slots_of_live_processes);
	tcase_add_test(tcase, inherited);
	tcase_add_test(tcase, damaged);
	tcase_add_test(tcase, parts);
	tcase_add_loop_test(tcase, machines, 0, 10);
	tcase_add_test(tcase, dead_launchers_are_swept);
	tcase_add_test(tcase, owners);
}

int main(void)
{
	if (!mkdtemp(board_apart_folder)) return 99;
	int ret = made_main("board", add);
	if (rmdir(board_apart_folder)) {
		printf("boards are left in %s\n", board_apart_folder);
		return 1;
	}
	return ret;
}
