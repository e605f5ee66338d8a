#include "registry.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

void registry_init(struct registry *registry)
{
	pthread_mutex_init(&registry->lock, NULL);
	memset(registry->node_of_cpu, REGISTRY_UNKNOWN_CPU, sizeof registry->node_of_cpu);
}

static void reset_slot(struct nsched_thread *thread)
{
	atomic_store_explicit(&thread->wanted, REGISTRY_NO_NODE, memory_order_relaxed);
	atomic_store_explicit(&thread->bound, REGISTRY_NO_NODE, memory_order_relaxed);
	atomic_store_explicit(&thread->fixed, false, memory_order_relaxed);
	atomic_store_explicit(&thread->failed, 0, memory_order_relaxed);
	atomic_store_explicit(&thread->bindings, 0, memory_order_relaxed);
	atomic_store_explicit(&thread->lent, REGISTRY_NOT_LOOKED, memory_order_relaxed);
	atomic_store_explicit(&thread->held, false, memory_order_relaxed);
	atomic_flag_clear(&thread->busy);
	region_table_clear(&thread->regions);
	thread->node = REGISTRY_NO_NODE;
	thread->announced = thread->watched = thread->registered = false;
	thread->moved_ms = thread->weight_ns = 0;
	thread->load = 1;
	thread->ticks = thread->ticks_ns = 0;
	memset(&thread->counted, 0, sizeof thread->counted);
	thread->no_help = 0;
	thread->kernel_ms = 0;
	thread->kernel_knows = false;
	thread->looked = 0;
	atomic_store_explicit(&thread->touches, 0, memory_order_relaxed);
	thread->touches_taken = 0;
	thread->tid = 0;
	thread->process = 0;
}

static void forget_all(struct registry *registry)
{
	for (uint32_t i = 0; i < atomic_load(&registry->n); i++) {
		struct nsched_thread *thread = registry_at(registry, i);
		reset_slot(thread);
		atomic_store(&thread->state, THREAD_FREE);
		registry_see(thread);
	}
	registry->seen_n = 0;
	registry->bind = NULL;
	registry->settles = false;
	registry->look = registry->unlook = NULL;
	registry->refused = 0;
}

void registry_forget_all(struct registry *registry)
{
	pthread_mutex_lock(&registry->lock);
	forget_all(registry);
	pthread_mutex_unlock(&registry->lock);
}

void registry_forked(struct registry *registry)
{
	pthread_mutex_init(&registry->lock, NULL);
	forget_all(registry);
}

struct nsched_thread *registry_at(const struct registry *registry, uint32_t number)
{
	return &registry->block[number / REGISTRY_BLOCK][number % REGISTRY_BLOCK];
}

void registry_see(struct nsched_thread *thread)
{
	thread->seen.state = atomic_load(&thread->state);
	thread->seen.bound = atomic_load(&thread->bound);
	thread->seen.fixed = atomic_load(&thread->fixed);
}

void registry_see_all(struct registry *registry)
{
	registry->seen_n = atomic_load(&registry->n);
	for (uint32_t i = 0; i < registry->seen_n; i++) registry_see(registry_at(registry, i));
}

static struct nsched_thread *find(struct registry *registry, pid_t tid)
{
	for (uint32_t i = 0; i < atomic_load_explicit(&registry->n, memory_order_acquire); i++) {
		struct nsched_thread *thread = registry_at(registry, i);
		if (thread->tid == tid && atomic_load_explicit(&thread->state, memory_order_acquire) == THREAD_LIVE) return thread;
	}
	return NULL;
}

struct nsched_thread *registry_find_unlocked(struct registry *registry, pid_t tid)
{
	return find(registry, tid);
}

struct nsched_thread *registry_find(struct registry *registry, pid_t tid)
{
	pthread_mutex_lock(&registry->lock);
	struct nsched_thread *thread = find(registry, tid);
	pthread_mutex_unlock(&registry->lock);
	return thread;
}

static struct nsched_thread *new_slot(struct registry *registry, uint32_t n)
{
	if (n == REGISTRY_THREADS) return NULL;
	struct nsched_thread **block = &registry->block[n / REGISTRY_BLOCK];
	if (!*block && !(*block = calloc(REGISTRY_BLOCK, sizeof **block))) return NULL;
	struct nsched_thread *thread = &(*block)[n % REGISTRY_BLOCK];
	thread->home = registry;
	thread->number = n;
	atomic_store_explicit(&registry->n, n + 1, memory_order_release);
	return thread;
}

/* A slot that was used before, else the next new one. */
static struct nsched_thread *take_slot(struct registry *registry)
{
	uint32_t n = atomic_load_explicit(&registry->n, memory_order_relaxed);
	for (uint32_t i = 0; i < n; i++) {
		struct nsched_thread *thread = registry_at(registry, i);
		if (atomic_load_explicit(&thread->state, memory_order_acquire) == THREAD_FREE) return thread;
	}
	return new_slot(registry, n);
}

int registry_make(struct registry *registry, uint32_t n)
{
	if (n > REGISTRY_THREADS) return -E2BIG;
	for (uint32_t i = atomic_load(&registry->n); i < n; i++) {
		struct nsched_thread *thread = new_slot(registry, i);
		if (!thread) return -ENOMEM;
		reset_slot(thread);
	}
	return 0;
}

