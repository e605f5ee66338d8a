/* Further tools behind this one: NSCHED_TOOL_LIBRARIES names libraries (separated by colons) as
 * OMP_TOOL_LIBRARIES does for the runtime, which takes only one tool. The first that accepts gets every
 * event it asks for, straight from the runtime except for the few that the plugin uses too.
 *
 * The chained tool owns all data words of threads, regions and tasks; the plugin then keeps its own
 * elsewhere. */
#ifndef NSCHED_OMPT_CHAIN_H
#define NSCHED_OMPT_CHAIN_H

#include <stdbool.h>

#include "ompt_types.h"

/* Loads the libraries of the list, asks each, and returns what the first that accepts has answered;
 * NULL: none, or no list. The others are unloaded again. */
ompt_start_tool_result_t *chain_find(const char *libraries, unsigned omp_version, const char *runtime_version);

/* The callback to register for `event`: it calls the plugin's and then the chained tool's. */
ompt_callback_t chain_callback(int event);

/* The runtime's answer to that registration: it becomes the chained tool's. */
void chain_set_answer(int event, int answer);

/* Lets the tool initialize, with a lookup that keeps the shared events apart. False: it declined. */
bool chain_initialize(ompt_start_tool_result_t *tool, ompt_function_lookup_t lookup, int device);

void chain_finalize(void);

#endif
