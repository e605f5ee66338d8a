/* Counters by PAPI, with its rules for threads: an event set belongs to one thread. Where PAPI can attach one to
 * another thread (hardware counters) the stepping thread has them all, and the program's threads do nothing;
 * where it can't (software-defined events, which answer for the thread that asks), each thread makes, starts and
 * reads its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counter.h"
#include "counter_events.h"
#include "papi_calls.h"
#include "pure/nearest.h"

enum {
	CPUINFO_BYTES = 4096,     /* the first CPU's part is below 2 KiB */
	NAMES_MOST = 1024,        /* events looked through for the one that was meant */
};

enum stage { SLOT_NONE, SLOT_WANTED, SLOT_OPEN, SLOT_FAILED };

struct slot {
	_Atomic int stage;
	int set;                              /* of PAPI; its owner's alone */
	_Atomic uint64_t at_ns, value[COUNTERS];
};

struct counter_state {
	struct papi_calls papi;
	struct counter_events events;
	bool by_itself, shared;               /* shared: the program uses PAPI too */
	unsigned max_threads;
	struct slot *slot;
};

/* Never freed, since a thread may be in the middle of reading when all ends; used anew by the next start. */
static struct counter_state one;

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- event sets ----------------------------------------------------------------------------------------- */

static void close_set(const struct papi_calls *papi, int set)
{
	(void)papi->stop(set, NULL);
	(void)papi->cleanup_eventset(set);
	(void)papi->destroy_eventset(&set);
}

/* An event set of the calling thread, or attached to `tid` (0: not), that counts. What PAPI says. */
static int open_set(struct counter_state *s, int component, pid_t tid, int *set)
{
	const struct papi_calls *papi = &s->papi;
	*set = PAPI_NULL;
	int ret = papi->create_eventset(set);
	if (ret != PAPI_OK) return ret;
	if (tid) {
		ret = papi->assign_eventset_component(*set, component);
		if (ret == PAPI_OK) ret = papi->attach(*set, (unsigned long)tid);
	}
	if (ret == PAPI_OK) ret = papi->add_named_event(*set, s->events.local);
	if (ret == PAPI_OK) ret = papi->add_named_event(*set, s->events.remote);
	if (ret == PAPI_OK) ret = papi->start(*set);
	if (ret != PAPI_OK) close_set(papi, *set);
	return ret;
}

static int read_set(const struct counter_state *s, int set, uint64_t value[COUNTERS])
{
	long long counted[COUNTERS];
	int ret = s->papi.read(set, counted);
	if (ret != PAPI_OK) return -EIO;
	for (unsigned k = 0; k < COUNTERS; k++) value[k] = counted[k] > 0 ? (uint64_t)counted[k] : 0;
	if (s->events.total) value[COUNTER_LOCAL] = value[COUNTER_LOCAL] > value[COUNTER_REMOTE] ? value[COUNTER_LOCAL] - value[COUNTER_REMOTE] : 0;
	return 0;
}

/* ---- start ---------------------------------------------------------------------------------------------- */

static bool slurp(const char *root, const char *name, char *text, size_t bytes)
{
	char path[128];
	snprintf(path, sizeof path, "%s%s", root, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, bytes - 1);
	if (fd >= 0) close(fd);
	text[got > 0 ? got : 0] = 0;
	return got > 0;
}

static bool has_pmu(const char *root)
{
	static const char *const pmus[] = { "cpu", "cpu_core", "armv8_pmuv3_0", "armv8_pmuv3" };
	char path[128];
	for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++) {
		snprintf(path, sizeof path, "%s/sys/bus/event_source/devices/%s", root, pmus[i]);
		if (!access(path, F_OK)) return true;
	}
	return false;
}

static int choose_events(const struct counter_setup *setup, struct counter_events *events, char why[COUNTER_WHY])
{
	char cpuinfo[CPUINFO_BYTES], cpu[CPU_NAME_BYTES];
	if (setup->events[0]) return counter_events_named(setup->events, events, why, COUNTER_WHY);
	(void)slurp(setup->root, "/proc/cpuinfo", cpuinfo, sizeof cpuinfo);
	if (!has_pmu(setup->root)) {
		snprintf(why, COUNTER_WHY, "no hardware counters here (a virtual machine?); events=LOCAL,REMOTE names others");
		return -ENODEV;
	}
	if (!counter_events_of_cpu(cpuinfo, events, cpu)) return 0;
	snprintf(why, COUNTER_WHY, "no events are known for %s; events=LOCAL,REMOTE names them", cpu);
	return -ENOENT;
}

