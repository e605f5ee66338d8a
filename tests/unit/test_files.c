/* Files that we write, without harm: what is there already, signals that writing raises, a table of open files of our own. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made.h"
#include "sys/files.h"
#include "sys/own_file.h"
#include "sys/quiet.h"

static char folder[64];

static const char *in_folder(const char *name)
{
	static char path[2][128];
	static unsigned turn;
	char *p = path[turn++ % 2];
	snprintf(p, sizeof *path, "%s/%s", folder, name);
	return p;
}

static void write_text(const char *name, const char *text)
{
	FILE *out = fopen(in_folder(name), "we");
	ck_assert_ptr_nonnull(out);
	ck_assert(fputs(text, out) >= 0 && !fclose(out));
}

static void setup(void)
{
	snprintf(folder, sizeof folder, "/tmp/nsched-files.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	write_text("empty", "");
	write_text("ours", "ours, and more");
	write_text("foreign", "not yours");
	ck_assert(!mkfifo(in_folder("pipe"), 0600) && !mkdir(in_folder("folder"), 0700));
	ck_assert(!symlink("foreign", in_folder("link")) && !symlink("nothing", in_folder("dangling")) && !symlink("ours", in_folder("good-link")));
}

static void teardown(void)
{
	static const char *const names[] = { "new", "empty", "ours", "foreign", "pipe", "link", "dangling", "good-link", "nothing" };
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) unlink(in_folder(names[i]));
	rmdir(in_folder("folder"));
	rmdir(folder);
}

static bool is_ours(const char *begin, size_t bytes)
{
	return bytes >= 4 && !memcmp(begin, "ours", 4);
}

static const struct existing {
	const char *name;
	bool over;
	int error;
} existing[] = {
	{ "new", false, 0 }, { "empty", false, 0 }, { "ours", false, 0 }, { "good-link", false, 0 }, { "foreign", false, -EEXIST }, { "foreign", true, 0 },
	{ "link", false, -EEXIST }, { "link", true, 0 }, { "dangling", false, -ENOENT }, { "dangling", true, -ENOENT }, { "folder", false, -EISDIR },
	{ "folder", true, -EISDIR }, { "pipe", false, -ENXIO }, { "pipe", true, -ENXIO }, { "folder/none/x", false, -ENOENT },
};

START_TEST(what_is_there)
{
	const struct existing *c = &existing[_i];
	struct stat st;
	int fd = own_file_open(in_folder(c->name), c->over, _i % 2, is_ours);
	ck_assert_msg(c->error ? fd == c->error : fd >= 0, "%s: %d", c->name, fd);
	ck_assert(access(in_folder("nothing"), F_OK) != 0);   /* never made through a link */
	if (fd < 0) {
		ck_assert(!stat(in_folder("foreign"), &st) && st.st_size == 9);
		return;
	}
	ck_assert(!fstat(fd, &st) && st.st_size == 0);
	ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	ck_assert_int_eq(write(fd, "x", 1), 1);
	close(fd);
}
END_TEST

START_TEST(devices)
{
	int fd = own_file_open("/dev/null", false, true, is_ours);
	ck_assert_int_ge(fd, 0);
	close(fd);
	fd = own_file_open("/dev/full", false, false, is_ours);
	ck_assert_int_ge(fd, 0);
	ck_assert(write(fd, "x", 1) < 0 && errno == ENOSPC);
	close(fd);
}
END_TEST

