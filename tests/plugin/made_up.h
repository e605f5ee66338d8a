/* A made-up OpenMP runtime: what a tool's entry sees of one, and nothing of OpenMP. A module of its own,
 * named libomp*, since the plugin tells the runtime's code addresses from the program's. */
#ifndef NSCHED_TEST_MADE_UP_H
#define NSCHED_TEST_MADE_UP_H

#include <ompt_types.h>

struct made_up {
	int answers[OMPT_EVENTS]; /* of ompt_set_callback, by event */
	ompt_callback_t callbacks[OMPT_EVENTS];
	ompt_function_lookup_t lookup;
	const void *inside; /* a code address of the runtime's */
	/* What ompt_get_task_info says of the calling thread's parent task from now on. */
	void (*set_parent)(ompt_data_t *task);
	void (*reset)(void); /* all events always come, no callback is set */
};

typedef struct made_up *(*made_up_t)(void); /* the module's one symbol, `made_up` */

#endif
