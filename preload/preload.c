/* libnsched_preload.so: what `nsched run` puts into LD_PRELOAD to start nsched in a program that knows
 * nothing of it.
 *
 * Why not the core itself: it brings hwloc, Capstone and jansson, and preloaded they would stand in
 * front of the program's own copies, and every process of a fork storm would load them. This library
 * needs libc alone and does nothing until a process is about to make its second thread. If the process then has a
 * choice of NUMA nodes, it loads the core from the folder that it lies in itself, privately.
 *
 * Only pthread_create is interposed. dlsym must never be: libomp looks for its tool by dlsym(RTLD_NEXT),
 * and behind an interposer it finds itself, for ever. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/nodes.h"
#include "nsched.h"

#ifndef PRELOAD_ROOT
#define PRELOAD_ROOT "" /* the tests' copy of this library looks at a machine made of files */
#endif

#define CORE "libnsched.so.0"
#define OURS "libnsched" /* what all our libraries' names begin with */

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* The core's calls, bound at run time; the header's declarations give their types. */
struct core {
	__typeof__(&nsched_config_create) config_create;
	__typeof__(&nsched_config_environment) config_environment;
	__typeof__(&nsched_config_destroy) config_destroy;
	__typeof__(&nsched_open) open;
	__typeof__(&nsched_start) start;
	__typeof__(&nsched_close) close;
};

/* The process that has decided whether to start, 0 for none. A child of fork is another process: it
 * decides anew at its own first thread, and its copy of `handle` is not its own. */
static _Atomic pid_t decided;

/* Set once by the thread that decided, read at exit. */
static struct {
	pid_t served; /* the process that opened it, also after it was closed */
	pid_t owner;  /* the same until it is closed */
	nsched_t *handle;
	struct core core;
} running;

static void complain(const char *what, const char *detail)
{
	char line[PATH_MAX + 256];
	int length = snprintf(line, sizeof(line), "nsched: %s%s\n", what, detail);

	if (length >= (int)sizeof(line))
		length = (int)sizeof(line) - 1;
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		return; /* no standard error: nobody to tell */
}

static int verbose(void)
{
	const char *value = secure_getenv("NSCHED_VERBOSE");

	return value != NULL && strcmp(value, "1") == 0;
}

/* The variable `name`, which the launcher set for the process that it started itself. That process's
 * children inherit it, but what it says is not about them. */
static const char *launch_variable(const char *name)
{
	const char *pid = secure_getenv("NSCHED_LAUNCH_PID");

	return pid != NULL && strtol(pid, NULL, 10) == getpid() ? secure_getenv(name) : NULL;
}

/* ---- the core ----------------------------------------------------------------------------------- */

/* Opens the core beside this very library. With RTLD_NOLOAD in `more`: if somebody has loaded it. */
static void *core_library(int more)
{
	char path[PATH_MAX];
	Dl_info self;

	if (dladdr((void *)core_library, &self) == 0 || self.dli_fname == NULL)
		return NULL;
	const char *slash = strrchr(self.dli_fname, '/');
	int folder = slash == NULL ? 0 : (int)(slash - self.dli_fname) + 1;

	if (snprintf(path, sizeof(path), "%.*s" CORE, folder, self.dli_fname) >= (int)sizeof(path))
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | more);
}

static int core_bind(struct core *core)
{
	void *library = core_library(0);

	if (library == NULL && verbose())
		complain("not started: ", dlerror());
	if (library == NULL)
		return 0;
	core->config_create = (__typeof__(core->config_create))dlsym(library, "nsched_config_create");
	core->config_environment = (__typeof__(core->config_environment))dlsym(library, "nsched_config_environment");
	core->config_destroy = (__typeof__(core->config_destroy))dlsym(library, "nsched_config_destroy");
	core->open = (__typeof__(core->open))dlsym(library, "nsched_open");
	core->start = (__typeof__(core->start))dlsym(library, "nsched_start");
	core->close = (__typeof__(core->close))dlsym(library, "nsched_close");
	if (core->config_create && core->config_environment && core->config_destroy && core->open && core->start &&
	    core->close)
		return 1;
	if (verbose())
		complain("not started: calls are missing in ", CORE);
	return 0;
}

