#define _GNU_SOURCE
#include "mpi_plugins.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "launcher.h"

enum family { OPEN_MPI = 1, MPICH = 2, BOTH = OPEN_MPI | MPICH };

static const struct plugin {
	enum family family;
	const char *file;
} plugins[] = {
	{ OPEN_MPI, "libnsched_mpi_ompi.so" },
	{ MPICH, "libnsched_mpi_mpich.so" },
};

/* By the names of launcher.c. Slurm and Flux start the ranks of either. */
static const struct started_by {
	const char *launcher;
	enum family family;
} started_by[] = {
	{ "Open MPI", OPEN_MPI }, { "MPICH", MPICH }, { "MVAPICH2", MPICH }, { "PALS", MPICH }, { "Slurm", BOTH }, { "Flux", BOTH },
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
		return BOTH;
	launcher_find(&job);
	for (size_t i = 0; job.launcher != NULL && i < sizeof(started_by) / sizeof(started_by[0]); i++)
		if (strcmp(job.launcher, started_by[i].launcher) == 0)
			return started_by[i].family;
	return 0;
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
