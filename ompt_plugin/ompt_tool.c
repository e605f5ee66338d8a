/* The tool's entry: what the OpenMP runtime calls when it starts, and when it ends.
 *
 * Until the first parallel region the runtime holds its start-up lock: no omp_* call, no fork and no
 * change of the initial thread's mask may happen in here (it would deadlock, or leave the program with
 * one thread). So the scheduler is only armed here; the first region opens it. */
#define _GNU_SOURCE /* secure_getenv */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "ompt_chain.h"
#include "ompt_events.h"
#include "ompt_runtime.h"
#include "ompt_session.h"

static struct {
	atomic_flag taken; /* by a runtime: a second one in the process goes without */
	ompt_start_tool_result_t *chained;
} tool = { .taken = ATOMIC_FLAG_INIT };

static bool announced(int answer)
{
	return answer >= OMPT_SET_SOMETIMES;
}

/* Asks for the events. False: one that the plugin cannot do without does not come. */
static bool ask_for_events(ompt_set_callback_t set, bool *barriers)
{
	bool enough = true;

	for (size_t i = 0; i < EVENTS_USED; i++) {
		const struct events_entry *entry = &events_used[i];
		ompt_callback_t callback = tool.chained == NULL ? entry->callback : chain_callback(entry->event);
		int answer;

		if (callback == NULL)
			continue; /* left to the chained tool, whose words it needs */
		answer = set(entry->event, callback);
		chain_set_answer(entry->event, answer);
		if (entry->needed && !announced(answer))
			enough = false;
		if (entry->event == OMPT_SYNC_REGION)
			*barriers = announced(answer);
	}
	return enough;
}

static bool start_serving(ompt_function_lookup_t lookup)
{
	ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
	ompt_get_task_info_t ancestors = NULL;
	bool barriers = false;

	if (tool.chained != NULL)
		ancestors = (ompt_get_task_info_t)lookup("ompt_get_task_info");
	if (set == NULL || (tool.chained != NULL && ancestors == NULL))
		return false;
	runtime_find((void (*)(void))set);
	events_prepare(false, ancestors);
	if (!ask_for_events(set, &barriers))
		return false;
	events_prepare(barriers, ancestors);
	session_arm(session_options());
	return true;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
	int saved = errno;
	bool serving = start_serving(lookup), chaining = false;

	(void)data;
	if (!serving)
		session_complain("this OpenMP runtime does not announce its parallel regions; nothing is placed", "");
	if (tool.chained != NULL)
		chaining = chain_initialize(tool.chained, lookup, device);
	errno = saved;
	return serving || chaining;
}

static void finalize(ompt_data_t *data)
{
	int saved = errno;

	(void)data;
	session_end();
	chain_finalize();
	atomic_flag_clear(&tool.taken);
	errno = saved;
}

/* For ends that the runtime does not see: exit() by a worker inside a region, for one. Callbacks may
 * still come afterwards, and find the session off. */
__attribute__((destructor)) static void unloaded(void)
{
	session_end();
}

/* Nothing to do on this machine: the program runs as if nsched were not there, but for a report that
 * says why, if one was asked for. */
static void stand_aside(void)
{
	nsched_config_t *config = session_options();

	if (session_wants_report(config))
		session_report_only(config);
	nsched_config_destroy(config);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version)
{
	static ompt_start_tool_result_t answer = { .initialize = initialize, .finalize = finalize };
	ompt_start_tool_result_t *chosen = &answer;
	int saved = errno;

	if (atomic_flag_test_and_set(&tool.taken))
		return NULL;
	tool.chained = chain_find(secure_getenv("NSCHED_TOOL_LIBRARIES"), omp_version, runtime_version);
	if (!nsched_worthwhile(NULL)) {
		stand_aside();
		chosen = tool.chained; /* which then has the runtime for itself */
		atomic_flag_clear(&tool.taken);
	}
	errno = saved;
	return chosen;
}
