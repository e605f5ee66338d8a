/* A tool to chain: asks for some events, three that the plugin asks for too and two that it does not,
 * writes into every data word that it is given, and notes where one is not what it has put there. */
#include <ompt_types.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { MUTEX_ACQUIRE = 26, MARK = 0x5a5a };

EXPORT atomic_int small_tool_begun, small_tool_tasks, small_tool_threads, small_tool_mutexes, small_tool_finalized,
	small_tool_wrong;

static void wrong_if(int condition)
{
	if (condition)
		atomic_fetch_add(&small_tool_wrong, 1);
}

static void thread_begin(int type, ompt_data_t *thread)
{
	(void)type;
	wrong_if(thread->value != 0);
	thread->value = MARK;
	atomic_fetch_add(&small_tool_threads, 1);
}

static void thread_end(ompt_data_t *thread)
{
	wrong_if(thread != NULL && thread->value != 0 && thread->value != MARK);
}

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned requested,
                           int flags, const void *code)
{
	(void)task;
	(void)frame;
	(void)requested;
	(void)flags;
	(void)code;
	wrong_if(parallel->value != 0);
	parallel->value = MARK;
	atomic_fetch_add(&small_tool_begun, 1);
}

static void implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned parallelism, unsigned index,
                          int flags)
{
	(void)task;
	(void)parallelism;
	(void)index;
	wrong_if(endpoint == OMPT_SCOPE_BEGIN && flags == OMPT_TASK_IMPLICIT && parallel != NULL &&
	         parallel->value != MARK);
	atomic_fetch_add(&small_tool_tasks, endpoint == OMPT_SCOPE_BEGIN);
}

static void mutex_acquire(void)
{
	atomic_fetch_add(&small_tool_mutexes, 1);
}

static void write_report(void)
{
	const char *name = getenv("SMALL_TOOL_REPORT");
	FILE *file = name == NULL ? NULL : fopen(name, "w");

	if (file == NULL)
		return;
	fprintf(file, "begun %d tasks %d threads %d wrong %d\n", atomic_load(&small_tool_begun),
	        atomic_load(&small_tool_tasks), atomic_load(&small_tool_threads), atomic_load(&small_tool_wrong));
	fclose(file);
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
	ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
	ompt_get_callback_t get = (ompt_get_callback_t)lookup("ompt_get_callback");
	ompt_callback_t found = NULL;

	(void)device;
	wrong_if(data->value != MARK);
	wrong_if(lookup("ompt_no_such_thing") != NULL);
	wrong_if(get(OMPT_PARALLEL_BEGIN, &found) != 0);
	set(1 /* thread_begin */, (ompt_callback_t)thread_begin);
	set(OMPT_THREAD_END, (ompt_callback_t)thread_end);
	set(OMPT_IMPLICIT_TASK, (ompt_callback_t)implicit_task);
	set(MUTEX_ACQUIRE, mutex_acquire);
	wrong_if(set(OMPT_PARALLEL_BEGIN, (ompt_callback_t)parallel_begin) != OMPT_SET_ALWAYS);
	wrong_if(get(OMPT_PARALLEL_BEGIN, &found) != 1 || found != (ompt_callback_t)parallel_begin);
	return 1;
}

static void finalize(ompt_data_t *data)
{
	wrong_if(data->value != MARK);
	atomic_fetch_add(&small_tool_finalized, 1);
	write_report();
}

EXPORT ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version)
{
	static ompt_start_tool_result_t result = { initialize, finalize, { MARK } };

	if (getenv("SMALL_TOOL_DECLINES") != NULL)
		return NULL;
	wrong_if(omp_version != 201611 || (strcmp(runtime_version, "made up") != 0 && strstr(runtime_version, "OMP") == NULL));
	return &result;
}
