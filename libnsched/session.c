#include "session.h"

#include <errno.h>
#include <stdlib.h>

/* What moving one page is taken to cost until it has been measured: 3 us is usual on servers of the
 * last ten years, and what others charge. A thread's cold cache: 1 MiB refilled at 10 GB/s. */
#define PAGE_MOVE_NS 3000.0f
#define THREAD_MOVE_NS 100000.0f

uint64_t session_now_ms(const struct session *s)
{
	return s->last_ns / 1000000;
}

int session_init(struct session *s, const struct session_setup *setup)
{
	char name[CONFIG_VALUE_BYTES];
	memset(s, 0, sizeof *s);
	config_copy(&s->config, setup->config);
	s->machine = setup->machine;
	s->clock = setup->clock;
	s->clock_state = setup->clock_state;
	s->hands = setup->hands;
	s->hands_state = setup->hands_state;
	s->registry = setup->registry;
	s->ranges = setup->ranges;
	s->eyes = setup->eyes;
	s->eyes_state = setup->eyes_state;
	s->witness = setup->witness;
	s->witness_state = setup->witness_state;
	s->page_move_ns = PAGE_MOVE_NS;
	s->policy = policy_find(config_choice(&s->config, OPTION_policy, name));
	s->neighbours = setup->neighbours;
	int ret = s->policy ? machine_restrict(&s->own, &s->machine, setup->allowed.word, true) : -EINVAL;
	if (!ret) ret = evidence_init(&s->evidence, (unsigned)s->config.max_chunks, REGISTRY_THREADS);
	if (ret) {
		machine_free(&s->machine);
		machine_free(&s->own);
		return ret;
	}
	history_init(&s->history);
	s->situation.machine = &s->own;
	s->start_ns = s->last_ns = s->pace.changed_ns = s->clock->now_ns(s->clock_state);
	s->start_cpu_ns = s->clock->process_cpu_ns(s->clock_state);
	binding_init(&s->binding, &s->machine, s->hands, s->hands_state, &setup->allowed, s->config.bind == BIND_NODE);
	binding_use(&s->binding, &s->own);
	for (unsigned c = 0; c < s->machine.n_cpus; c++)
		s->registry->node_of_cpu[s->machine.cpu[c].os] = (uint8_t)s->machine.cpu[c].node;
	for (unsigned n = 0; n < MACHINE_NODES; n++) s->registry->cpus_of_node[n] = n < s->own.n_nodes ? (uint16_t)s->own.node[n].n_cpus : 0;
	s->registry->bind_arg = &s->binding;
	s->registry->bind = binding_apply;
	s->registry->settles = s->policy->settles && s->binding.may_bind;
	session_start_sources(s, setup->sources);
	session_start_counters(s, setup->counters);
	session_start_kernel(s);
	session_start_bandwidth(s, setup->bandwidth);
	if (s->witness) s->witness->end(s->witness_state);
	return 0;
}

void session_stop(struct session *s)
{
	session_stop_sources(s);
	session_stop_counters(s);
	session_stop_bandwidth(s);
	s->registry->settles = false;
	s->registry->bind = NULL;
	binding_close(&s->binding, s->registry);   /* before they are released, or one could bind itself after */
	session_release_threads(s);
}

void session_free(struct session *s)
{
	session_free_kernel(s);
	session_free_rates(s);
	evidence_free(s->evidence);
	placement_free(&s->placement);
	situation_free(&s->situation);
	past_free(&s->past);
	plan_free(&s->plan);
	plan_free(&s->back);
	trial_free(&s->trial);
	history_free(&s->history);
	machine_free(&s->machine);
	machine_free(&s->own);
	free(s->leaf);
	s->evidence = NULL;
	s->leaf = NULL;
}

void session_forked(struct session *s)
{
	for (unsigned i = 0; i < s->n_sources; i++)
		if (s->source[i].on && s->source[i].ops->forked) s->source[i].ops->forked(s->source[i].state);
	s->n_sources = 0;
	if (s->counters.on) s->counters.ops->forked(s->counters.state);
	if (s->bandwidth.on) s->bandwidth.ops->forked(s->bandwidth.state);
	session_free(s);
}

/* Between the own CPUs and those of all: threads bound to nodes that have none now are let go. */
static void change_mode(struct session *s, enum neighbours_mode mode)
{
	const struct machine *machine = mode == NEIGHBOURS_ALONE ? &s->own : &s->machine;
	s->mode = mode;
	if (s->situation.machine == machine) return;
	s->situation.machine = machine;
	binding_use(&s->binding, machine);
	for (uint32_t i = 0; i < s->registry->seen_n; i++) {
		struct nsched_thread *t = registry_at(s->registry, i);
		if (t->seen.bound < 0 || machine->node[t->seen.bound].n_cpus) continue;
		binding_release(&s->binding, t);
		session_bound(s, t, 0);
	}
}

