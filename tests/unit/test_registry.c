/* The registry: slots that stay where they are, that are used anew, and what threads do with them for
 * themselves. */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "made.h"
#include "registry.h"

static struct registry registry;
static unsigned asked;
static int answer;

static int bind_it(void *arg, struct nsched_thread *thread)
{
	(void)arg, (void)thread;
	asked++;
	return answer;
}

static void freed(void)
{
	for (unsigned b = 0; b < REGISTRY_THREADS / REGISTRY_BLOCK; b++) free(registry.block[b]);
}

START_TEST(slots)
{
	registry_init(&registry);
	struct nsched_thread *first = registry_add(&registry, 10, false), *second = registry_add(&registry, 11, true);
	ck_assert(first && second && first != second);
	ck_assert(first->number == 0 && second->number == 1 && first->home == &registry);
	ck_assert(!first->registered && second->registered);
	ck_assert_int_eq(first->node, REGISTRY_NO_NODE);
	ck_assert_ptr_eq(registry_add(&registry, 10, true), first);    /* found in /proc, then by itself */
	ck_assert(first->registered);
	ck_assert_ptr_eq(registry_find(&registry, 11), second);
	ck_assert_ptr_null(registry_find(&registry, 12));
	ck_assert_ptr_eq(registry_at(&registry, 1), second);
	freed();
}
END_TEST

/* A slot that a thread has left is not given away before it was freed, and then it is as new. */
START_TEST(reuse)
{
	registry_init(&registry);
	struct nsched_thread *thread = registry_add(&registry, 10, true);
	atomic_store(&thread->wanted, 1);
	atomic_store(&thread->bound, 1);
	atomic_store(&thread->fixed, true);
	thread->moved_ms = 5;
	thread->watched = true;
	region_begin(&thread->regions, &registry);
	registry_leave(thread);
	ck_assert_int_eq(atomic_load(&thread->state), THREAD_GONE);
	ck_assert_int_eq(atomic_load(&thread->wanted), REGISTRY_NO_NODE);
	ck_assert_ptr_null(registry_find(&registry, 10));
	ck_assert_ptr_ne(registry_add(&registry, 10, true), thread);   /* the number may come again: another thread */
	registry_leave(thread);                                        /* twice does nothing */
	registry_free_slot(&registry, thread);
	registry_leave(thread);                                        /* nor late */
	ck_assert_int_eq(atomic_load(&thread->state), THREAD_FREE);
	ck_assert_ptr_eq(registry_add(&registry, 12, false), thread);
	ck_assert(!thread->registered && !thread->watched && !atomic_load(&thread->fixed) && thread->moved_ms == 0);
	ck_assert_int_eq(atomic_load(&thread->bound), REGISTRY_NO_NODE);
	ck_assert_uint_eq(thread->regions.region[0].count + thread->regions.region[15].count, 0);
	ck_assert_uint_eq(atomic_load(&registry.n), 2);
	freed();
}
END_TEST

START_TEST(full)
{
	registry_init(&registry);
	struct nsched_thread *first = registry_add(&registry, 1, true);
	for (int i = 2; i <= REGISTRY_THREADS; i++) ck_assert_ptr_nonnull(registry_add(&registry, i, true));
	ck_assert_ptr_null(registry_add(&registry, REGISTRY_THREADS + 1, true));
	ck_assert_ptr_null(registry_add(&registry, REGISTRY_THREADS + 2, true));
	ck_assert_uint_eq(registry.refused, 2);
	ck_assert_ptr_eq(registry_find(&registry, 1), first);          /* it has not moved */
	for (uint32_t i = 0; i < REGISTRY_THREADS; i++) ck_assert_uint_eq(registry_at(&registry, i)->number, i);
	registry_leave(first);
	ck_assert_ptr_null(registry_add(&registry, REGISTRY_THREADS + 1, true));
	registry_free_slot(&registry, first);
	ck_assert_ptr_eq(registry_add(&registry, REGISTRY_THREADS + 1, true), first);
	freed();
}
END_TEST

