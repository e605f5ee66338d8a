/* A tool between LLVM's runtime and the plugin: it loads the plugin ($TRAP_PLUGIN), hands it a lookup of its own,
 * and registers a trampoline for each callback that the plugin asks for. $TRAP_SETTLE_S seconds after the start
 * every thread arms itself (at its next callback): from then on the kernel turns each system call that is made
 * within one of the plugin's callbacks into SIGSYS, and outside of them none. A byte that the kernel reads tells
 * the two apart (PR_SET_SYSCALL_USER_DISPATCH, Linux 5.11), so that to switch costs no system call. Each thread
 * proves its trap by a getpid within a trampoline, which must be caught. What was counted is printed at the end. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "ompt_types.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

enum {
	PASS = 0, CATCH = 1,    /* the kernel's numbers */
	LOOK_EVERY = 64,        /* regions between two looks at the clock */
	SYSCALL_BYTES = 2,      /* of the instruction */
	SAID = 5,               /* caught calls that are named */
};

static ompt_start_tool_result_t *plugin;
static ompt_set_callback_t runtime_set;
static ompt_function_lookup_t runtime_lookup;
static ompt_callback_t inside[OMPT_EVENTS]; /* the plugin's */
static double settle_s, begin_s;
static bool breaks; /* $TRAP_BREAK: the proof counts as if the plugin had made the call */

static atomic_bool arming;
static atomic_int refused; /* errno of the kernel's refusal */
static atomic_ulong threads, regions, callbacks, calls, proofs, returns, unwatched, warm_regions;

static __thread __attribute__((tls_model("initial-exec"))) struct {
	volatile char selector;
	volatile sig_atomic_t proving;
	bool armed, tried;
	int event;
	unsigned seen;
} self;

/* ---- the trap ------------------------------------------------------------------------------------------- */

static void caught(int number)
{
	static atomic_ulong said;

	if (atomic_fetch_add(&calls, 1) < SAID && atomic_fetch_add(&said, 1) < SAID)
		dprintf(2, "trap: system call %d in the callback of event %d\n", number, self.event);
}

/* The call is let through after all, and so is what follows up to the end of the callback. A signal that came
 * within one (a sample's) is no call of the plugin's: its return is counted by itself. */
static void trapped(int signal, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)signal;
	self.selector = PASS;
	if (info->si_syscall == SYS_rt_sigreturn) {
		atomic_fetch_add(&returns, 1);
		reg[REG_RAX] = SYS_rt_sigreturn;
		reg[REG_RIP] = (greg_t)(uintptr_t)info->si_call_addr - SYSCALL_BYTES;
		return;
	}
	if (self.proving)
		atomic_fetch_add(&proofs, 1);
	else
		caught(info->si_syscall);

	long result = syscall(info->si_syscall, reg[REG_RDI], reg[REG_RSI], reg[REG_RDX], reg[REG_R10], reg[REG_R8],
	                      reg[REG_R9]);

	reg[REG_RAX] = result == -1 ? -errno : result;
}

static void prove(void)
{
	self.proving = !breaks;
	self.selector = CATCH;
	syscall(SYS_getpid);
	self.selector = PASS;
	self.proving = 0;
}

static void arm(void)
{
	self.tried = true;
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &self.selector) != 0) {
		atomic_store(&refused, errno);
		return;
	}
	atomic_fetch_add(&threads, 1);
	prove();
	self.armed = true;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void enter(int event)
{
	if (event == OMPT_PARALLEL_BEGIN && !self.armed) {
		atomic_fetch_add(&warm_regions, 1);
		if (++self.seen % LOOK_EVERY == 0 && now_s() - begin_s > settle_s)
			atomic_store(&arming, true);
	}
	if (!self.tried && atomic_load_explicit(&arming, memory_order_relaxed))
		arm();
	if (!self.armed)
		return;
	atomic_fetch_add(&callbacks, 1);
	if (event == OMPT_PARALLEL_BEGIN)
		atomic_fetch_add(&regions, 1);
	self.event = event;
	self.selector = CATCH;
}

static void leave(void)
{
	self.selector = PASS;
}

/* ---- the trampolines --------------------------------------------------------------------------------------- */

#define THROUGH(event, type, ...) \
	do { \
		enter(event); \
		((type)inside[event])(__VA_ARGS__); \
		leave(); \
	} while (0)

