/* In the steady state a parallel region costs no system call. Each case runs in a child: after some rounds
 * a seccomp filter turns every system call of its thread into a signal, the rounds go on, and the signals
 * are counted. It knows the plugin's entry and the public API only, and so runs with any libnsched.
 * Exits 77 (skipped), with the reason, where nsched stands aside or the kernel has no seccomp. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nsched.h>

#include "made_up.h"

#ifndef MADE_UP_RUNTIME
#define MADE_UP_RUNTIME "tests/plugin/.libs/libomp_made_up.so"
#endif
#ifndef SMALL_TOOL
#define SMALL_TOOL "tests/plugin/.libs/small_tool.so"
#endif

enum { SKIPPED = 77, ROUNDS = 20000 };

/* A real scheduler places threads and pages in its first steps; the recording one has nothing to settle. */
static double settle_s = 0.3;

static struct shared {
	volatile int traps, first_trap, proof, stood_aside, no_seccomp;
} *shared;

static const struct {
	const char *name, *chain;
	unsigned threads;
	const char *breaks_with; /* NULL, or a call made in between that the filter must catch */
} cases[] = {
	{ "regions", "", 2, NULL },
	{ "serialized regions only (never opened)", "", 1, NULL },
	{ "regions, with a tool chained behind", SMALL_TOOL, 2, NULL },
	{ "a system call in between is caught", "", 2, "getppid" },
};

/* ---- the filter -------------------------------------------------------------------------------------- */

static void trapped(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (shared->traps++ == 0)
		shared->first_trap = info->si_syscall;
}

/* All but the return from the handler and the end of the process. */
static int arm(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER };

	if (sigaction(SIGSYS, &action, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* ---- a region, as the thread that begins it and as a worker -------------------------------------------- */

static struct made_up *runtime;
static ompt_data_t initial_task, task;

#define CALL(event, type, ...) ((type)runtime->callbacks[event])(__VA_ARGS__)

static void one_region(unsigned threads, const void *code)
{
	ompt_data_t word = { 0 };

	CALL(OMPT_PARALLEL_BEGIN, ompt_parallel_begin_t, &initial_task, NULL, &word, threads, 2, code);
	runtime->set_parent(&initial_task);
	CALL(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, OMPT_SCOPE_BEGIN, &word, &task, threads, 0, OMPT_TASK_IMPLICIT);
	CALL(OMPT_SYNC_REGION, ompt_sync_region_t, OMPT_SYNC_BARRIER_EXPLICIT, OMPT_SCOPE_BEGIN, &word, &task, code);
	CALL(OMPT_SYNC_REGION, ompt_sync_region_t, OMPT_SYNC_BARRIER_IMPLICIT, OMPT_SCOPE_BEGIN, &word, &task, code);
	CALL(OMPT_SYNC_REGION, ompt_sync_region_t, OMPT_SYNC_BARRIER_IMPLICIT, OMPT_SCOPE_END, NULL, &task, code);
	CALL(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, OMPT_SCOPE_END, NULL, &task, threads, 0, OMPT_TASK_IMPLICIT);
	/* The same thread as a worker: index 1, late end. */
	CALL(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, OMPT_SCOPE_BEGIN, &word, &task, threads, 1, OMPT_TASK_IMPLICIT);
	CALL(OMPT_SYNC_REGION, ompt_sync_region_t, OMPT_SYNC_BARRIER_IMPLICIT, OMPT_SCOPE_BEGIN, &word, &task, NULL);
	CALL(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, OMPT_SCOPE_END, NULL, &task, 0, 1, OMPT_TASK_IMPLICIT);
	CALL(OMPT_PARALLEL_END, ompt_parallel_end_t, &word, &initial_task, 2, code);
}

static void settle(unsigned threads)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < ROUNDS; i++)
			one_region(threads, runtime->inside);
		for (int i = 0; i < ROUNDS; i++)
			one_region(threads, &runtime);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < settle_s);
}

static void child(unsigned threads, const char *chain, const char *breaks_with)
{
	void *symbol = dlsym(dlopen(MADE_UP_RUNTIME, RTLD_NOW | RTLD_LOCAL), "made_up");
	ompt_start_tool_result_t *tool;
	made_up_t made_up;

	memcpy(&made_up, &symbol, sizeof(made_up));
	runtime = made_up();
	setenv("NSCHED_TOOL_LIBRARIES", chain, 1);
	tool = ompt_start_tool(201611, "made up"); /* where nsched stands aside: NULL, or the chained tool's own */
	if (!nsched_worthwhile(NULL) || tool == NULL || tool->initialize(runtime->lookup, 0, &tool->tool_data) == 0) {
		shared->stood_aside = 1;
		_exit(0);
	}
	settle(threads);
	if (arm() != 0) {
		shared->no_seccomp = errno;
		_exit(0);
	}
	for (int i = 0; i < ROUNDS; i++) {
		one_region(threads, &runtime);
		if (breaks_with != NULL && i == ROUNDS / 2)
			syscall(SYS_getppid);
	}

	int traps = shared->traps;

	syscall(SYS_getppid);
	shared->proof = shared->traps - traps;
	shared->traps = traps;
	_exit(0);
}

/* ---- cases ----------------------------------------------------------------------------------------------- */

static int run(size_t i)
{
	int status = 0, expected = cases[i].breaks_with != NULL;
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		child(cases[i].threads, cases[i].chain, cases[i].breaks_with);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		printf("FAIL: %s: the child ended with status %x\n", cases[i].name, (unsigned)status);
		return 1;
	}
	if (shared->stood_aside || shared->no_seccomp) {
		printf("SKIP: %s: %s\n", cases[i].name,
		       shared->stood_aside ? "nsched stands aside on this machine" : strerror(shared->no_seccomp));
		return SKIPPED;
	}
	if (shared->traps != expected || shared->proof != 1) {
		printf("FAIL: %s: %d system calls (first: number %d), expected %d; caught of one made on purpose: %d\n",
		       cases[i].name, shared->traps, shared->first_trap, expected, shared->proof);
		return 1;
	}
	printf("ok: %s: %d regions, %d system calls\n", cases[i].name, ROUNDS, shared->traps);
	return 0;
}

int main(int argc, char **argv)
{
	int worst = 0;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	puts("SKIP: a sanitizer's runtime makes system calls of its own");
	return SKIPPED;
#endif
	if (argc > 1)
		settle_s = atof(argv[1]);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 99;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int result = run(i);

		worst = result == 1 || worst == 0 ? result : worst;
	}
	return worst;
}
