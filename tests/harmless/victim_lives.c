/* Things that long-running programs do to themselves: filters, rights, limits, files, masks and policies of their own. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "victim.h"

/* ---- filters and rights -------------------------------------------------------------------------------------------- */

enum { SEE_MASKS = SYS_sched_getaffinity };

static int filter(const int *refused, int n, unsigned flags)
{
	struct sock_filter code[20] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { .len = (unsigned short)(n + 3), .filter = code };
	for (int i = 0; i < n; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refused[i], (unsigned char)(n - i), 0);
	code[n + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) ? errno : 0;
}

/* All that nsched needs is refused in mid-run, in all threads, its own too; then all files as well. */
static int seccomp_later(void)
{
	static const int acting[] = { SYS_perf_event_open, SYS_move_pages, SYS_sched_setaffinity, SEE_MASKS, SYS_timer_create, SYS_timer_settime,
	                              SYS_process_vm_readv, SYS_mbind, SYS_get_mempolicy, SYS_userfaultfd, SYS_madvise };
	static const int files[] = { SYS_openat, SYS_getdents64, SYS_memfd_create };
	work(200);
	int ret = filter(acting, sizeof acting / sizeof *acting, SECCOMP_FILTER_FLAG_TSYNC);
	work(200);
	ret |= filter(files, sizeof files / sizeof *files, SECCOMP_FILTER_FLAG_TSYNC);
	work(200);
	printf("filters: %d\n", ret);
	return 0;
}

static int capabilities(void)
{
	struct { unsigned version; int pid; } header = { 0x20080522, 0 };
	unsigned none[6] = { 0 };
	work(200);
	long ret = syscall(SYS_capset, &header, none);
	work(200);
	printf("%ld\n", ret);
	return 0;
}

/* glibc changes all threads' user by a signal to each: nsched's helper must answer it. */
static int other_user(void)
{
	work(200);
	if (!getuid() && (setgid(65534) || setuid(65534))) return 98;
	work(200);
	printf("%d\n", getuid() == 65534 || getuid() != 0);
	return 0;
}

static int undumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	work(300);
	printf("done\n");
	return 0;
}

/* ---- limits ----------------------------------------------------------------------------------------------------------- */

static int limited(int what, rlim_t value, int ms)
{
	struct rlimit limit = { value, value };
	int ret = setrlimit(what, &limit);
	work(ms);
	printf("limit %d\n", ret);
	return 0;
}

static int no_files(void) { return limited(RLIMIT_NOFILE, 3, 300); }
static int few_files(void) { return limited(RLIMIT_NOFILE, 8, 300); }
static int no_file_bytes(void) { return limited(RLIMIT_FSIZE, 0, 300); }
static int no_memory(void) { return limited(RLIMIT_AS, (rlim_t)400 << 20, 300); }
static int no_locks(void) { return limited(RLIMIT_MEMLOCK, 0, 300); }
static int no_signals(void) { return limited(RLIMIT_SIGPENDING, 0, 300); }

/* ---- files ------------------------------------------------------------------------------------------------------------- */

/* Descriptors are given lowest first, and programs count on it: with nsched at work, these are the same numbers. */
static int lowest_files(void)
{
	int wrong = 0, first = open("/dev/null", O_RDONLY);
	for (int i = 0; i < 400; i++) {
		work(1);
		int fd = open("/dev/null", O_RDONLY);
		wrong += fd != first + 1;
		close(fd);
	}
	printf("first %d, %d wrong\n", first, wrong);
	return 0;
}

/* What daemons do: everything above standard error is closed, whoever it belongs to. The program's own files come after, and stay its own. */
static int close_all(void)
{
	enum { FILES = 600 };
	static int own[FILES];
	int lost = 0;
	work(300);
	for (int fd = 3; fd < 1024; fd++) close(fd);
	for (int i = 0; i < FILES; i++) own[i] = syscall(SYS_memfd_create, "own", 0);
	for (int i = 0; i < FILES; i++) lost += own[i] < 0 || write(own[i], "mine", 4) != 4;
	work(300);
	for (int i = 0; i < FILES; i++) {
		char text[8] = "";
		struct stat st;
		lost += fstat(own[i], &st) || st.st_size != 4 || pread(own[i], text, 8, 0) != 4 || memcmp(text, "mine", 4);
	}
	printf("lost %d\n", lost);
	return 0;
}

static int no_standard_files(void)
{
	int result = dup(STDOUT_FILENO), before[3];
	close(0), close(1), close(2);
	work(300);
	for (int i = 0; i < 3; i++) before[i] = open("/dev/null", O_RDWR);
	dprintf(result, "%d %d %d\n", before[0], before[1], before[2]);
	return 0;
}

