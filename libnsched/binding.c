#include "binding.h"

#include <errno.h>
#include <sched.h>

void binding_init(struct binding *b, const struct machine *machine, const struct actuator_ops *hands, void *hands_state,
                  const struct cpu_mask *allowed, bool may_bind)
{
	memset(b, 0, sizeof *b);
	b->machine = b->machines[0] = machine;
	b->hands = hands;
	b->hands_state = hands_state;
	b->allowed = *allowed;
	b->may_bind = may_bind;
}

static void node_mask(const struct machine *machine, int n, struct cpu_mask *mask)
{
	const struct machine_node *node = &machine->node[n];
	mask_clear(mask);
	for (unsigned c = node->first_cpu; c < node->first_cpu + node->n_cpus; c++) mask_add(mask, machine->cpu[c].os);
}

void binding_use(struct binding *b, const struct machine *machine)
{
	if (machine != b->machines[0]) b->machines[1] = machine;
	atomic_store(&b->machine, machine);
}

static bool is_node_of(struct binding *b, const struct machine *machine, const struct cpu_mask *mask)
{
	struct cpu_mask ours;
	for (unsigned n = 0; machine && n < machine->n_nodes; n++) {
		if (!atomic_load_explicit(&b->given[n], memory_order_relaxed)) continue;
		node_mask(machine, (int)n, &ours);
		if (mask_equal(mask, &ours)) return true;
	}
	return false;
}

/* Did some thread of this process get this very mask from us? */
static bool is_ours(struct binding *b, const struct cpu_mask *mask)
{
	return is_node_of(b, b->machines[0], mask) || is_node_of(b, b->machines[1], mask);
}

static int look(struct binding *b, struct nsched_thread *thread)
{
	struct cpu_mask now;
	int ret = b->hands->get_mask(b->hands_state, thread->tid, &now);
	if (ret) return ret;
	bool free = mask_within(&b->allowed, &now) || is_ours(b, &now);
	atomic_store_explicit(&thread->fixed, !free, memory_order_relaxed);
	return 0;
}

void binding_look(struct binding *b, struct nsched_thread *thread)
{
	if (look(b, thread) == -ESRCH) registry_leave(thread);
}

static int apply(struct binding *b, struct nsched_thread *thread)
{
	struct cpu_mask mask;
	int wanted = atomic_load_explicit(&thread->wanted, memory_order_relaxed);
	if (wanted < 0 || !b->may_bind) return 0;
	int ret = look(b, thread);
	if (ret || atomic_load_explicit(&thread->fixed, memory_order_relaxed)) return ret;
	node_mask(atomic_load_explicit(&b->machine, memory_order_acquire), wanted, &mask);
	atomic_store_explicit(&b->given[wanted], true, memory_order_relaxed);
	ret = b->hands->set_mask(b->hands_state, thread->tid, &mask);
	if (ret) return ret;
	atomic_store_explicit(&thread->bound, wanted, memory_order_relaxed);
	atomic_fetch_add_explicit(&thread->bindings, 1, memory_order_relaxed);
	return 1;
}

int binding_apply(void *binding, struct nsched_thread *thread)
{
	struct binding *b = binding;
	/* busy first, then closed; binding_close the other way round: one of the two sees the other */
	if (atomic_flag_test_and_set(&thread->busy)) return 0;
	int ret = atomic_load(&b->closed) ? 0 : apply(b, thread);
	/* once a step is enough, whether it failed or the thread is where we don't know the CPUs */
	atomic_store_explicit(&thread->failed, atomic_load(&thread->home->step), memory_order_relaxed);
	atomic_flag_clear_explicit(&thread->busy, memory_order_release);
	return ret;
}

void binding_close(struct binding *b, struct registry *registry)
{
	atomic_store(&b->closed, true);
	for (uint32_t i = 0; i < atomic_load(&registry->n); i++) {
		struct nsched_thread *thread = registry_at(registry, i);
		while (atomic_flag_test_and_set(&thread->busy)) sched_yield();
		atomic_flag_clear(&thread->busy);
	}
}

void binding_verify(struct binding *b, struct nsched_thread *thread)
{
	struct cpu_mask now, ours;
	int bound = atomic_load(&thread->bound);
	if (bound < 0 || b->hands->get_mask(b->hands_state, thread->tid, &now)) return;
	node_mask(atomic_load_explicit(&b->machine, memory_order_acquire), bound, &ours);
	if (mask_equal(&now, &ours)) return;
	atomic_store(&thread->bound, REGISTRY_NO_NODE);
	binding_apply(b, thread);
}

void binding_release(struct binding *b, struct nsched_thread *thread)
{
	if (atomic_load(&thread->bound) < 0) return;
	binding_release_stranger(b, thread->tid);
	atomic_store(&thread->bound, REGISTRY_NO_NODE);
	atomic_store(&thread->wanted, REGISTRY_NO_NODE);
}

int binding_release_stranger(struct binding *b, pid_t tid)
{
	struct cpu_mask now;
	if (b->hands->get_mask(b->hands_state, tid, &now) || !is_ours(b, &now)) return 0;
	return b->hands->set_mask(b->hands_state, tid, &b->allowed) ? 0 : 1;
}