/* What this process wants by itself; or, where it is planned with others, what they and it want. */
static int decide(struct session *s)
{
	bool bind = s->config.bind == BIND_NODE;
	struct policy_rules rules = { .threads = bind, .pages = s->config.move_pages };
	if (s->neighbours) {
		enum neighbours_mode mode = neighbours_exchange(s->neighbours, &s->situation, &s->machine, s->registry, s->policy, bind, s->last_ns);
		if (s->witness) s->witness->neighbours(s->witness_state, s->neighbours, &mode);
		change_mode(s, mode);
	}
	if (s->mode == NEIGHBOURS_WAIT) return 0;
	if (s->mode == NEIGHBOURS_ALONE) return policy_decide(s->policy, &s->situation, &rules, &s->plan);
	rules.threads = false;
	int ret = neighbours_follow(s->neighbours, &s->situation, s->registry, &s->plan);
	if (!ret) ret = policy_decide(s->policy, &s->situation, &rules, &s->plan);
	plan_sort(&s->plan);
	return ret;
}

static int decide_and_filter(struct session *s, const struct gate_limits *limits)
{
	struct gate_held held;
	int ret = decide(s);
	if (ret) return ret;
	if (session_awaits_looks(s)) plan_clear(&s->plan);
	if (s->mode == NEIGHBOURS_ALONE) trial_filter(&s->trial, &s->plan, s->last_ns);
	gate_filter(&s->plan, &s->situation, limits, &held);
	if (held.budget) trial_goes_on(&s->trial, s->last_ns);
	s->totals.held.cost += held.cost;
	s->totals.held.cooldown += held.cooldown;
	s->totals.held.reversal += held.reversal;
	s->totals.held.budget += held.budget;
	return 0;
}

static int decide_and_apply(struct session *s, uint64_t passed_ns)
{
	struct gate_limits limits = { .cooldown_ms = (uint32_t)s->config.cooldown_ms };
	uint64_t budget_bytes = s->config.budget_mib * (1024 * 1024) / 1000 * (passed_ns / 1000000);
	limits.budget_pages = budget_bytes >> EVIDENCE_PAGE_SHIFT;
	plan_clear(&s->plan);
	s->situation.age_ns = s->last_ns - s->start_ns;
	s->situation.page_move_ns = s->page_move_ns;
	s->situation.thread_move_ns = THREAD_MOVE_NS;
	int ret = session_take_back(s, limits.budget_pages);
	if (!ret && !s->taking_back) ret = decide_and_filter(s, &limits);
	if (ret) return ret;
	if (s->witness) s->witness->plan(s->witness_state, &s->situation, &s->plan);
	uint64_t cpu = s->clock->own_cpu_ns(s->clock_state);
	ret = session_apply(s);
	s->totals.moving_cpu_ns += s->clock->own_cpu_ns(s->clock_state) - cpu;
	return ret;
}

static int step(struct session *s)
{
	uint64_t now = s->clock->now_ns(s->clock_state), cpu = s->clock->own_cpu_ns(s->clock_state);
	uint64_t passed_ns = now - s->last_ns;
	struct session_totals before = s->totals;
	s->last_ns = now;
	atomic_fetch_add(&s->registry->step, 1);
	s->totals.steps++;
	session_look_for_threads(s, passed_ns);
	session_update_threads(s);
	uint64_t poll_cpu = session_poll_sources(s, passed_ns), moving_cpu = s->totals.moving_cpu_ns;
	uint64_t seen_ns = (uint64_t)((double)passed_ns * (double)s->seen);
	session_take_touches(s);
	session_see_regions(s);
	session_read_counters(s);
	session_read_kernel(s);
	session_read_bandwidth(s);
	session_add_hints(s, seen_ns);
	evidence_learn(s->evidence);
	evidence_age(s->evidence, passed_ns, seen_ns, session_half_life_ns(s));
	session_locate(s);
	session_count_local(s);
	int ret = session_view(s);
	if (!ret) ret = past_look(&s->past, &s->situation, passed_ns, s->policy->touches);
	if (!ret) ret = decide_and_apply(s, passed_ns);
	session_pace(s, &before);
	cpu = s->clock->own_cpu_ns(s->clock_state) - cpu;
	s->totals.own_cpu_ns += cpu;
	s->fixed_ns = cpu - poll_cpu - (s->totals.moving_cpu_ns - moving_cpu);
	return ret;
}

int session_step(struct session *s)
{
	if (s->witness) s->witness->begin(s->witness_state);
	int ret = step(s);
	if (s->witness) s->witness->end(s->witness_state);
	return ret;
}