/* ---- masks and policies of its own ---------------------------------------------------------------------------------------- */

/* A thread that binds itself reads back what it asked for, and so it stays. */
static void *bind_self(void *arg)
{
	long *wrong = arg;
	cpu_set_t own, now;
	for (int i = 0; i < 300; i++) {
		CPU_ZERO(&own);
		int k = 0, nth = i / 10 % CPU_COUNT(&victim_mask);
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &victim_mask) && k++ == nth) CPU_SET(cpu, &own);
		if (i % 10 == 0) sched_setaffinity(0, sizeof own, &own);
		usleep(1000);
		sched_getaffinity(0, sizeof now, &now);
		*wrong += !CPU_EQUAL(&now, &own);
	}
	return NULL;
}

static int own_masks(void)
{
	pthread_t thread;
	long wrong = 0;
	work(100);
	pthread_create(&thread, NULL, bind_self, &wrong);
	work(400);
	pthread_join(thread, NULL);
	printf("%ld wrong\n", wrong);
	return 0;
}

static int own_policy(void)
{
	enum { INTERLEAVE = 3, DEFAULT = 0 };
	long wrong = 0;
	for (int i = 0; i < 60; i++) {
		unsigned long nodes = 1;
		int policy = -1, want = i % 2 ? INTERLEAVE : DEFAULT;
		syscall(SYS_set_mempolicy, want, want ? &nodes : NULL, want ? 64 : 0);
		work(5);
		wrong += syscall(SYS_get_mempolicy, &policy, NULL, 0, NULL, 0) || policy != want;
	}
	printf("%ld wrong\n", wrong);
	return 0;
}

/* The program changes its names; nsched changes none but its helper's. */
static int names(void)
{
	char name[32] = "";
	pthread_setname_np(pthread_self(), "the victim");
	work(200);
	pthread_getname_np(pthread_self(), name, sizeof name);
	printf("%s\n", name);
	return 0;
}

/* ---- many threads, and short lives ------------------------------------------------------------------------------------------ */

static void *count_up(void *arg)
{
	for (int i = 0; i < 200000; i++) __sync_fetch_and_add((long *)arg, i & 1);
	return NULL;
}

static int thousand(void)
{
	enum { N = 1024 };
	static pthread_t thread[N];
	pthread_attr_t small;
	int made = 0;
	long sum = 0;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (; made < N; made++)
		if (pthread_create(&thread[made], &small, count_up, &sum)) break;
	work(50);
	for (int i = 0; i < made; i++) pthread_join(thread[i], NULL);
	printf("%d threads, %ld\n", made, sum);
	return 0;
}

/* Threads that come and go faster than anybody looks: some die between a plan and its binding. */
static void *short_life(void *arg)
{
	for (volatile int i = 0; i < 100000; i++) { }
	return arg;
}

static int short_lives(void)
{
	int lived = 0;
	for (int i = 0; i < 100; i++) {
		pthread_t thread[8];
		work(1);
		for (int k = 0; k < 8; k++) pthread_create(&thread[k], NULL, short_life, NULL);
		for (int k = 0; k < 8; k++) lived += !pthread_join(thread[k], NULL);
	}
	printf("%d lived\n", lived);
	return 0;
}

static void *cancelled(void *arg)
{
	for (;;) usleep(1000);
	return arg;
}

static int cancels(void)
{
	int ended = 0;
	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		void *result = NULL;
		pthread_create(&thread, NULL, cancelled, NULL);
		work(2);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		ended += result == PTHREAD_CANCELED;
	}
	printf("%d cancelled\n", ended);
	return 0;
}

static int kept_errno(void)
{
	int changed = 0;
	for (int i = 0; i < 100; i++) {
		errno = ENOTTY;
		work(2);
		changed += errno != ENOTTY;
	}
	printf("errno changed %d times\n", changed);
	return 0;
}

const struct victim_case victim_lives[] = {
	{ "seccomp", seccomp_later }, { "capabilities", capabilities }, { "setuid", other_user }, { "undumpable", undumpable },
	{ "no_files", no_files }, { "few_files", few_files }, { "no_file_bytes", no_file_bytes }, { "no_memory", no_memory },
	{ "no_locks", no_locks }, { "no_signals", no_signals }, { "lowest_files", lowest_files }, { "close_all", close_all },
	{ "no_standard_files", no_standard_files }, { "own_masks", own_masks }, { "own_policy", own_policy }, { "names", names },
	{ "thousand", thousand }, { "short_lives", short_lives }, { "cancel", cancels }, { "errno", kept_errno }, { NULL, NULL },
};
