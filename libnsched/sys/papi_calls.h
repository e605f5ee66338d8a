/* PAPI's calls, looked up when they are wanted. libnsched is not linked with libpapi: most programs want no
 * counters and should not load it, a program that has PAPI keeps its own, and one build of nsched serves
 * machines with and without. Only counter_papi*.c includes this. */
#ifndef NSCHED_PAPI_CALLS_H
#define NSCHED_PAPI_CALLS_H

#include <papi.h>
#include <stddef.h>

struct papi_calls {
	int (*library_init)(int version);
	int (*thread_init)(unsigned long (*id)(void));
	int (*register_thread)(void);
	int (*unregister_thread)(void);
	int (*num_components)(void);
	const PAPI_component_info_t *(*get_component_info)(int component);
	int (*get_event_component)(int code);
	int (*event_name_to_code)(const char *name, int *code);
	int (*event_code_to_name)(int code, char *name);
	int (*enum_cmp_event)(int *code, int modifier, int component);
	int (*create_eventset)(int *set);
	int (*assign_eventset_component)(int set, int component);
	int (*attach)(int set, unsigned long tid);
	int (*add_named_event)(int set, const char *name);
	int (*start)(int set);
	int (*read)(int set, long long *values);
	int (*stop)(int set, long long *values);
	int (*cleanup_eventset)(int set);
	int (*destroy_eventset)(int *set);
	const char *(*strerror)(int error);
};

/* Loads `library` (NULL: the one of the version that this was built with) and initializes it: 0, or -errno
 * and the reason. The library stays. */
int papi_load(struct papi_calls *papi, const char *library, char *why, size_t bytes);

/* Has the process the library loaded already, so that the program may be using it? */
int papi_is_loaded(const char *library);

#endif
