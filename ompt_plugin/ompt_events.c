#include "ompt_events.h"

#include <stddef.h>

#include "ompt_region.h"
#include "ompt_runtime.h"
#include "ompt_session.h"

/* A thread's own state. In TLS and not in thread_data: no event that matters here carries that word, to
 * ask for it costs 13 ns, some threads have none, and a chained tool may own it. Initial-exec: a few
 * instructions instead of a call in each callback; its bytes come out of what the loader keeps for
 * libraries that are loaded late (512 in glibc, by default). */
static __thread __attribute__((tls_model("initial-exec"))) struct worker {
	nsched_thread_t *thread; /* of the opening below; NULL: none, or it could not be had */
	uint32_t opening;        /* the session_state that `thread` was made under */
	bool timing;             /* between the API's region_begin and region_end */
	region_t region;         /* that it works in */
	region_t begun;          /* that it has just begun (only where another tool owns the data words) */
	const void *key;         /* of the region being timed */
} worker;

static struct {
	bool barriers;
	ompt_get_task_info_t ancestors;
} runtime;

const struct events_entry events_used[EVENTS_USED] = {
	{ OMPT_PARALLEL_BEGIN, (ompt_callback_t)events_parallel_begin, true },
	{ OMPT_IMPLICIT_TASK, (ompt_callback_t)events_implicit_task, true },
	{ OMPT_PARALLEL_END, (ompt_callback_t)events_parallel_end, false },
	{ OMPT_SYNC_REGION, (ompt_callback_t)events_sync_region, false },
	{ OMPT_THREAD_END, (ompt_callback_t)events_thread_end, false },
	{ OMPT_DEPENDENCES, (ompt_callback_t)events_dependences, false },
	{ OMPT_TASK_SCHEDULE, (ompt_callback_t)events_task_schedule, false },
	{ OMPT_DISPATCH, (ompt_callback_t)events_dispatch, false },
};

void events_prepare(bool barriers, ompt_get_task_info_t ancestors)
{
	runtime.barriers = barriers;
	runtime.ancestors = ancestors;
	region_store_clear();
}

/* ---- from the thread that begins a region to those that work in it -------------------------------- */

/* The value of parallel_data is copied along by every runtime, while its address differs between events.
 * Where another tool owns it, the encountering task is what both sides know: the beginner is given it,
 * workers ask for their parent task. (A serialized region shows workers another task, but there the
 * only worker is the beginner, who has it in `begun`.) */
static void hand_over(struct worker *self, ompt_data_t *parallel, ompt_data_t *task, region_t region)
{
	if (runtime.ancestors == NULL) {
		if (parallel != NULL)
			parallel->value = region;
		return;
	}
	self->begun = region;
	region_store_put(task, region);
}

static region_t take_over(struct worker *self, const ompt_data_t *parallel, unsigned index)
{
	region_t begun = self->begun;
	ompt_data_t *task = NULL, *ignored_parallel = NULL;
	ompt_frame_t *frame = NULL;
	int flags = 0, number = 0;

	if (runtime.ancestors == NULL)
		return parallel == NULL ? 0 : parallel->value;
	self->begun = 0;
	if (index == 0)
		return begun;
	if (runtime.ancestors(1, &flags, &task, &frame, &ignored_parallel, &number) == 0)
		return 0; /* an initial task: it has no parent */
	return region_store_get(task);
}

static region_t hand_back(const ompt_data_t *parallel, const ompt_data_t *task)
{
	if (runtime.ancestors != NULL)
		return region_store_take(task);
	return parallel == NULL ? 0 : parallel->value;
}

/* ---- threads -------------------------------------------------------------------------------------- */

/* Threads are registered at the first task that they get in a region of the program, not in thread_begin:
 * hidden helpers are announced there as ordinary workers, and some roots are never announced. */
static nsched_thread_t *thread_of(struct worker *self, uint32_t state)
{
	if (self->opening != state) {
		self->opening = state;
		self->timing = false;
		self->thread = session_register(state);
	}
	return self->thread;
}

static void forget(struct worker *self, uint32_t state)
{
	if (self->opening == state && self->thread != NULL)
		session_unregister(state, self->thread);
	self->thread = NULL;
	self->opening = SESSION_OFF;
	self->timing = false;
}

static void stop_timing(struct worker *self, uint32_t state)
{
	if (self->timing && self->opening == state)
		nsched_region_end(self->thread);
	self->timing = false;
}

/* A worker is told late that its task has ended (when the next region starts), so that its time can be
 * taken only where barriers are announced. The beginner's end comes in time. */
static void start_work(struct worker *self, uint32_t state, unsigned index)
{
	nsched_thread_t *thread = thread_of(self, state);

	if (thread == NULL)
		return;
	nsched_thread_place(thread);
	if (!region_is_timed(self->region) || (index != 0 && !runtime.barriers))
		return;
	self->key = region_key(self->region);
	self->timing = true;
	nsched_region_begin(thread, self->key);
}

