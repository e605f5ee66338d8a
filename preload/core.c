#define _GNU_SOURCE
#include "core.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/nodes.h"
#include "sys/quiet.h"

#ifndef PRELOAD_ROOT
#define PRELOAD_ROOT "" /* the tests' copy of this code looks at a machine made of files */
#endif

#define CORE "libnsched.so.0"

void core_complain(const char *what, const char *detail)
{
	char line[PATH_MAX + 256];
	int length = snprintf(line, sizeof(line), "nsched: %s%s\n", what, detail);

	if (length >= (int)sizeof(line))
		length = (int)sizeof(line) - 1;
	quiet_line(STDERR_FILENO, line, (size_t)length);
}

int core_verbose(void)
{
	const char *value = secure_getenv("NSCHED_VERBOSE");

	return value != NULL && strcmp(value, "1") == 0;
}

const char *core_launch_variable(const char *name)
{
	const char *pid = secure_getenv("NSCHED_LAUNCH_PID");

	return pid != NULL && strtol(pid, NULL, 10) == getpid() ? secure_getenv(name) : NULL;
}

int core_worthwhile(void)
{
	return nodes_to_choose(PRELOAD_ROOT, core_launch_variable("NSCHED_LAUNCH_CPUS"));
}

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

int core_loaded(void)
{
	return core_library(RTLD_NOLOAD) != NULL;
}

static int core_bind(struct core *core)
{
	void *library = core_library(0);

	if (library == NULL && core_verbose())
		core_complain("not started: ", dlerror());
	if (library == NULL)
		return 0;
	core->config_create = (__typeof__(core->config_create))dlsym(library, "nsched_config_create");
	core->config_environment = (__typeof__(core->config_environment))dlsym(library, "nsched_config_environment");
	core->config_destroy = (__typeof__(core->config_destroy))dlsym(library, "nsched_config_destroy");
	core->open = (__typeof__(core->open))dlsym(library, "nsched_open");
	core->start = (__typeof__(core->start))dlsym(library, "nsched_start");
	core->close = (__typeof__(core->close))dlsym(library, "nsched_close");
	core->exchange_source = (__typeof__(core->exchange_source))dlsym(library, "nsched_exchange_source");
	core->masks_changed = (__typeof__(core->masks_changed))dlsym(library, "nsched_masks_changed");
	if (core->config_create && core->config_environment && core->config_destroy && core->open && core->start &&
	    core->close)
		return 1;
	if (core_verbose())
		core_complain("not started: calls are missing in ", CORE);
	return 0;
}

int core_open(struct core *core, nsched_t **handle)
{
	nsched_config_t *config;
	nsched_error_t error;

	if (!core_bind(core) || core->config_create(&config) < 0)
		return 0;
	if (core->config_environment(config, &error) < 0)
		core_complain("", error.text);
	int opened = core->open(config, handle) == 0;

	core->config_destroy(config);
	return opened;
}
