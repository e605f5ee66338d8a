/* Who may be bound: what the process was given, what the thread has now, what was given to anybody before. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "../stubs/fake_hands.h"
#include "binding.h"
#include "made.h"

enum { TID = 100, CPUS = 4 };   /* two nodes of two CPUs: 0 and 1, 2 and 3 */

static struct registry registry;
static struct machine machine;
static struct fake_hands hands;
static struct binding binding;

static struct cpu_mask mask_of(unsigned bits)
{
	struct cpu_mask mask;
	mask_clear(&mask);
	for (unsigned cpu = 0; cpu < 32; cpu++)
		if (bits >> cpu & 1) mask_add(&mask, cpu);
	return mask;
}

static struct nsched_thread *made(unsigned allowed, unsigned now, bool may_bind)
{
	struct cpu_mask given = mask_of(allowed), has = mask_of(now);
	made_machine(&machine, 2, 2);
	registry_init(&registry);
	binding_init(&binding, &machine, &fake_hands_ops, &hands, &given, may_bind);
	fake_hands_thread(&hands, TID, &has);
	struct nsched_thread *thread = registry_add(&registry, TID, true);
	ck_assert_ptr_nonnull(thread);
	return thread;
}

static void freed(void)
{
	machine_free(&machine);
	for (unsigned b = 0; b < REGISTRY_THREADS / REGISTRY_BLOCK; b++) free(registry.block[b]);
}

static bool has(pid_t tid, unsigned bits)
{
	struct cpu_mask mask = mask_of(bits);
	const struct cpu_mask *now = fake_hands_mask(&hands, tid);
	return now && mask_equal(now, &mask);
}

static const struct rule {
	const char *what;
	unsigned allowed, now;
	int given;              /* a node that some thread was bound to before; -1: none */
	bool fixed;
} rules[] = {
	{ "all that the process has", 0xf, 0xf, -1, false },
	{ "more than the process has", 0xf, 0xff, -1, false },
	{ "one CPU, by someone", 0xf, 0x1, -1, true },
	{ "a node, by someone", 0xf, 0x3, -1, true },
	{ "a node, by us", 0xf, 0x3, 0, false },
	{ "another node than we gave", 0xf, 0xc, 0, true },
	{ "one CPU of the node that we gave", 0xf, 0x1, 0, true },
	{ "three of four", 0xf, 0x7, -1, true },
	{ "others than the process has", 0x3, 0xc, -1, true },
	{ "all of a process on one node", 0x3, 0x3, -1, false },
	{ "nothing", 0xf, 0, -1, true },
};

START_TEST(rule)
{
	const struct rule *c = &rules[_i];
	struct nsched_thread *thread = made(c->allowed, c->now, true);
	if (c->given >= 0) atomic_store(&binding.given[c->given], true);
	atomic_store(&thread->wanted, 1);
	ck_assert_msg(binding_apply(&binding, thread) == (c->fixed ? 0 : 1), "%s", c->what);
	ck_assert(atomic_load(&thread->fixed) == c->fixed);
	ck_assert(has(TID, c->fixed ? c->now : 0xc));
	ck_assert_int_eq(atomic_load(&thread->bound), c->fixed ? REGISTRY_NO_NODE : 1);
	ck_assert_uint_eq(atomic_load(&thread->bindings), !c->fixed);
	ck_assert_uint_eq(hands.calls[FAKE_GET_MASK] + hands.calls[FAKE_SET_MASK], c->fixed ? 1 : 2);
	/* a thread of its making inherits the mask, and is not someone else's for it */
	fake_hands_thread(&hands, TID + 1, fake_hands_mask(&hands, TID));
	struct nsched_thread *child = registry_add(&registry, TID + 1, true);
	binding_look(&binding, child);
	ck_assert(atomic_load(&child->fixed) == c->fixed);
	freed();
}
END_TEST

START_TEST(nothing_to_do)
{
	struct nsched_thread *thread = made(0xf, 0xf, false);
	ck_assert_int_eq(binding_apply(&binding, thread), 0);     /* no wish */
	atomic_store(&thread->wanted, 1);
	ck_assert_int_eq(binding_apply(&binding, thread), 0);     /* may not */
	binding.may_bind = true;
	atomic_flag_test_and_set(&thread->busy);
	ck_assert_int_eq(binding_apply(&binding, thread), 0);     /* someone does it just now */
	ck_assert_uint_eq(hands.calls[FAKE_SET_MASK], 0);
	ck_assert(has(TID, 0xf));
	freed();
}
END_TEST

static const struct failure { enum fake_hands_call call; int error; } failures[] = {
	{ FAKE_GET_MASK, -ESRCH }, { FAKE_GET_MASK, -EPERM }, { FAKE_SET_MASK, -ESRCH }, { FAKE_SET_MASK, -EPERM }, { FAKE_SET_MASK, -EINVAL },
	{ FAKE_SET_MASK, -ENOMEM },
};