static void task_begin(struct worker *self, uint32_t state, const ompt_data_t *parallel, unsigned index)
{
	self->region = take_over(self, parallel, index);
	if (region_is_served(self->region)) {
		if (state >= SESSION_OPEN)
			start_work(self, state, index);
	} else if (region_kind(self->region) == REGION_HELPER) {
		forget(self, state); /* a pooled worker that helps from now on */
	}
}

static void task_end(struct worker *self, uint32_t state, unsigned index)
{
	if (region_is_timed(self->region)) {
		if (index == 0)
			stop_timing(self, state);
		self->timing = false;
	}
	self->region = region_outer(self->region);
}

/* LLVM 19 names the barrier at a region's end. Up to 16 all implicit barriers are of one kind; there the
 * last one has the region's own code address on the thread that began it, and none on the others. */
static bool ends_region(int kind, const void *code, const void *key)
{
	return kind == OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL ||
	       (kind == OMPT_SYNC_BARRIER_IMPLICIT && (code == NULL || code == key));
}

/* ---- the callbacks -------------------------------------------------------------------------------- */

void events_thread_end(ompt_data_t *thread_data)
{
	uint32_t state = session_now();

	(void)thread_data;
	if (state == SESSION_OFF)
		return;
	forget(&worker, state);
	worker = (struct worker){ 0 };
}

void events_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned requested,
                           int flags, const void *code)
{
	uint32_t state = session_now();
	struct worker *self = &worker;
	region_t region;

	(void)frame;
	if (state == SESSION_OFF)
		return;
	region = region_enter(self->region, (flags & OMPT_PARALLEL_LEAGUE) != 0, runtime_has(code), code);
	hand_over(self, parallel, task, region);
	if (state == SESSION_ARMED && requested != 1 && region_is_served(region))
		session_begin();
}

void events_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
	uint32_t state = session_now();
	struct worker *self = &worker;
	region_t region;

	(void)flags;
	(void)code;
	if (state == SESSION_OFF)
		return;
	region = hand_back(parallel, task);
	if (region_is_timed(region))
		stop_timing(self, state);
	if (region != 0)
		self->region = region_outer(region);
}

void events_implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned parallelism, unsigned index,
                          int flags)
{
	uint32_t state = session_now();

	(void)task;
	(void)parallelism;
	(void)flags; /* initial tasks begin with no region, members of a league with the league's */
	if (state == SESSION_OFF)
		return;
	if (endpoint == OMPT_SCOPE_BEGIN)
		task_begin(&worker, state, parallel, index);
	else if (endpoint == OMPT_SCOPE_END)
		task_end(&worker, state, index);
}

void events_sync_region(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
	uint32_t state = session_now();
	struct worker *self = &worker;

	(void)parallel;
	(void)task;
	if (endpoint != OMPT_SCOPE_BEGIN || state == SESSION_OFF)
		return;
	if (self->timing && region_is_timed(self->region) && ends_region(kind, code, self->key))
		stop_timing(self, state);
}

/* ---- tasks and loops ------------------------------------------------------------------------------ */

/* What a task writes, else what it reads: its block is where it should run. The word of an explicit task holds the
 * address; words of implicit tasks are never written, and where another tool owns them all nothing is done. */
void events_dependences(ompt_data_t *task, const ompt_dependence_t *dependences, int count)
{
	const void *address = NULL;

	if (session_now() < SESSION_OPEN || runtime.ancestors != NULL || task == NULL || dependences == NULL)
		return;
	for (int i = 0; i < count; i++) {
		int kind = dependences[i].kind;

		if (kind == OMPT_DEPENDENCE_SOURCE || kind == OMPT_DEPENDENCE_SINK)
			continue;
		if (address == NULL || kind != OMPT_DEPENDENCE_IN)
			address = dependences[i].variable.ptr;
		if (kind != OMPT_DEPENDENCE_IN)
			break;
	}
	task->value = (uintptr_t)address;
}

void events_task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
	uint32_t state = session_now();
	struct worker *self = &worker;

	(void)prior;
	(void)status;
	if (state < SESSION_OPEN || runtime.ancestors != NULL || next == NULL || next->value == 0)
		return;
	if (self->opening == state && self->thread != NULL)
		nsched_mem_touch(self->thread, next->ptr);
}

void events_dispatch(ompt_data_t *parallel, ompt_data_t *task, int kind, ompt_data_t instance)
{
	uint32_t state = session_now();
	struct worker *self = &worker;

	(void)parallel;
	(void)task;
	if (state < SESSION_OPEN || kind != OMPT_DISPATCH_WS_LOOP_CHUNK || instance.ptr == NULL)
		return;
	if (self->timing && self->opening == state)
		nsched_loop_chunk(self->thread, ((const ompt_dispatch_chunk_t *)instance.ptr)->start);
}