/* Opens the process's scheduler with the environment's options. */
static int core_open(void)
{
	nsched_config_t *config;
	nsched_error_t error;

	if (!core_bind(&running.core) || running.core.config_create(&config) < 0)
		return 0;
	if (running.core.config_environment(config, &error) < 0)
		complain("", error.text);
	int opened = running.core.open(config, &running.handle) == 0;

	running.core.config_destroy(config);
	if (opened)
		running.owner = running.served = getpid();
	return opened;
}

static void core_close(void)
{
	if (running.owner == getpid()) {
		running.owner = 0;
		running.core.close(running.handle);
	}
}

/* ---- the second thread -------------------------------------------------------------------------- */

static create_fn *real_create(void)
{
	static _Atomic(create_fn *) found;
	create_fn *create = atomic_load_explicit(&found, memory_order_relaxed);

	if (create == NULL) {
		create = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");
		if (create == NULL) { /* before glibc 2.34, in a program that loaded threads privately */
			void *library = dlopen("libpthread.so.0", RTLD_LAZY | RTLD_NOLOAD);

			create = library == NULL ? NULL : (create_fn *)dlsym(library, "pthread_create");
		}
		atomic_store_explicit(&found, create, memory_order_relaxed);
	}
	return create;
}

/* Whether the code at `address` is nsched's own. The OpenMP plugin may have opened the core before
 * us; its helper thread is then the first, made under the core's locks, and not the program's. */
static int is_ours(const void *address)
{
	Dl_info code;

	if (dladdr(address, &code) == 0 || code.dli_fname == NULL)
		return 0;
	const char *slash = strrchr(code.dli_fname, '/');

	return strncmp(slash == NULL ? code.dli_fname : slash + 1, OURS, strlen(OURS)) == 0;
}

/* The process is about to make its second thread: open, if there is anything to choose. Before it is there,
 * since hwloc can be kept from loading its plugins only while there is one thread. */
static int before_second_thread(void)
{
	return nodes_to_choose(PRELOAD_ROOT, launch_variable("NSCHED_LAUNCH_CPUS")) && core_open();
}

static void after_second_thread(void)
{
	/* At the first start, not in our constructor: handlers run backwards, so that this one comes
	 * before those of the runtimes that were there already. */
	atexit(core_close);
	if (running.core.start(running.handle) < 0 && verbose())
		complain("the helper thread could not be started", "");
}

NSCHED_API int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *arg)
{
	int saved = errno, opened = 0;
	create_fn *create = real_create();
	pid_t self = getpid(), seen = atomic_load_explicit(&decided, memory_order_relaxed);

	if (create == NULL)
		return EAGAIN;
	if (seen != self && !is_ours(__builtin_return_address(0)) && atomic_compare_exchange_strong(&decided, &seen, self))
		opened = before_second_thread();
	errno = saved;
	int result = create(thread, attributes, routine, arg);

	saved = errno;
	if (opened && result == 0) {
		after_second_thread();
	} else if (opened) {
		core_close();
		running.served = 0;
		atomic_store(&decided, 0); /* no thread after all: decide anew at the next */
	}
	errno = saved;
	return result;
}

/* ---- the report of a process that never started ------------------------------------------------- */

/* A report was asked for: it must say why nothing was done, too. */
static void report_why(void)
{
	int saved = errno;

	/* Children do not: a report from each compiler of a `make` is no help to anybody. Where the core is
	 * loaded already, the OpenMP plugin or the program itself has had it write one, or still will. */
	if (running.served != getpid() && launch_variable("NSCHED_REPORT") != NULL && core_library(RTLD_NOLOAD) == NULL) {
		atomic_store(&decided, getpid()); /* a thread that is made from here on is no reason to start */
		if (core_open())
			core_close();
	}
	errno = saved;
}

__attribute__((constructor)) static void prepare_report(void)
{
	const char *report = launch_variable("NSCHED_REPORT");

	if (report != NULL && report[0] != '\0')
		atexit(report_why);
}
