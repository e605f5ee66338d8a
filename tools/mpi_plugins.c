#define _GNU_SOURCE
#include "mpi_plugins.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "launcher.h"
#include "libnsched/pure/launchers.h"

static const struct plugin {
	unsigned family;
	const char *file;
} plugins[] = {
	{ LAUNCHERS_OPEN_MPI, "libnsched_mpi_ompi.so" },
	{ LAUNCHERS_MPICH, "libnsched_mpi_mpich.so" },
};

/* Programs that start ranks. Debian's names end in the family: mpirun.openmpi. */
static const char *const launchers[] = { "mpirun", "mpiexec", "orterun", "prterun", "prun", "srun", "flux", "jsrun", "aprun" };

static int starts_ranks(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash == NULL ? program : slash + 1;

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		size_t length = strlen(launchers[i]);

		if (strncmp(name, launchers[i], length) == 0 && (name[length] == '\0' || name[length] == '.'))
			return 1;
	}
	return 0;
}

static unsigned families(const char *program)
{
	struct launcher_job job;

	if (starts_ranks(program))
		return LAUNCHERS_EITHER;
	launcher_find(&job);
	return job.families;
}

int mpi_plugins_export(const char *library, const char *program)
{
	char path[PATH_MAX];
	unsigned wanted = families(program);
	int folder = (int)(strrchr(library, '/') - library), result = 0;

	for (size_t i = 0; result == 0 && i < sizeof(plugins) / sizeof(plugins[0]); i++) {
		if (!(wanted & plugins[i].family) ||
		    snprintf(path, sizeof(path), "%.*s/%s", folder, library, plugins[i].file) >= (int)sizeof(path))
			continue;
		if (access(path, R_OK) == 0)
			result = environment_prepend("LD_PRELOAD", path, ": ");
	}
	return result;
}
