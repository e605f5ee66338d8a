/* What nsched can do here: its library's own probes of the sources, and the system calls that it acts with, each
 * tried on this very process. */
#define _GNU_SOURCE
#include "doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "where.h"

#define LIBRARY "libnsched.so.0"

/* ---- system calls ---------------------------------------------------------------------------------------------- */

enum { MPOL_MF_MOVE = 2 }; /* of linux/mempolicy.h, which not every system has installed */

static int outcome(long result)
{
	return result < 0 ? -errno : 0;
}

static int try_bind(void *page)
{
	struct cpu_mask mask = { { 0 } };

	(void)page;
	if (syscall(SYS_sched_getaffinity, 0, sizeof(mask), &mask) < 0)
		return -errno;
	return outcome(syscall(SYS_sched_setaffinity, 0, sizeof(mask), &mask));
}

static int try_locate(void *page)
{
	int node = -1;

	return outcome(syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0));
}

/* To where it is: nothing happens, if it is allowed. */
static int try_move(void *page)
{
	int node = 0, status = -1;
	int error = outcome(syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0));

	if (error != 0 || node < 0)
		return error;
	return outcome(syscall(SYS_move_pages, 0, 1ul, &page, &node, &status, MPOL_MF_MOVE));
}

static int try_policy(void *page)
{
	int mode = 0;

	(void)page;
	return outcome(syscall(SYS_get_mempolicy, &mode, NULL, 0ul, 0ul, 0ul));
}

static const struct trial {
	const char *name, *without;
	int (*try)(void *page);
} trials[DOCTOR_ABILITIES] = {
	{ "threads move", "nothing can be brought to its memory", try_bind },
	{ "pages are found", "where memory lies is not known: threads move only by what is seen", try_locate },
	{ "pages move", "threads move to their pages, pages stay", try_move },
	{ "policies are seen", "memory that the program has placed itself is not spared", try_policy },
};

static void try_calls(struct doctor_tools *tools, const struct doctor_limits *own, const struct doctor_machine *machine)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	page[0] = 1;
	for (unsigned i = 0; i < DOCTOR_ABILITIES && trials[i].name != NULL; i++) {
		struct doctor_ability *ability = &tools->ability[tools->n_abilities++];

		ability->name = trials[i].name;
		ability->without = trials[i].without;
		ability->error = trials[i].try(page);
		remedy_for("", ability->error, false, own, machine, ability->remedy);
	}
	munmap(page, bytes);
}

/* ---- the library ------------------------------------------------------------------------------------------------ */

struct library {
	__typeof__(&nsched_version) version;
	__typeof__(&nsched_worthwhile) worthwhile;
	__typeof__(&nsched_probe) probe;
};

static bool load(struct library *library, struct doctor_tools *tools)
{
	char path[PATH_MAX];

	if (where_library(LIBRARY, path) < 0) {
		snprintf(tools->library, sizeof(tools->library), "%s is missing", LIBRARY);
		return false;
	}

	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (handle == NULL) {
		snprintf(tools->library, sizeof(tools->library), "%s", dlerror());
		return false;
	}
	snprintf(tools->library, sizeof(tools->library), "%.*s", DOCTOR_LINE - 1, path);
	library->version = (__typeof__(library->version))dlsym(handle, "nsched_version");
	library->worthwhile = (__typeof__(library->worthwhile))dlsym(handle, "nsched_worthwhile");
	library->probe = (__typeof__(library->probe))dlsym(handle, "nsched_probe");
	return library->version != NULL && library->worthwhile != NULL && library->probe != NULL && library->version() == NSCHED_VERSION;
}

static bool is_perf(const nsched_source_t *source)
{
	return strstr(source->why, "perf_event") != NULL;
}

void tools_look(struct doctor_tools *tools, const struct doctor_limits *own, const struct doctor_machine *machine)
{
	struct library library;
	nsched_source_t source[DOCTOR_SOURCES];

	memset(tools, 0, sizeof(*tools));
	try_calls(tools, own, machine);
	tools->loaded = load(&library, tools);
	if (!tools->loaded)
		return;
	tools->worthwhile = library.worthwhile(&tools->why_not);

	int n = library.probe(source, sizeof(source[0]), DOCTOR_SOURCES);

	for (int i = 0; i < n && i < DOCTOR_SOURCES; i++) {
		struct doctor_source *out = &tools->source[tools->n_sources++];

		out->is = source[i];
		remedy_for(source[i].why, source[i].error, is_perf(&source[i]), own, machine, out->remedy);
	}
}