START_TEST(failure)
{
	const struct failure *c = &failures[_i];
	struct nsched_thread *thread = made(0xf, 0xf, true);
	hands.fail[c->call].error = c->error;
	hands.fail[c->call].times = 1;
	atomic_store(&thread->wanted, 0);
	ck_assert_int_eq(binding_apply(&binding, thread), c->error);
	ck_assert_int_eq(atomic_load(&thread->bound), REGISTRY_NO_NODE);
	ck_assert(!atomic_load(&thread->fixed));
	ck_assert_int_eq(binding_apply(&binding, thread), 1);
	freed();
}
END_TEST

/* A thread that is gone is seen as such by a look. */
START_TEST(gone)
{
	struct nsched_thread *thread = made(0xf, 0xf, true);
	fake_hands_gone(&hands, TID);
	binding_look(&binding, thread);
	ck_assert_int_eq(atomic_load(&thread->state), THREAD_GONE);
	freed();
}
END_TEST

START_TEST(release)
{
	struct nsched_thread *thread = made(0xf, 0xf, true);
	struct cpu_mask mine = mask_of(0x3), other = mask_of(0x1);
	binding_release(&binding, thread);                        /* never bound: nothing is asked */
	ck_assert_uint_eq(hands.calls[FAKE_GET_MASK], 0);
	atomic_store(&thread->wanted, 0);
	ck_assert_int_eq(binding_apply(&binding, thread), 1);
	fake_hands_thread(&hands, TID + 1, &mine);
	fake_hands_thread(&hands, TID + 2, &other);
	ck_assert_int_eq(binding_release_stranger(&binding, TID + 1), 1);
	ck_assert(has(TID + 1, 0xf));
	ck_assert_int_eq(binding_release_stranger(&binding, TID + 2), 0);
	ck_assert(has(TID + 2, 0x1));
	ck_assert_int_eq(binding_release_stranger(&binding, TID + 3), 0);
	binding_release(&binding, thread);
	ck_assert(has(TID, 0xf));
	ck_assert_int_eq(atomic_load(&thread->bound), REGISTRY_NO_NODE);
	ck_assert_int_eq(atomic_load(&thread->wanted), REGISTRY_NO_NODE);
	freed();
}
END_TEST

/* Someone has bound it after us: it keeps that. */
START_TEST(release_of_anothers)
{
	struct nsched_thread *thread = made(0xf, 0xf, true);
	struct cpu_mask other = mask_of(0x1);
	atomic_store(&thread->wanted, 0);
	ck_assert_int_eq(binding_apply(&binding, thread), 1);
	fake_hands_gone(&hands, TID);
	fake_hands_thread(&hands, TID, &other);
	binding_release(&binding, thread);
	ck_assert(has(TID, 0x1));
	freed();
}
END_TEST

/* Bound to node 0; then its mask became: bound again, or someone else's, or as it was. */
static const struct verify_case { unsigned now; bool again, fixed; } verify_cases[] = {
	{ 0x3, false, false }, { 0xf, true, false }, { 0xff, true, false }, { 0x1, false, true }, { 0xc, false, true },
};

START_TEST(verify)
{
	const struct verify_case *c = &verify_cases[_i];
	struct nsched_thread *thread = made(0xf, 0xf, true);
	struct cpu_mask now = mask_of(c->now);
	binding_verify(&binding, thread);                         /* not bound yet: nothing is asked */
	ck_assert_uint_eq(hands.calls[FAKE_GET_MASK], 0);
	atomic_store(&thread->wanted, 0);
	ck_assert_int_eq(binding_apply(&binding, thread), 1);
	fake_hands_gone(&hands, TID);
	fake_hands_thread(&hands, TID, &now);
	binding_verify(&binding, thread);
	ck_assert(has(TID, c->again ? 0x3 : c->now));
	ck_assert(atomic_load(&thread->fixed) == c->fixed);
	ck_assert_int_eq(atomic_load(&thread->bound), c->fixed ? REGISTRY_NO_NODE : 0);
	fake_hands_gone(&hands, TID);
	binding_verify(&binding, thread);                         /* gone: no harm */
	freed();
}
END_TEST

/* ---- closing while threads bind themselves ----------------------------------------------------------------- */

enum { MANY = 4, CLOSINGS = 200 };
static atomic_bool closed, over;
static atomic_uint late, bound;

static int any_mask(void *state, pid_t tid, struct cpu_mask *mask)
{
	(void)state, (void)tid;
	*mask = mask_of(0xf);
	return 0;
}