START_TEST(forked)
{
	registry_init(&registry);
	for (int i = 0; i < 100; i++) registry_add(&registry, 1 + i, true);
	struct nsched_thread *third = registry_at(&registry, 2);
	registry.bind = bind_it;
	pthread_mutex_lock(&registry.lock);                            /* another thread had it when this one forked */
	registry_forked(&registry);
	ck_assert_ptr_null(registry_find(&registry, 1));
	ck_assert(registry.bind == NULL);
	ck_assert_ptr_eq(registry_at(&registry, 2), third);            /* late callbacks may still hold it */
	ck_assert_int_eq(registry_place(third), 0);
	ck_assert_ptr_eq(registry_add(&registry, 7, true), registry_at(&registry, 0));
	ck_assert_uint_eq(atomic_load(&registry.n), 100);
	freed();
}
END_TEST

/* wanted, bound, node of the CPU it is on, fixed, tried in this step -> is it bound? */
static const struct place_case {
	const char *what;
	int wanted, bound, here;
	bool fixed, failed;
	unsigned asked;
} place_cases[] = {
	{ "no wish", REGISTRY_NO_NODE, REGISTRY_NO_NODE, 0, false, false, 0 },
	{ "a wish", 1, REGISTRY_NO_NODE, 0, false, false, 1 },
	{ "a wish, and there by chance", 0, REGISTRY_NO_NODE, 0, false, false, 1 },
	{ "another wish", 1, 0, 0, false, false, 1 },
	{ "where it should be", 0, 0, 0, false, false, 0 },
	{ "bound, but elsewhere", 0, 0, 1, false, false, 1 },
	{ "bound, on a CPU that is not known", 0, 0, REGISTRY_UNKNOWN_CPU, false, false, 1 },
	{ "someone else's", 1, REGISTRY_NO_NODE, 0, true, false, 0 },
	{ "tried in this step", 1, REGISTRY_NO_NODE, 0, false, true, 0 },
};

START_TEST(place)
{
	const struct place_case *c = &place_cases[_i];
	registry_init(&registry);
	struct nsched_thread *thread = registry_add(&registry, 1, true);
	for (unsigned cpu = 0; cpu < MACHINE_CPUS; cpu++) registry.node_of_cpu[cpu] = (uint8_t)c->here;
	atomic_store(&registry.step, 7);
	atomic_store(&thread->wanted, c->wanted);
	atomic_store(&thread->bound, c->bound);
	atomic_store(&thread->fixed, c->fixed);
	if (c->failed) atomic_store(&thread->failed, 7);
	ck_assert_int_eq(registry_place(thread), 0);                   /* nobody there to bind */
	registry.bind = bind_it;
	for (answer = -1; answer <= 1; answer++) {
		asked = 0;
		ck_assert_msg(registry_place(thread) == (c->asked && answer == 1), "%s", c->what);
		ck_assert_msg(asked == c->asked, "%s", c->what);
	}
	if (c->failed) {
		answer = 1;
		atomic_store(&registry.step, 8);
		ck_assert_int_eq(registry_place(thread), 1);
	}
	freed();
}
END_TEST

/* Where a thread is kept that begins on node `here`, beside others that are kept on nodes 0, 1 and 2. */
static const struct settle_case {
	const char *what;
	uint16_t cpus[3];
	unsigned others[3];
	uint8_t here;
	bool settles;
	int there;
} settle_cases[] = {
	{ "nobody settles threads", { 2, 2, 2 }, { 0, 0, 0 }, 1, false, REGISTRY_NO_NODE },
	{ "where it runs", { 2, 2, 2 }, { 0, 0, 0 }, 1, true, 1 },
	{ "the last room there", { 2, 2, 2 }, { 0, 1, 0 }, 1, true, 1 },
	{ "full: elsewhere", { 2, 2, 2 }, { 1, 2, 0 }, 1, true, 2 },
	{ "full: the largest has the most room", { 2, 2, 8 }, { 0, 2, 2 }, 1, true, 2 },
	{ "all are full alike: where it runs", { 2, 2, 2 }, { 2, 2, 2 }, 1, true, 1 },
	{ "all are full, one more than the others", { 2, 2, 2 }, { 2, 4, 3 }, 1, true, 0 },
	{ "a node without CPUs of ours", { 2, 0, 2 }, { 1, 0, 0 }, 1, true, 2 },
	{ "on a CPU that is not known", { 2, 2, 2 }, { 0, 1, 1 }, REGISTRY_UNKNOWN_CPU, true, 0 },
};

