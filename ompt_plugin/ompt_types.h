/* The part of the OpenMP tools interface (OpenMP 5.1, chapter 4) that the plugin uses, declared here so
 * that it builds with any compiler: gcc comes without omp-tools.h, and the one of LLVM 14 lacks what
 * LLVM 19 sends. Names and numbers are the standard's; only what is used is here.
 *
 * Enumerations arrive as int: a newer runtime may send values that no enum of today has. */
#ifndef NSCHED_OMPT_TYPES_H
#define NSCHED_OMPT_TYPES_H

#include <stdint.h>

typedef union ompt_data {
	uint64_t value;
	void *ptr;
} ompt_data_t;

typedef struct ompt_frame ompt_frame_t; /* never looked into */

/* ---- events, by number ------------------------------------------------------------------------- */

enum ompt_event {
	OMPT_THREAD_BEGIN = 1,
	OMPT_THREAD_END = 2,
	OMPT_PARALLEL_BEGIN = 3,
	OMPT_PARALLEL_END = 4,
	OMPT_IMPLICIT_TASK = 7,
	OMPT_TASK_SCHEDULE = 6,
	OMPT_DEPENDENCES = 18,
	OMPT_SYNC_REGION = 23,
	OMPT_DISPATCH = 32,
	OMPT_EVENTS = 64, /* room for more than any runtime has today (37 in OpenMP 5.1) */
};

/* Answers of ompt_set_callback: from here on the event comes, if perhaps not always. */
enum { OMPT_SET_ERROR = 0, OMPT_SET_NEVER = 1, OMPT_SET_SOMETIMES = 3, OMPT_SET_ALWAYS = 5 };

enum { OMPT_SCOPE_BEGIN = 1, OMPT_SCOPE_END = 2 };

enum { OMPT_TASK_INITIAL = 0x1, OMPT_TASK_IMPLICIT = 0x2 };

enum { OMPT_PARALLEL_LEAGUE = 0x40000000 }; /* the "region" is the league of a teams construct */

enum {
	OMPT_SYNC_BARRIER_IMPLICIT = 2,          /* LLVM <= 16: any implicit barrier */
	OMPT_SYNC_BARRIER_EXPLICIT = 3,
	OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL = 9, /* LLVM 19: the one at the end of a region */
};

/* ---- callbacks ----------------------------------------------------------------------------------- */

typedef void (*ompt_callback_t)(void); /* any of the below, as it goes through ompt_set_callback */

typedef void (*ompt_thread_end_t)(ompt_data_t *thread_data);
typedef void (*ompt_parallel_begin_t)(ompt_data_t *encountering_task_data, const ompt_frame_t *frame,
                                      ompt_data_t *parallel_data, unsigned requested_parallelism, int flags,
                                      const void *codeptr_ra);
typedef void (*ompt_parallel_end_t)(ompt_data_t *parallel_data, ompt_data_t *encountering_task_data, int flags,
                                    const void *codeptr_ra);
typedef void (*ompt_implicit_task_t)(int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
                                     unsigned actual_parallelism, unsigned index, int flags);
typedef void (*ompt_sync_region_t)(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
                                   const void *codeptr_ra);

/* What an explicit task depends on: an address of the program's, unless its kind is of a loop's iterations. */
typedef struct ompt_dependence {
	ompt_data_t variable;
	int kind;
} ompt_dependence_t;

enum { OMPT_DEPENDENCE_IN = 1, OMPT_DEPENDENCE_SOURCE = 5, OMPT_DEPENDENCE_SINK = 6 };

typedef void (*ompt_dependences_t)(ompt_data_t *task_data, const ompt_dependence_t *dependences, int count);
typedef void (*ompt_task_schedule_t)(ompt_data_t *prior_task_data, int prior_status, ompt_data_t *next_task_data);

/* A piece of a construct is given to a thread: LLVM >= 15. */
enum { OMPT_DISPATCH_WS_LOOP_CHUNK = 3 };
typedef struct ompt_dispatch_chunk {
	uint64_t start, iterations;
} ompt_dispatch_chunk_t;
typedef void (*ompt_dispatch_t)(ompt_data_t *parallel_data, ompt_data_t *task_data, int kind, ompt_data_t instance);

/* ---- entry points of the runtime, found by name -------------------------------------------------- */

typedef void (*ompt_interface_fn_t)(void);
typedef ompt_interface_fn_t (*ompt_function_lookup_t)(const char *name);

typedef int (*ompt_set_callback_t)(int event, ompt_callback_t callback);
typedef int (*ompt_get_callback_t)(int event, ompt_callback_t *callback);
typedef int (*ompt_get_task_info_t)(int ancestor_level, int *flags, ompt_data_t **task_data, ompt_frame_t **frame,
                                    ompt_data_t **parallel_data, int *thread_num);

/* ---- what a tool gives the runtime ---------------------------------------------------------------- */

typedef int (*ompt_initialize_t)(ompt_function_lookup_t lookup, int initial_device_num, ompt_data_t *tool_data);
typedef void (*ompt_finalize_t)(ompt_data_t *tool_data);

typedef struct ompt_start_tool_result {
	ompt_initialize_t initialize;
	ompt_finalize_t finalize;
	ompt_data_t tool_data;
} ompt_start_tool_result_t;

typedef ompt_start_tool_result_t *(*ompt_start_tool_t)(unsigned omp_version, const char *runtime_version);

/* The one symbol that the plugin exports. */
__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version,
                                                                                 const char *runtime_version);

#endif
