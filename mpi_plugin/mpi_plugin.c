/* Whether calls are counted, for whom, and how the core gets to know.
 *
 * Counted is where it can be of use: where the process has a choice of NUMA nodes (the plan of all ranks
 * wants to know who talks to whom), or where a report was asked for. Else every call passes straight
 * through. With a choice, the core is opened when MPI has started; without, only to write the report. */
#define _GNU_SOURCE
#include "mpi_plugin.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi_library.h"
#include "mpi_matrix.h"
#include "mpi_next.h"
#include "mpi_peers.h"
#include "mpi_record.h"
#include "preload/core.h"

_Atomic int plugin_state;
_Static_assert((int)PLUGIN_CALLS <= (int)MATRIX_CALLS, "no room to count all calls");

/* Protects the decision and the start; never held in a counted call after that. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	struct core core;
	nsched_t *handle; /* NULL: not open */
	pid_t owner;      /* the process that counts; a forked child inherits all this, but is no rank */
	bool started;     /* the job is known */
	int rank, ranks;
	uint64_t began_ns, start_ns; /* our part of MPI's start: when it began, how long it took */
	char library[64];
} plugin = { .rank = -1 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the core ----------------------------------------------------------------------------------- */

static size_t calls_made(void *unused, uint32_t from, nsched_call_count_t *counts, size_t most)
{
	static const char *const names[] = {
#define CALL(name, params, args, before, after) #name,
#include "mpi_calls.def"
	};
	size_t n = 0;

	(void)unused;
	for (; n < most && from + n < PLUGIN_CALLS; n++) {
		counts[n].name = names[from + n];
		counts[n].calls = matrix_calls(from + (uint32_t)n);
	}
	return n;
}

/* Whether the core is busy with memory that the library shares with other ranks. */
enum { SHARED_FREE, SHARED_HELD, SHARED_WANTED, SHARED_GONE };
static _Atomic int shared_state;

static int hold(void *unused, int on)
{
	int state = SHARED_FREE;

	(void)unused;
	if (on)
		return atomic_compare_exchange_strong(&shared_state, &state, SHARED_HELD) || state == SHARED_HELD;
	state = SHARED_HELD;
	if (!atomic_compare_exchange_strong(&shared_state, &state, SHARED_FREE) && state == SHARED_WANTED)
		atomic_store(&shared_state, SHARED_FREE);
	return 0;
}

void plugin_ending(void)
{
	enum { TRIES = 10000 };
	const struct timespec pause = { 0, 100000 };

	for (int i = 0; i < TRIES; i++) {
		int state = SHARED_FREE;

		if (atomic_compare_exchange_strong(&shared_state, &state, SHARED_GONE) || state == SHARED_GONE)
			return;
		if (state == SHARED_HELD)
			atomic_compare_exchange_strong(&shared_state, &state, SHARED_WANTED);
		nanosleep(&pause, NULL);
	}
}

static bool core_start(void)
{
	nsched_exchange_source_t source = {
		.size = sizeof(source),
		.library = plugin.library,
		.rank = plugin.rank,
		.ranks = plugin.ranks,
		.sent = matrix_read,
		.calls = calls_made,
		.hold = hold,
	};

	if (!core_open(&plugin.core, &plugin.handle))
		return false;
	if (plugin.start_ns == 0)
		plugin.start_ns = now_ns() - plugin.began_ns;
	source.start_ns = plugin.start_ns;
	if (plugin.core.exchange_source != NULL && plugin.core.masks_changed != NULL &&
	    plugin.core.exchange_source(plugin.handle, &source) == 0)
		return true;
	plugin.core.close(plugin.handle);
	plugin.handle = NULL;
	return false;
}

/* Not in MPI_Finalize: messages of a rank that never gets there count as well. */
static void at_the_end(void)
{
	if (plugin.owner != getpid())
		return;
	plugin.owner = 0;
	if (plugin.handle == NULL && !core_start())
		return;
	plugin.core.close(plugin.handle);
}

/* ---- the decision ------------------------------------------------------------------------------- */

static bool wanted(void)
{
	const char *report = secure_getenv("NSCHED_REPORT"), *option = secure_getenv("NSCHED_MPI");

	if (option != NULL && strcmp(option, "0") == 0)
		return false;
	return core_worthwhile() || (report != NULL && report[0] != '\0');
}

static void forked(void)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	lock = fresh;
	handles_forked();
	atomic_store(&plugin_state, PLUGIN_OFF);
}

