/* Translates the runtime's events to calls of nsched's public API. Beyond this and the chain nobody sees
 * an OMPT type.
 *
 * Rules for all callbacks: the session's state is looked at first; the caller's errno is kept (by the
 * session and the API, which alone could change it); NULL data is normal; in the steady state there is no
 * system call. */
#ifndef NSCHED_OMPT_EVENTS_H
#define NSCHED_OMPT_EVENTS_H

#include <stdbool.h>

#include "ompt_types.h"

struct events_entry {
	int event;
	ompt_callback_t callback;
	bool needed; /* without it the plugin can do nothing */
};

enum { EVENTS_USED = 8 };

extern const struct events_entry events_used[EVENTS_USED];

/* Before any event. `barriers`: sync_region events come. `ancestors`: NULL, or the runtime's
 * ompt_get_task_info where the data words of regions belong to another tool. */
void events_prepare(bool barriers, ompt_get_task_info_t ancestors);

void events_thread_end(ompt_data_t *thread_data);
void events_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned requested,
                           int flags, const void *code);
void events_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code);
void events_implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned parallelism, unsigned index,
                          int flags);
void events_dependences(ompt_data_t *task, const ompt_dependence_t *dependences, int count);
void events_task_schedule(ompt_data_t *prior, int status, ompt_data_t *next);
void events_dispatch(ompt_data_t *parallel, ompt_data_t *task, int kind, ompt_data_t instance);
void events_sync_region(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *code);

#endif