START_TEST(settle)
{
	const struct settle_case *c = &settle_cases[_i];
	pid_t tid = 1;
	registry_init(&registry);
	for (unsigned cpu = 0; cpu < MACHINE_CPUS; cpu++) registry.node_of_cpu[cpu] = c->here;
	for (unsigned n = 0; n < MACHINE_NODES; n++) registry.cpus_of_node[n] = n < 3 ? c->cpus[n] : 0;
	for (unsigned n = 0; n < 3; n++)
		for (unsigned k = 0; k < c->others[n]; k++) atomic_store(&registry_add(&registry, ++tid, true)->wanted, (int)n);
	struct nsched_thread *gone = registry_add(&registry, ++tid, true), *thread = registry_add(&registry, ++tid, true);
	atomic_store(&gone->wanted, 1);
	atomic_store(&gone->state, THREAD_GONE);               /* takes no room */
	registry.settles = c->settles;
	registry_settle(thread);
	ck_assert_msg(atomic_load(&thread->wanted) == c->there, "%s: on node %d", c->what, atomic_load(&thread->wanted));
	atomic_store(&thread->wanted, 2);
	registry_settle(thread);
	ck_assert_int_eq(atomic_load(&thread->wanted), 2);     /* what was planned stays */
	freed();
}
END_TEST

/* Threads come and go while others do, and one frees what they left. */
enum { COMERS = 4, ROUNDS = 2000 };
static atomic_uint running;

static void *come_and_go(void *arg)
{
	int tid = 1000 + (int)(intptr_t)arg;
	for (int i = 0; i < ROUNDS; i++) {
		struct nsched_thread *thread;
		while (!(thread = registry_add(&registry, tid, true))) sched_yield();   /* full of what the others left */
		ck_assert_int_eq(thread->tid, tid);
		registry_place(thread);
		region_begin(&thread->regions, &registry);
		region_end(&thread->regions);
		registry_leave(thread);
	}
	atomic_fetch_sub(&running, 1);
	return NULL;
}

START_TEST(many_at_once)
{
	pthread_t thread[COMERS];
	registry_init(&registry);
	atomic_store(&running, COMERS);
	for (int i = 0; i < COMERS; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, come_and_go, (void *)(intptr_t)i), 0);
	bool last;
	do {
		last = atomic_load(&running) == 0;
		for (uint32_t i = 0; i < atomic_load(&registry.n); i++)
			if (atomic_load(&registry_at(&registry, i)->state) == THREAD_GONE) registry_free_slot(&registry, registry_at(&registry, i));
		sched_yield();
	} while (!last);
	for (int i = 0; i < COMERS; i++) pthread_join(thread[i], NULL);
	for (uint32_t i = 0; i < atomic_load(&registry.n); i++) ck_assert_int_eq(atomic_load(&registry_at(&registry, i)->state), THREAD_FREE);
	freed();
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, slots);
	tcase_add_test(tcase, reuse);
	tcase_add_test(tcase, full);
	tcase_add_test(tcase, forked);
	made_loop(tcase, place, place_cases);
	made_loop(tcase, settle, settle_cases);
	tcase_add_test(tcase, many_at_once);
}

int main(void)
{
	return made_main("registry", add);
}
