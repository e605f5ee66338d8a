/* A libpapi of a machine with a PMU, as far as nsched calls it: one component that can attach event sets to
 * other threads, two events, and counts that follow from the thread's number. Event sets that leak, and calls
 * out of order, end the process. */
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 64 };
static struct { int used, events, running; unsigned long tid; long long reads; } sets[SETS];
static PAPI_component_info_t component = { .name = "perf_event", .attach = 1 };

#define EXPORT __attribute__((visibility("default")))
EXPORT int fake_papi_open_sets(void);

#define HOLD(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "fake_papi: %s does not hold in %s\n", #condition, __func__); \
			abort(); \
		} \
	} while (0)

int fake_papi_open_sets(void)
{
	int open = 0;
	for (int i = 0; i < SETS; i++) open += sets[i].used;
	return open;
}

EXPORT int PAPI_library_init(int version) { return version; }
EXPORT int PAPI_thread_init(unsigned long (*id)(void)) { return id ? PAPI_OK : PAPI_EINVAL; }
EXPORT int PAPI_register_thread(void) { return PAPI_OK; }
EXPORT int PAPI_unregister_thread(void) { return PAPI_OK; }
EXPORT int PAPI_num_components(void) { return 1; }
EXPORT const PAPI_component_info_t *PAPI_get_component_info(int c) { return c == 0 ? &component : NULL; }
EXPORT int PAPI_get_event_component(int code) { return code & PAPI_NATIVE_MASK ? 0 : PAPI_ENOEVNT; }

EXPORT int PAPI_event_name_to_code(const char *name, int *code)
{
	*code = PAPI_NATIVE_MASK;
	return strstr(name, "DRAM") ? PAPI_OK : PAPI_ENOEVNT;
}

EXPORT int PAPI_event_code_to_name(int code, char *name)
{
	(void)code;
	strcpy(name, "cpu::LOCAL_DRAM");
	return PAPI_OK;
}

EXPORT int PAPI_enum_cmp_event(int *code, int modifier, int c)
{
	(void)code;
	(void)c;
	return modifier == PAPI_ENUM_FIRST ? PAPI_OK : PAPI_ENOEVNT;
}

EXPORT int PAPI_create_eventset(int *set)
{
	HOLD(*set == PAPI_NULL);
	for (*set = 0; *set < SETS && sets[*set].used; ++*set) continue;
	if (*set == SETS) return PAPI_ENOMEM;
	memset(&sets[*set], 0, sizeof sets[*set]);
	sets[*set].used = 1;
	return PAPI_OK;
}

EXPORT int PAPI_assign_eventset_component(int set, int c)
{
	HOLD(sets[set].used && !sets[set].tid && c == 0);
	return PAPI_OK;
}

/* No thread has the number 666. */
EXPORT int PAPI_attach(int set, unsigned long tid)
{
	HOLD(sets[set].used && !sets[set].events && !sets[set].running);
	sets[set].tid = tid;
	return tid == 666 ? PAPI_ESYS : PAPI_OK;
}

EXPORT int PAPI_add_named_event(int set, const char *name)
{
	HOLD(sets[set].used && sets[set].tid && strstr(name, "DRAM"));
	sets[set].events++;
	return PAPI_OK;
}

EXPORT int PAPI_start(int set)
{
	HOLD(sets[set].used && sets[set].events == 2 && !sets[set].running);
	sets[set].running = 1;
	return PAPI_OK;
}

EXPORT int PAPI_read(int set, long long *values)
{
	HOLD(sets[set].used && sets[set].running);
	sets[set].reads++;
	values[0] = (long long)sets[set].tid * 10 * sets[set].reads;
	values[1] = (long long)sets[set].tid * sets[set].reads;
	return PAPI_OK;
}

EXPORT int PAPI_stop(int set, long long *values)
{
	HOLD(sets[set].used && !values);
	sets[set].running = 0;
	return PAPI_OK;
}

EXPORT int PAPI_cleanup_eventset(int set)
{
	HOLD(sets[set].used && !sets[set].running);
	sets[set].events = 0;
	return PAPI_OK;
}

EXPORT int PAPI_destroy_eventset(int *set)
{
	HOLD(sets[*set].used && !sets[*set].events);
	sets[*set].used = 0;
	*set = PAPI_NULL;
	return PAPI_OK;
}

EXPORT char *PAPI_strerror(int error)
{
	static char text[] = "as told";
	(void)error;
	return text;
}
