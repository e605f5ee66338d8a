/* A tool that asks for the same events as the plugin and does nothing with them: what is paid for having
 * a tool at all. */
#include <ompt_types.h>
#include <stddef.h>

static void thread_end(ompt_data_t *thread)
{
	(void)thread;
}

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned requested,
                           int flags, const void *code)
{
	(void)task, (void)frame, (void)parallel, (void)requested, (void)flags, (void)code;
}

static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
	(void)parallel, (void)task, (void)flags, (void)code;
}

static void implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned parallelism, unsigned index,
                          int flags)
{
	(void)endpoint, (void)parallel, (void)task, (void)parallelism, (void)index, (void)flags;
}

static void sync_region(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
	(void)kind, (void)endpoint, (void)parallel, (void)task, (void)code;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
	ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");

	(void)device, (void)data;
	if (set == NULL)
		return 0;
	set(OMPT_THREAD_END, (ompt_callback_t)thread_end);
	set(OMPT_PARALLEL_BEGIN, (ompt_callback_t)parallel_begin);
	set(OMPT_PARALLEL_END, (ompt_callback_t)parallel_end);
	set(OMPT_IMPLICIT_TASK, (ompt_callback_t)implicit_task);
	set(OMPT_SYNC_REGION, (ompt_callback_t)sync_region);
	return 1;
}

static void finalize(ompt_data_t *data)
{
	(void)data;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version)
{
	static ompt_start_tool_result_t result = { initialize, finalize, { 0 } };

	(void)omp_version, (void)runtime_version;
	return &result;
}