static void thread_end(ompt_data_t *thread)
{
	/* The plugin takes leave of its thread: no steady state. */
	((ompt_thread_end_t)inside[OMPT_THREAD_END])(thread);
}

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned requested,
                           int flags, const void *code)
{
	THROUGH(OMPT_PARALLEL_BEGIN, ompt_parallel_begin_t, task, frame, parallel, requested, flags, code);
}

static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
	THROUGH(OMPT_PARALLEL_END, ompt_parallel_end_t, parallel, task, flags, code);
}

static void implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned parallelism, unsigned index,
                          int flags)
{
	THROUGH(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, endpoint, parallel, task, parallelism, index, flags);
}

static void sync_region(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
	THROUGH(OMPT_SYNC_REGION, ompt_sync_region_t, kind, endpoint, parallel, task, code);
}

static void dependences(ompt_data_t *task, const ompt_dependence_t *list, int count)
{
	THROUGH(OMPT_DEPENDENCES, void (*)(ompt_data_t *, const ompt_dependence_t *, int), task, list, count);
}

static void task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
	THROUGH(OMPT_TASK_SCHEDULE, void (*)(ompt_data_t *, int, ompt_data_t *), prior, status, next);
}

static void dispatch(ompt_data_t *parallel, ompt_data_t *task, int kind, ompt_data_t instance)
{
	THROUGH(OMPT_DISPATCH, void (*)(ompt_data_t *, ompt_data_t *, int, ompt_data_t), parallel, task, kind, instance);
}

static const struct {
	int event;
	ompt_callback_t callback;
} trampolines[] = {
	{ OMPT_DEPENDENCES, (ompt_callback_t)dependences },
	{ OMPT_TASK_SCHEDULE, (ompt_callback_t)task_schedule },
	{ OMPT_DISPATCH, (ompt_callback_t)dispatch },
	{ OMPT_THREAD_END, (ompt_callback_t)thread_end },
	{ OMPT_PARALLEL_BEGIN, (ompt_callback_t)parallel_begin },
	{ OMPT_PARALLEL_END, (ompt_callback_t)parallel_end },
	{ OMPT_IMPLICIT_TASK, (ompt_callback_t)implicit_task },
	{ OMPT_SYNC_REGION, (ompt_callback_t)sync_region },
};

static int set_callback(int event, ompt_callback_t callback)
{
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(trampolines[0]); i++) {
		if (trampolines[i].event != event)
			continue;
		inside[event] = callback;
		return runtime_set(event, callback == NULL ? NULL : trampolines[i].callback);
	}
	atomic_fetch_add(&unwatched, 1);
	return runtime_set(event, callback);
}

static ompt_interface_fn_t lookup(const char *name)
{
	return strcmp(name, "ompt_set_callback") == 0 ? (ompt_interface_fn_t)set_callback : runtime_lookup(name);
}

/* ---- the tool ------------------------------------------------------------------------------------------------ */

static int initialize(ompt_function_lookup_t real, int device, ompt_data_t *data)
{
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER };

	(void)data;
	runtime_lookup = real;
	runtime_set = (ompt_set_callback_t)real("ompt_set_callback");
	begin_s = now_s();
	return sigaction(SIGSYS, &action, NULL) == 0 && plugin->initialize(lookup, device, &plugin->tool_data);
}

static void finalize(ompt_data_t *data)
{
	(void)data;
	plugin->finalize(&plugin->tool_data);
	printf("trap: warm_regions %lu threads %lu regions %lu callbacks %lu system_calls %lu proofs %lu "
	       "signal_returns %lu unwatched_events %lu refused %d\n",
	       warm_regions, threads, regions, callbacks, calls, proofs, returns, unwatched, refused);
	fflush(stdout);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version)
{
	static ompt_start_tool_result_t result = { initialize, finalize, { 0 } };
	const char *path = getenv("TRAP_PLUGIN"), *settle = getenv("TRAP_SETTLE_S");
	void *library = path == NULL ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library == NULL ? NULL : dlsym(library, "ompt_start_tool");
	ompt_start_tool_t start;

	if (symbol == NULL) {
		fprintf(stderr, "trap: no plugin in TRAP_PLUGIN (%s)\n", path == NULL ? "unset" : path);
		return NULL;
	}
	settle_s = settle == NULL ? 0 : atof(settle);
	breaks = getenv("TRAP_BREAK") != NULL;
	memcpy(&start, &symbol, sizeof(start)); /* ISO C has no conversion from object to function pointers */
	plugin = start(omp_version, runtime_version);
	if (plugin == NULL)
		puts("trap: nsched stands aside on this machine");
	return plugin == NULL ? NULL : &result;
}