static int note_mask(void *state, pid_t tid, const struct cpu_mask *mask)
{
	(void)state, (void)tid, (void)mask;
	atomic_fetch_add(&bound, 1);
	if (atomic_load(&closed)) atomic_fetch_add(&late, 1);
	return 0;
}

static const struct actuator_ops noting = { .name = "noting", .get_mask = any_mask, .set_mask = note_mask };

static void *place(void *arg)
{
	struct nsched_thread *thread = arg;
	for (int i = 0; !atomic_load(&over); i++) {
		atomic_store(&thread->wanted, i % 2);
		registry_place(thread);
		atomic_fetch_add(&registry.step, 1);
	}
	return NULL;
}

/* When it is closed nobody is inside any more, and what it refers to can be freed. */
START_TEST(closing)
{
	static struct binding bindings[CLOSINGS];
	struct cpu_mask all = mask_of(0xf);
	pthread_t thread[MANY];
	registry_init(&registry);
	for (int t = 0; t < MANY; t++)
		ck_assert_int_eq(pthread_create(&thread[t], NULL, place, registry_add(&registry, TID + t, true)), 0);
	for (int k = 0; k < CLOSINGS; k++) {
		made_machine(&machine, 2, 2);
		binding_init(&bindings[k], &machine, &noting, NULL, &all, true);
		unsigned before = atomic_load(&bound);
		atomic_store(&closed, false);
		registry.bind_arg = &bindings[k];
		registry.bind = binding_apply;
		while (atomic_load(&bound) - before < MANY) sched_yield();
		registry.bind = NULL;
		binding_close(&bindings[k], &registry);
		atomic_store(&closed, true);
		machine_free(&machine);
	}
	atomic_store(&over, true);
	for (int t = 0; t < MANY; t++) pthread_join(thread[t], NULL);
	ck_assert_uint_eq(atomic_load(&late), 0);
	freed();
}
END_TEST

/* What others were given is ours in a thread that inherits it; in one that has been looked at it is somebody's decision. */
START_TEST(anothers_node)
{
	struct nsched_thread *thread = made(0xf, 0xf, true);
	struct cpu_mask other = mask_of(0xc);
	atomic_store(&thread->wanted, 0);
	ck_assert_int_eq(binding_apply(&binding, thread), 1);
	atomic_store(&binding.given[1], true);
	fake_hands_gone(&hands, TID);
	fake_hands_thread(&hands, TID, &other);
	binding_verify(&binding, thread);
	ck_assert(has(TID, 0xc));
	ck_assert(atomic_load(&thread->fixed));
	fake_hands_thread(&hands, TID + 1, &other);
	struct nsched_thread *child = registry_add(&registry, TID + 1, true);
	atomic_store(&child->wanted, 0);
	ck_assert_int_eq(binding_apply(&binding, child), 1);
	ck_assert(has(TID + 1, 0x3));
	freed();
}
END_TEST

/* One that starts another program has all its CPUs meanwhile, whatever steps do; and is bound again afterwards. */
START_TEST(held)
{
	struct nsched_thread *thread = made(0xf, 0xf, true);
	struct cpu_mask ours = mask_of(0x3), own = mask_of(0x1);
	atomic_store(&thread->wanted, 0);
	ck_assert_int_eq(binding_apply(&binding, thread), 1);
	fake_hands_thread(&hands, 0, &ours);                      /* 0: the caller, as in a system call */
	binding_hold(&binding, thread, true);
	ck_assert(has(0, 0xf));
	binding_verify(&binding, thread);
	ck_assert_int_eq(binding_apply(&binding, thread), 0);
	ck_assert_uint_eq(atomic_load(&thread->bindings), 1);
	binding_hold(&binding, thread, false);
	ck_assert_int_eq(binding_apply(&binding, thread), 1);
	/* the child of a vfork is nobody we know, and what it bound itself to stays */
	fake_hands_gone(&hands, 0);
	fake_hands_thread(&hands, 0, &ours);
	binding_hold(&binding, NULL, true);
	ck_assert(has(0, 0xf));
	fake_hands_gone(&hands, 0);
	fake_hands_thread(&hands, 0, &own);
	binding_hold(&binding, NULL, true);
	binding_hold(&binding, thread, true);
	ck_assert(has(0, 0x1));
	freed();
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, rule, rules);
	tcase_add_test(tcase, nothing_to_do);
	made_loop(tcase, failure, failures);
	tcase_add_test(tcase, gone);
	tcase_add_test(tcase, release);
	tcase_add_test(tcase, release_of_anothers);
	made_loop(tcase, verify, verify_cases);
	tcase_add_test(tcase, anothers_node);
	tcase_add_test(tcase, held);
	tcase_add_test(tcase, closing);
}

int main(void)
{
	return made_main("binding", add);
}