struct nsched_thread *registry_add(struct registry *registry, pid_t tid, bool registered)
{
	pthread_mutex_lock(&registry->lock);
	struct nsched_thread *thread = find(registry, tid);
	if (!thread && (thread = take_slot(registry))) {
		reset_slot(thread);
		thread->tid = tid;
		atomic_store_explicit(&thread->state, THREAD_LIVE, memory_order_release);
	}
	if (thread) thread->registered |= registered;
	else registry->refused++;
	pthread_mutex_unlock(&registry->lock);
	return thread;
}

void registry_leave(struct nsched_thread *thread)
{
	int live = THREAD_LIVE;
	atomic_store_explicit(&thread->wanted, REGISTRY_NO_NODE, memory_order_relaxed);
	atomic_compare_exchange_strong(&thread->state, &live, THREAD_GONE);
}

void registry_free_slot(struct registry *registry, struct nsched_thread *thread)
{
	pthread_mutex_lock(&registry->lock);
	reset_slot(thread);
	atomic_store_explicit(&thread->state, THREAD_FREE, memory_order_release);
	pthread_mutex_unlock(&registry->lock);
}

void registry_bye(struct nsched_thread *thread)
{
	void (*unlook)(void *arg, unsigned number) = atomic_load(&thread->home->unlook);
	if (unlook) unlook(atomic_load(&thread->home->look_arg), thread->number);
	registry_leave(thread);
}

void registry_touch(struct nsched_thread *thread, uint64_t addr)
{
	uint32_t n = atomic_load_explicit(&thread->touches, memory_order_relaxed);
	atomic_store_explicit(&thread->touch[n % REGISTRY_TOUCHES], addr, memory_order_relaxed);
	atomic_store_explicit(&thread->touches, n + 1, memory_order_release);
}

static void look_at_counters(struct registry *registry, struct nsched_thread *thread)
{
	void (*look)(void *arg, unsigned number) = atomic_load_explicit(&registry->look, memory_order_acquire);
	uint32_t step = atomic_load_explicit(&registry->step, memory_order_relaxed);
	if (!look || thread->looked == step) return;
	thread->looked = step;
	look(atomic_load(&registry->look_arg), thread->number);
}

/* Threads for each CPU of the node, with one more; a node without CPUs has no room. */
static float filled(const struct registry *registry, const unsigned *threads, unsigned node)
{
	return registry->cpus_of_node[node] ? (float)(threads[node] + 1) / (float)registry->cpus_of_node[node] : (float)REGISTRY_THREADS;
}

static int begin_node(struct registry *registry, const struct nsched_thread *self)
{
	unsigned threads[MACHINE_NODES] = { 0 }, cpu = (unsigned)sched_getcpu(), best = 0;
	for (uint32_t i = 0; i < atomic_load_explicit(&registry->n, memory_order_acquire); i++) {
		const struct nsched_thread *other = registry_at(registry, i);
		int node = atomic_load_explicit(&other->wanted, memory_order_relaxed);
		if (other != self && node >= 0 && atomic_load_explicit(&other->state, memory_order_acquire) == THREAD_LIVE) threads[node]++;
	}
	for (unsigned n = 1; n < MACHINE_NODES; n++)
		if (filled(registry, threads, n) < filled(registry, threads, best)) best = n;
	unsigned here = cpu < MACHINE_CPUS ? registry->node_of_cpu[cpu] : REGISTRY_UNKNOWN_CPU;
	if (here >= MACHINE_NODES || !registry->cpus_of_node[here]) return (int)best;
	bool room = filled(registry, threads, here) <= 1 || filled(registry, threads, here) <= filled(registry, threads, best);
	return (int)(room ? here : best);
}

void registry_settle(struct nsched_thread *thread)
{
	struct registry *registry = thread->home;
	if (!atomic_load(&registry->settles)) return;
	pthread_mutex_lock(&registry->lock);
	if (atomic_load_explicit(&thread->wanted, memory_order_relaxed) < 0)
		atomic_store_explicit(&thread->wanted, begin_node(registry, thread), memory_order_relaxed);
	pthread_mutex_unlock(&registry->lock);
}

/* The steady state is four loads and a read of the CPU's number, which glibc has from rseq or the vDSO. */
int registry_place(struct nsched_thread *thread)
{
	struct registry *registry = thread->home;
	look_at_counters(registry, thread);
	int wanted = atomic_load_explicit(&thread->wanted, memory_order_relaxed);
	if (wanted < 0 || atomic_load_explicit(&thread->fixed, memory_order_relaxed)) return 0;
	if (atomic_load_explicit(&thread->bound, memory_order_relaxed) == wanted) {
		unsigned cpu = (unsigned)sched_getcpu();
		if (cpu < MACHINE_CPUS && registry->node_of_cpu[cpu] == wanted) return 0;
	}
	uint32_t step = atomic_load_explicit(&registry->step, memory_order_relaxed);
	int (*bind)(void *arg, struct nsched_thread *thread) = atomic_load(&registry->bind);
	if (!bind || atomic_load_explicit(&thread->failed, memory_order_relaxed) == step) return 0;
	return bind(atomic_load(&registry->bind_arg), thread) == 1;
}
