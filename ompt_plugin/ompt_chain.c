#define _GNU_SOURCE /* dladdr1, dlinfo */
#include "ompt_chain.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ompt_events.h"

static struct {
	ompt_start_tool_result_t *tool; /* NULL: none */
	ompt_function_lookup_t lookup;
	ompt_set_callback_t set;
	ompt_get_callback_t get;
	int answers[OMPT_EVENTS];
	_Atomic(ompt_callback_t) callbacks[OMPT_EVENTS]; /* of the shared events; NULL: not wanted */
} chain;

/* ---- finding it ----------------------------------------------------------------------------------- */

static const struct link_map *module_of(const void *address)
{
	struct link_map *module = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&module, RTLD_DL_LINKMAP) == 0 ? NULL : module;
}

/* The library's own ompt_start_tool. dlsym also looks into what the library depends on, and an OpenMP
 * runtime there has one that searches for tools again. (A list that names this plugin gets no answer from
 * it: it is taken.) */
static ompt_start_tool_t own_start_tool(void *library)
{
	struct link_map *module = NULL;
	void *symbol = dlsym(library, "ompt_start_tool");
	ompt_start_tool_t start;

	if (symbol == NULL || dlinfo(library, RTLD_DI_LINKMAP, &module) != 0 || module_of(symbol) != module)
		return NULL;
	memcpy(&start, &symbol, sizeof(start)); /* ISO C has no conversion from object to function pointers */
	return start;
}

static ompt_start_tool_result_t *ask(const char *path, unsigned omp_version, const char *runtime_version)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	ompt_start_tool_result_t *tool = NULL;

	if (library == NULL)
		return NULL;

	ompt_start_tool_t start = own_start_tool(library);

	if (start != NULL)
		tool = start(omp_version, runtime_version);
	if (tool == NULL)
		dlclose(library);
	return tool;
}

ompt_start_tool_result_t *chain_find(const char *libraries, unsigned omp_version, const char *runtime_version)
{
	ompt_start_tool_result_t *tool = NULL;
	char *list = libraries == NULL ? NULL : strdup(libraries), *rest = list, *path;

	while (tool == NULL && rest != NULL && (path = strsep(&rest, ":")) != NULL)
		if (path[0] != '\0')
			tool = ask(path, omp_version, runtime_version);
	free(list);
	return tool;
}

/* ---- the shared events ---------------------------------------------------------------------------- */

/* The tool's callback for `event`, if it wants it, as type `type`. */
#define THEIRS(event, type) ((type)atomic_load_explicit(&chain.callbacks[event], memory_order_acquire))

static void both_thread_end(ompt_data_t *thread)
{
	ompt_thread_end_t theirs = THEIRS(OMPT_THREAD_END, ompt_thread_end_t);

	events_thread_end(thread);
	if (theirs != NULL)
		theirs(thread);
}

static void both_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned requested,
                                int flags, const void *code)
{
	ompt_parallel_begin_t theirs = THEIRS(OMPT_PARALLEL_BEGIN, ompt_parallel_begin_t);

	events_parallel_begin(task, frame, parallel, requested, flags, code);
	if (theirs != NULL)
		theirs(task, frame, parallel, requested, flags, code);
}

static void both_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
	ompt_parallel_end_t theirs = THEIRS(OMPT_PARALLEL_END, ompt_parallel_end_t);

	events_parallel_end(parallel, task, flags, code);
	if (theirs != NULL)
		theirs(parallel, task, flags, code);
}

static void both_implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned parallelism,
                               unsigned index, int flags)
{
	ompt_implicit_task_t theirs = THEIRS(OMPT_IMPLICIT_TASK, ompt_implicit_task_t);

	events_implicit_task(endpoint, parallel, task, parallelism, index, flags);
	if (theirs != NULL)
		theirs(endpoint, parallel, task, parallelism, index, flags);
}

static void both_sync_region(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
	ompt_sync_region_t theirs = THEIRS(OMPT_SYNC_REGION, ompt_sync_region_t);

	events_sync_region(kind, endpoint, parallel, task, code);
	if (theirs != NULL)
		theirs(kind, endpoint, parallel, task, code);
}

static void both_dispatch(ompt_data_t *parallel, ompt_data_t *task, int kind, ompt_data_t instance)
{
	ompt_dispatch_t theirs = THEIRS(OMPT_DISPATCH, ompt_dispatch_t);

	events_dispatch(parallel, task, kind, instance);
	if (theirs != NULL)
		theirs(parallel, task, kind, instance);
}

/* Not shared: what tasks depend on is kept in words that are the tool's. */
static const struct {
	int event;
	ompt_callback_t callback;
} shared[] = {
	{ OMPT_THREAD_END, (ompt_callback_t)both_thread_end },
	{ OMPT_PARALLEL_BEGIN, (ompt_callback_t)both_parallel_begin },
	{ OMPT_PARALLEL_END, (ompt_callback_t)both_parallel_end },
	{ OMPT_IMPLICIT_TASK, (ompt_callback_t)both_implicit_task },
	{ OMPT_SYNC_REGION, (ompt_callback_t)both_sync_region },
	{ OMPT_DISPATCH, (ompt_callback_t)both_dispatch },
};

ompt_callback_t chain_callback(int event)
{
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (shared[i].event == event)
			return shared[i].callback;
	return NULL;
}

void chain_set_answer(int event, int answer)
{
	chain.answers[event] = answer;
}

/* ---- what the tool sees of the runtime ------------------------------------------------------------- */

static int set_callback(int event, ompt_callback_t callback)
{
	if (chain_callback(event) == NULL)
		return chain.set(event, callback);
	atomic_store_explicit(&chain.callbacks[event], callback, memory_order_release);
	return chain.answers[event];
}

static int get_callback(int event, ompt_callback_t *callback)
{
	if (chain_callback(event) == NULL)
		return chain.get(event, callback);

	ompt_callback_t theirs = atomic_load_explicit(&chain.callbacks[event], memory_order_acquire);

	if (theirs == NULL)
		return 0;
	*callback = theirs;
	return 1;
}

static ompt_interface_fn_t lookup(const char *name)
{
	ompt_interface_fn_t function = chain.lookup(name);

	if (function != NULL && strcmp(name, "ompt_set_callback") == 0)
		return (ompt_interface_fn_t)set_callback;
	if (function != NULL && strcmp(name, "ompt_get_callback") == 0)
		return (ompt_interface_fn_t)get_callback;
	return function;
}

bool chain_initialize(ompt_start_tool_result_t *tool, ompt_function_lookup_t real, int device)
{
	chain.lookup = real;
	chain.set = (ompt_set_callback_t)real("ompt_set_callback");
	chain.get = (ompt_get_callback_t)real("ompt_get_callback");
	if (tool->initialize == NULL || tool->initialize(lookup, device, &tool->tool_data) == 0)
		return false;
	chain.tool = tool;
	return true;
}

void chain_finalize(void)
{
	ompt_start_tool_result_t *tool = chain.tool;

	chain.tool = NULL;
	if (tool != NULL && tool->finalize != NULL)
		tool->finalize(&tool->tool_data);
	for (size_t i = 0; i < OMPT_EVENTS; i++)
		atomic_store(&chain.callbacks[i], NULL);
}