bool plugin_decide(void)
{
	int initialized = 0;

	pthread_mutex_lock(&lock);
	if (atomic_load(&plugin_state) == PLUGIN_UNDECIDED) {
		plugin.began_ns = now_ns();
		bool use = next_is_family() && wanted() && library_bind();

		if (use) {
			plugin.owner = getpid();
			pthread_atfork(NULL, NULL, forked);
			atexit(at_the_end);
		}
		atomic_store(&plugin_state, use ? PLUGIN_COUNTING : PLUGIN_OFF);
	}
	bool counting = atomic_load(&plugin_state) == PLUGIN_COUNTING;

	pthread_mutex_unlock(&lock);
	/* MPI_Init may have been called in a way that we did not see. */
	if (counting && library.Initialized(&initialized) == MPI_SUCCESS && initialized)
		plugin_started();
	return counting;
}

/* ---- the job ------------------------------------------------------------------------------------ */

/* "Open MPI v4.1.4" of a library's whole text, which begins so or has "MPICH Version: 4.0.2". */
static void name_library(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length, major = 0, minor = 0;

	if (library.Get_library_version(text, &length) != MPI_SUCCESS)
		text[0] = '\0';
	text[sizeof(text) - 1] = '\0';
	const char *digit = strpbrk(text, "0123456789");

	if (digit != NULL && sscanf(digit, "%d.%d", &major, &minor) == 2)
		snprintf(plugin.library, sizeof(plugin.library), FAMILY_NAME " %.*s", (int)strspn(digit, "0123456789."), digit);
	else
		snprintf(plugin.library, sizeof(plugin.library), FAMILY_NAME);
}

/* `job` is kept. */
static void start_job(MPI_Group job)
{
	if (library.Group_rank(job, &plugin.rank) != MPI_SUCCESS || library.Group_size(job, &plugin.ranks) != MPI_SUCCESS)
		return;
	name_library();
	atomic_store(&matrix_ranks, plugin.ranks);
	peers_start(job);
	plugin.started = true;
	if (!core_worthwhile()) {
		plugin.start_ns = now_ns() - plugin.began_ns;
		return;
	}
	if (!core_start())
		return;
	plugin.core.masks_changed(plugin.handle);
	if (plugin.core.start(plugin.handle) < 0 && core_verbose())
		core_complain("the helper thread could not be started", "");
}

void plugin_started(void)
{
	MPI_Group job;

	pthread_mutex_lock(&lock);
	if (!plugin.started && library.Comm_group(FAMILY_WORLD, &job) == MPI_SUCCESS)
		start_job(job);
	pthread_mutex_unlock(&lock);
}

#if FAMILY_MPI4
void plugin_session(MPI_Session session)
{
	__typeof__(&PMPI_Group_from_session_pset) group_of = NULL;
	MPI_Group job;

	pthread_mutex_lock(&lock);
	if (!plugin.started)
		group_of = (__typeof__(group_of))next_find("PMPI_Group_from_session_pset");
	if (group_of != NULL && group_of(session, "mpi://WORLD", &job) == MPI_SUCCESS)
		start_job(job);
	pthread_mutex_unlock(&lock);
}
#endif

/* ---- small ones --------------------------------------------------------------------------------- */

void plugin_reordered(int reorder)
{
	if (reorder && plugin.handle != NULL)
		plugin.core.masks_changed(plugin.handle);
}

void plugin_started_all(int n, const MPI_Request *requests)
{
	for (int i = 0; i < n; i++)
		record_start(requests[i]);
}
