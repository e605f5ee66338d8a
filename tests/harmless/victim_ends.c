/* Ways to end, signals of the program's own, jumps. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "victim.h"

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0) return;
}

static void at_exit(void)
{
	say("at exit\n");
}

static void call_exit(void *arg)
{
	exit(*(int *)arg);
}

/* Inside a region: by a worker, and by the initial thread */
static int exit_worker(void)
{
	int status = 5;
	atexit(at_exit);
	work_with(200, 2, call_exit, &status);
	return 99;
}

static int exit_initial(void)
{
	int status = 6;
	atexit(at_exit);
	work_with(200, 0, call_exit, &status);
	return 99;
}

static void call_under_exit(void *arg)
{
	_exit(*(int *)arg);
}

static int under_exit(void)
{
	int status = 8;
	atexit(at_exit);
	work_with(200, 1, call_under_exit, &status);
	return 99;
}

static int quick(void)
{
	at_quick_exit(at_exit);
	work(200);
	quick_exit(9);
}

static void call_abort(void *arg)
{
	(void)arg;
	abort();
}

static int abort_worker(void)
{
	work_with(200, 1, call_abort, NULL);
	return 99;
}

static int killed(void)
{
	work(200);
	raise(SIGKILL);
	return 99;
}

static int terminated(void)
{
	work(200);
	kill(getpid(), SIGTERM);
	pause();
	return 99;
}

static void exit_on_signal(int signal)
{
	exit(40 + signal);
}

/* Not allowed, and done everywhere */
static int exit_in_handler(void)
{
	signal(SIGTERM, exit_on_signal);
	work(200);
	raise(SIGTERM);
	return 99;
}

static int pthread_exit_main(void)
{
	work(200);
	pthread_exit(NULL);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static sigjmp_buf back;
static volatile sig_atomic_t caught;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	caught++;
	siglongjmp(back, 1);
}

/* A handler of its own on a stack of its own, ten faults that are survived, then one that is not. */
static int segv(void)
{
	static char stack[1 << 16];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK }, now;
	volatile int *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&own, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < 10; i++) {
		work(30);
		if (!sigsetjmp(back, 1)) *nothing = 1;
	}
	sigaction(SIGSEGV, NULL, &now);
	printf("%d faults, %s\n", (int)caught, now.sa_sigaction == on_fault ? "the handler is its own" : "another's handler");
	fflush(stdout);
	signal(SIGSEGV, SIG_DFL);
	*nothing = 1;
	return 99;
}

/* ---- signals that are the program's ------------------------------------------------------------------------------- */

static volatile sig_atomic_t ticks;

static void on_tick(int signal)
{
	(void)signal;
	ticks++;
}

static int profiled(void)
{
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } };
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	for (int i = 0; i < 50 && ticks <= 5; i++) work(100);
	memset(&every, 0, sizeof every);
	setitimer(ITIMER_PROF, &every, NULL);
	printf("%s\n", ticks > 5 ? "ticks came" : "no ticks");
	return 0;
}

/* SIGURG is what nsched takes where nobody else has it: the program comes later, and has it from then on. */
static int urgent(void)
{
	struct sigaction action = { .sa_handler = on_tick }, now;
	work(200);
	sigaction(SIGURG, &action, NULL);
	work(200);
	ticks = 0;
	raise(SIGURG);
	sigaction(SIGURG, NULL, &now);
	printf("%d, %s\n", (int)ticks, now.sa_handler == on_tick ? "its own" : "another's");
	return 0;
}

static volatile sig_atomic_t taken;

static void *wait_for_signals(void *set)
{
	int signal;
	while (!sigwait(set, &signal) && signal != SIGUSR2) {
		if (signal != SIGUSR1) printf("signal %d\n", signal);
		for (volatile int i = 0; i < 20000000; i++) { }   /* some clock samples' worth of time */
		taken++;
	}
	printf("%d signals\n", (int)taken);
	return NULL;
}

/* All signals are blocked but in one thread, which waits for any: it gets what was sent, and nothing else. */
static int waited(void)
{
	sigset_t all, before;
	pthread_t waiter;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&waiter, NULL, wait_for_signals, &all);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (int i = 0; i < 5; i++) {
		pthread_kill(waiter, SIGUSR1);
		while (taken <= i) work(20);
	}
	work(50);
	pthread_kill(waiter, SIGUSR2);
	pthread_join(waiter, NULL);
	return 0;
}

/* Sleeping and waiting calls are not interrupted, without SA_RESTART's help. */
static int slept(void)
{
	struct timespec wait = { 0, 2000000 };
	int interrupted = 0;
	for (int i = 0; i < 60; i++) {
		work(1);
		interrupted += nanosleep(&wait, NULL) != 0;
	}
	printf("interrupted %d times\n", interrupted);
	return 0;
}

static void jump(void *arg)
{
	sigjmp_buf *to = arg;
	siglongjmp(*to, 1);
}

/* Out of functions, within one thread and inside one region */
static void jump_inside(void *arg)
{
	sigjmp_buf here;
	volatile int rounds = 0;
	(void)arg;
	while (rounds < 1000) {
		rounds++;
		if (!sigsetjmp(here, 1)) jump(&here);
	}
	printf("jumped %d times\n", rounds);
}

static int jumps(void)
{
	work_with(200, 1, jump_inside, NULL);
	jump_inside(NULL);
	return 0;
}

const struct victim_case victim_ends[] = {
	{ "exit_worker", exit_worker }, { "exit_initial", exit_initial }, { "_exit", under_exit }, { "quick_exit", quick }, { "abort", abort_worker },
	{ "kill9", killed }, { "term", terminated }, { "exit_in_handler", exit_in_handler }, { "pthread_exit_main", pthread_exit_main },
	{ "segv", segv }, { "sigprof", profiled }, { "sigurg", urgent }, { "sigwait", waited }, { "sleep", slept }, { "siglongjmp", jumps }, { NULL, NULL },
};
