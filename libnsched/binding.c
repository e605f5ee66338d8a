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

static bool is_node(const struct binding *b, int node, const struct cpu_mask *mask)
{
	struct cpu_mask ours;
	for (unsigned m = 0; m < 2 && node >= 0; m++) {
		if (!b->machines[m] || (unsigned)node >= b->machines[m]->n_nodes) continue;
		node_mask(b->machines[m], node, &ours);
		if (mask_equal(mask, &ours)) return true;
	}
	return false;
}

/* The node whose mask this is, if some thread of this process got it from us; or REGISTRY_NO_NODE */
static int given_node(struct binding *b, const struct cpu_mask *mask)
{
	for (unsigned n = 0; n < b->machines[0]->n_nodes; n++)
		if (atomic_load_explicit(&b->given[n], memory_order_relaxed) && is_node(b, (int)n, mask)) return (int)n;
	return REGISTRY_NO_NODE;
}

/* Call it while the thread is busy: else a binding of its own may come between the look and what it is held against. */
static int look(struct binding *b, struct nsched_thread *thread)
{
	struct cpu_mask now;
	int ret = b->hands->get_mask(b->hands_state, thread->tid, &now);
	if (ret) return ret;
	if (atomic_load_explicit(&thread->lent, memory_order_relaxed) == REGISTRY_NOT_LOOKED)
		atomic_store_explicit(&thread->lent, given_node(b, &now), memory_order_relaxed);
	bool free = mask_within(&b->allowed, &now) || is_node(b, atomic_load_explicit(&thread->lent, memory_order_relaxed), &now);
	atomic_store_explicit(&thread->fixed, !free, memory_order_relaxed);
	return 0;
}

void binding_look(struct binding *b, struct nsched_thread *thread)
{
	if (atomic_flag_test_and_set(&thread->busy)) return;   /* it is being looked at */
	int ret = look(b, thread);
	atomic_flag_clear_explicit(&thread->busy, memory_order_release);
	if (ret == -ESRCH) registry_leave(thread);
}

static int apply(struct binding *b, struct nsched_thread *thread)
{
	struct cpu_mask mask;
	int wanted = atomic_load_explicit(&thread->wanted, memory_order_relaxed);
	if (wanted < 0 || !b->may_bind || atomic_load(&thread->held)) return 0;
	int ret = look(b, thread);
	if (ret || atomic_load_explicit(&thread->fixed, memory_order_relaxed)) return ret;
	node_mask(atomic_load_explicit(&b->machine, memory_order_acquire), wanted, &mask);
	atomic_store_explicit(&b->given[wanted], true, memory_order_relaxed);
	ret = b->hands->set_mask(b->hands_state, thread->tid, &mask);
	if (ret) return ret;
	atomic_store_explicit(&thread->lent, wanted, memory_order_relaxed);
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

/* Has it another mask than it got? Not while it is being bound, or has its CPUs back for a while. */
static bool has_another(struct binding *b, struct nsched_thread *thread)
{
	struct cpu_mask now, ours;
	if (atomic_flag_test_and_set(&thread->busy)) return false;
	int bound = atomic_load(&thread->bound);
	bool another = bound >= 0 && !atomic_load(&thread->held) && !b->hands->get_mask(b->hands_state, thread->tid, &now);
	if (another) {
		node_mask(atomic_load_explicit(&b->machine, memory_order_acquire), bound, &ours);
		another = !mask_equal(&now, &ours);
	}
	if (another) atomic_store(&thread->bound, REGISTRY_NO_NODE);
	atomic_flag_clear_explicit(&thread->busy, memory_order_release);
	return another;
}

void binding_verify(struct binding *b, struct nsched_thread *thread)
{
	if (has_another(b, thread)) binding_apply(b, thread);
}

/* May it have a mask of ours, by binding or by inheritance? */
static bool may_be_lent(const struct binding *b, const struct nsched_thread *thread)
{
	int lent = atomic_load(&thread->lent);
	for (unsigned n = 0; lent == REGISTRY_NOT_LOOKED && n < MACHINE_NODES; n++)
		if (atomic_load_explicit(&b->given[n], memory_order_relaxed)) return true;
	return lent >= 0;
}

/* The mask is the thread's; NULL: of one that is not known. */
static bool is_lent(struct binding *b, const struct nsched_thread *thread, const struct cpu_mask *mask)
{
	int lent = thread ? atomic_load(&thread->lent) : REGISTRY_NOT_LOOKED;
	return lent == REGISTRY_NOT_LOOKED ? given_node(b, mask) >= 0 : is_node(b, lent, mask);
}

void binding_release(struct binding *b, struct nsched_thread *thread)
{
	struct cpu_mask now;
	if (!may_be_lent(b, thread)) return;
	if (!b->hands->get_mask(b->hands_state, thread->tid, &now) && is_lent(b, thread, &now))
		(void)!b->hands->set_mask(b->hands_state, thread->tid, &b->allowed);
	atomic_store(&thread->lent, REGISTRY_NO_NODE);
	atomic_store(&thread->bound, REGISTRY_NO_NODE);
	atomic_store(&thread->wanted, REGISTRY_NO_NODE);
}

void binding_hold(struct binding *b, struct nsched_thread *thread, bool hold)
{
	struct cpu_mask now;
	if (thread) atomic_store(&thread->held, hold);
	if (!hold || atomic_load(&b->closed) || b->hands->get_mask(b->hands_state, 0, &now)) return;
	if (is_lent(b, thread, &now)) (void)!b->hands->set_mask(b->hands_state, 0, &b->allowed);
}

int binding_release_stranger(struct binding *b, pid_t tid)
{
	struct cpu_mask now;
	if (b->hands->get_mask(b->hands_state, tid, &now) || given_node(b, &now) < 0) return 0;
	return b->hands->set_mask(b->hands_state, tid, &b->allowed) ? 0 : 1;
}