/* The event that was probably meant, among those of the components that work. */
static void find_nearest(const struct papi_calls *papi, const char *word, char nearest[PAPI_MAX_STR_LEN])
{
	unsigned least = (unsigned)strlen(word) / 2, looked = 0;
	nearest[0] = 0;
	for (int c = 0; c < papi->num_components() && looked < NAMES_MOST; c++) {
		int code = PAPI_NATIVE_MASK;
		for (int ret = papi->enum_cmp_event(&code, PAPI_ENUM_FIRST, c); ret == PAPI_OK && looked < NAMES_MOST;
		     ret = papi->enum_cmp_event(&code, PAPI_ENUM_EVENTS, c), looked++) {
			char name[PAPI_MAX_STR_LEN];
			if (papi->event_code_to_name(code, name) != PAPI_OK) continue;
			unsigned distance = nearest_distance(word, name);
			if (distance >= least) continue;
			least = distance;
			memcpy(nearest, name, sizeof name);
		}
	}
}

static int component_of(const struct papi_calls *papi, const char *event, char why[COUNTER_WHY])
{
	char nearest[PAPI_MAX_STR_LEN];
	int code, ret = papi->event_name_to_code(event, &code);
	if (ret == PAPI_OK) return papi->get_event_component(code);
	find_nearest(papi, event, nearest);
	snprintf(why, COUNTER_WHY, "PAPI knows no event \"%.60s\"%s%.60s%s", event, nearest[0] ? "; did you mean \"" : ", or it is not allowed here",
	         nearest, nearest[0] ? "\"?" : "");
	return -ENOENT;
}

/* Can PAPI attach, and does what it then starts count? Else each thread has to do it for itself: is it allowed? */
static int probe(struct counter_state *s, int component, char why[COUNTER_WHY])
{
	const PAPI_component_info_t *info = s->papi.get_component_info(component);
	uint64_t value[COUNTERS];
	int set, ret = PAPI_ECMP;
	if (info && info->attach) ret = open_set(s, component, (pid_t)syscall(SYS_gettid), &set);
	s->by_itself = ret != PAPI_OK;
	if (s->by_itself) {
		(void)s->papi.register_thread();
		ret = open_set(s, component, 0, &set);
	}
	if (ret != PAPI_OK) {
		snprintf(why, COUNTER_WHY, "PAPI refused to count %.60s: %s", s->events.remote, s->papi.strerror(ret));
		return -EIO;
	}
	ret = read_set(s, set, value);
	if (ret) snprintf(why, COUNTER_WHY, "PAPI started %.60s, but can't read it", s->events.remote);
	close_set(&s->papi, set);
	return ret;
}

static int make_slots(struct counter_state *s, unsigned max_threads, char why[COUNTER_WHY])
{
	if (s->slot && s->max_threads < max_threads) s->slot = NULL;   /* may be in use: left where it is */
	if (!s->slot) s->slot = calloc(max_threads, sizeof *s->slot);
	if (!s->slot) {
		snprintf(why, COUNTER_WHY, "no memory");
		return -ENOMEM;
	}
	s->max_threads = max_threads;
	for (unsigned i = 0; i < max_threads; i++) atomic_store(&s->slot[i].stage, SLOT_NONE);
	return 0;
}

static int papi_start(const struct counter_setup *setup, void **state, struct counter_about *about, char why[COUNTER_WHY])
{
	int ret = choose_events(setup, &one.events, why), local, remote;
	if (ret) return ret;
	one.shared = papi_is_loaded(setup->library);
	if (one.shared && !one.events.named && !setup->insist) {
		snprintf(why, COUNTER_WHY, "the program has PAPI loaded and may be counting itself; counters=on counts beside it");
		return -EBUSY;
	}
	ret = papi_load(&one.papi, setup->library, why, COUNTER_WHY);
	if (ret) return ret;
	if ((local = component_of(&one.papi, one.events.local, why)) < 0) return -ENOENT;
	if ((remote = component_of(&one.papi, one.events.remote, why)) < 0) return -ENOENT;
	if (local != remote) {
		snprintf(why, COUNTER_WHY, "%.60s and %.60s are of two components of PAPI; one event set takes one", one.events.local, one.events.remote);
		return -EINVAL;
	}
	ret = probe(&one, local, why);
	if (!ret) ret = make_slots(&one, setup->max_threads, why);
	if (ret) return ret;
	*about = (struct counter_about){ .by_itself = one.by_itself, .demand = one.events.demand, .named = one.events.named };
	snprintf(about->events, sizeof about->events, "%.90s, %.90s", one.events.local, one.events.remote);
	*state = &one;
	return 0;
}