/* A pipe with a reader is written to, and its reader gets it. */
START_TEST(pipe_with_reader)
{
	char byte = 0;
	int reader = open(in_folder("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC), fd = own_file_open(in_folder("pipe"), false, false, is_ours);
	ck_assert(reader >= 0 && fd >= 0);
	ck_assert_int_eq(write(fd, "x", 1), 1);
	ck_assert_int_eq(read(reader, &byte, 1), 1);
	close(fd);
	close(reader);
}
END_TEST

START_TEST(two_writers)
{
	int first = own_file_open(in_folder("new"), false, true, is_ours);
	ck_assert_int_ge(first, 0);
	ck_assert_int_eq(own_file_open(in_folder("new"), true, true, is_ours), -EBUSY);
	close(first);
}
END_TEST

/* ---- signals -------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t signals;

static void count(int signal)
{
	(void)signal;
	signals++;
}

/* One that was pending before stays, and is the program's. */
START_TEST(no_signals)
{
	struct rlimit none = { 0, RLIM_INFINITY }, before;
	struct quiet quiet;
	sigset_t blocked, old, pending;
	int ends[2];
	signals = 0;
	signal(SIGPIPE, count);
	signal(SIGXFSZ, count);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPIPE);
	if (_i) {
		pthread_sigmask(SIG_BLOCK, &blocked, &old);
		raise(SIGPIPE);
	}
	ck_assert(!pipe(ends) && !close(ends[0]) && !getrlimit(RLIMIT_FSIZE, &before));
	int fd = open(in_folder("empty"), O_WRONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	setrlimit(RLIMIT_FSIZE, &none);       /* from here on nothing is asserted: that writes into a file, too */
	quiet_begin(&quiet);
	bool no_reader = write(ends[1], "x", 1) < 0 && errno == EPIPE, too_long = write(fd, "x", 1) < 0 && errno == EFBIG;
	errno = ENOTTY;
	quiet_end(&quiet);
	bool kept = errno == ENOTTY;
	setrlimit(RLIMIT_FSIZE, &before);
	ck_assert(no_reader && too_long && kept);
	ck_assert(!sigpending(&pending) && sigismember(&pending, SIGPIPE) == _i && !sigismember(&pending, SIGXFSZ));
	if (_i) pthread_sigmask(SIG_SETMASK, &old, NULL);
	ck_assert_int_eq(signals, _i);
	raise(SIGXFSZ);                       /* and they come again */
	ck_assert_int_eq(signals, _i + 1);
	close(fd);
	close(ends[1]);
}
END_TEST

/* ---- a table of its own ------------------------------------------------------------------------------------------ */

static struct { int theirs, ours; bool apart; } apart;

static void *helper(void *arg)
{
	(void)arg;
	apart.apart = files_apart();
	if (!apart.apart) return NULL;
	ck_assert(files_are_own());
	ck_assert_int_eq(fcntl(apart.theirs, F_GETFD), -1);
	for (int i = 0; i < 3; i++) ck_assert_int_eq(fcntl(i, F_GETFD) >= 0, 1);
	apart.ours = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(apart.ours, 3);
	if (!fork()) {                        /* a child of this thread: what it has is its own, nothing is closed that is not */
		files_close(apart.theirs);
		_exit(fcntl(apart.theirs, F_GETFD) == -1 && errno == EBADF ? 0 : 1);
	}
	return NULL;
}

START_TEST(own_table)
{
	pthread_t thread;
	int status;
	apart.theirs = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert(!pthread_create(&thread, NULL, helper, NULL) && !pthread_join(thread, NULL));
	if (!apart.apart) return;             /* a kernel before 5.9 */
	ck_assert(wait(&status) > 0 && !status);
	ck_assert(!files_are_own());
	files_close(apart.theirs);            /* of another table, as far as it knows: left alone */
	ck_assert_int_ge(fcntl(apart.theirs, F_GETFD), 0);
	files_together();
	files_close(apart.theirs);
	ck_assert_int_eq(fcntl(apart.theirs, F_GETFD), -1);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, setup, teardown);
	made_loop(tcase, what_is_there, existing);
	tcase_add_test(tcase, devices);
	tcase_add_test(tcase, pipe_with_reader);
	tcase_add_test(tcase, two_writers);
	tcase_add_loop_test(tcase, no_signals, 0, 2);
	tcase_add_test(tcase, own_table);
}

int main(void)
{
	return made_main("files", add);
}