/* ---- hooks ---------------------------------------------------------------------------------------------- */

static int papi_thread_add(void *state, unsigned thread, pid_t tid)
{
	struct counter_state *s = state;
	if (thread >= s->max_threads) return -EINVAL;
	struct slot *slot = &s->slot[thread];
	int code, component;
	atomic_store(&slot->at_ns, 0);
	if (s->by_itself) {
		atomic_store(&slot->stage, SLOT_WANTED);
		return 0;
	}
	component = s->papi.event_name_to_code(s->events.local, &code) == PAPI_OK ? s->papi.get_event_component(code) : -1;
	int ret = component < 0 ? PAPI_ENOEVNT : open_set(s, component, tid, &slot->set);
	atomic_store(&slot->stage, ret == PAPI_OK ? SLOT_OPEN : SLOT_FAILED);
	return ret == PAPI_OK ? 0 : -EIO;
}

static void papi_thread_remove(void *state, unsigned thread)
{
	struct counter_state *s = state;
	struct slot *slot = &s->slot[thread];
	/* the event set of a thread that reads for itself went with it, or is lost: it can't be closed from here */
	if (atomic_exchange(&slot->stage, SLOT_NONE) == SLOT_OPEN && !s->by_itself) close_set(&s->papi, slot->set);
}

static int papi_read(void *state, unsigned thread, uint64_t *at_ns, uint64_t value[COUNTERS])
{
	struct counter_state *s = state;
	struct slot *slot = &s->slot[thread];
	int stage = atomic_load(&slot->stage);
	if (stage != SLOT_OPEN) return stage == SLOT_FAILED ? -EIO : -EAGAIN;
	if (!s->by_itself) {
		*at_ns = now_ns();
		return read_set(s, slot->set, value);
	}
	/* both values are of the time at_ns or a little later: a look in between is a 100th of what is seen */
	*at_ns = atomic_load_explicit(&slot->at_ns, memory_order_acquire);
	for (unsigned k = 0; k < COUNTERS; k++) value[k] = atomic_load_explicit(&slot->value[k], memory_order_relaxed);
	return *at_ns ? 0 : -EAGAIN;
}

static void open_own(struct counter_state *s, struct slot *slot)
{
	int ret = s->papi.register_thread();
	if (ret == PAPI_OK) ret = open_set(s, 0, 0, &slot->set);
	int wanted = SLOT_WANTED;
	atomic_compare_exchange_strong(&slot->stage, &wanted, ret == PAPI_OK ? SLOT_OPEN : SLOT_FAILED);
}

static void papi_look(void *state, unsigned thread)
{
	struct counter_state *s = state;
	struct slot *slot = &s->slot[thread];
	uint64_t value[COUNTERS];
	if (atomic_load_explicit(&slot->stage, memory_order_relaxed) == SLOT_WANTED) open_own(s, slot);
	if (atomic_load_explicit(&slot->stage, memory_order_relaxed) != SLOT_OPEN || read_set(s, slot->set, value)) return;
	for (unsigned k = 0; k < COUNTERS; k++) atomic_store_explicit(&slot->value[k], value[k], memory_order_relaxed);
	atomic_store_explicit(&slot->at_ns, now_ns(), memory_order_release);
}

static void papi_leave(void *state, unsigned thread)
{
	struct counter_state *s = state;
	struct slot *slot = &s->slot[thread];
	int open = SLOT_OPEN;
	if (!s->by_itself || !atomic_compare_exchange_strong(&slot->stage, &open, SLOT_NONE)) return;
	close_set(&s->papi, slot->set);
	if (!s->shared) (void)s->papi.unregister_thread();
}

/* PAPI itself is left as it is: the program, or another tool, may have come to use it. */
static void papi_stop(void *state)
{
	struct counter_state *s = state;
	for (unsigned i = 0; i < s->max_threads; i++) papi_thread_remove(s, i);
}

static void papi_forked(void *state)
{
	struct counter_state *s = state;
	for (unsigned i = 0; i < s->max_threads; i++) atomic_store(&s->slot[i].stage, SLOT_NONE);
}

const struct counter_ops counter_papi = {
	.name = "papi",
	.start = papi_start,
	.thread_add = papi_thread_add,
	.thread_remove = papi_thread_remove,
	.read = papi_read,
	.look = papi_look,
	.leave = papi_leave,
	.stop = papi_stop,
	.forked = papi_forked,
};
