/* What a session begins with: RECORD_START. */
#include <errno.h>

#include "player.h"

static void get_options(struct player *p)
{
	char name[64], value[CONFIG_VALUE_BYTES];
	nsched_error_t error;
	config_defaults(&p->config);
	for (tape_get_text(p->in, name, sizeof name); name[0]; tape_get_text(p->in, name, sizeof name)) {
		tape_get_text(p->in, value, sizeof value);
		if (!tape_is_bad(p->in) && nsched_config_set(&p->config, name, value, &error) < 0) tape_fail(p->in, "%.120s", error.text);
	}
	p->config.verbose = 0;       /* the session is not to say what it only seems to do */
	p->config.report[0] = p->config.record[0] = 0;
}

/* Those that stand in for others are looked up one after the other: not in a circle. */
static void check_sources(struct player *p)
{
	for (unsigned i = 0; i < p->n_sources; i++) {
		const struct source_ops *o = p->sources[i];
		for (unsigned k = 0; o && k <= p->n_sources; k++) o = o->stands_in_for;
		if (o) tape_fail(p->in, "sources that stand in for each other");
	}
}

static void get_sources(struct player *p)
{
	unsigned n = (unsigned)tape_get_below(p->in, SESSION_SOURCES + 1, "sources");
	for (unsigned i = 0; i < n; i++) {
		struct player_source *s = &p->source[i];
		s->player = p;
		s->ops = player_source_ops;
		s->ops.name = s->name;
		tape_get_text(p->in, s->name, sizeof s->name);
		unsigned hooks = tape_get_byte(p->in);
		if (!(hooks & RECORD_HAS_ADD)) s->ops.thread_add = NULL;
		if (!(hooks & RECORD_HAS_POLL)) s->ops.poll = NULL;
		if (!(hooks & RECORD_HAS_COUNTS)) s->ops.counts = NULL;
		if (!(hooks & RECORD_HAS_PRICE)) s->ops.price = NULL;
		s->ops.sample_ns = (unsigned)tape_get_below(p->in, UINT32_MAX, "a sample's price");
		uint64_t better = tape_get_below(p->in, (uint64_t)n + 1, "a source that is better");
		if (better) s->ops.stands_in_for = &p->source[better - 1].ops;
		p->sources[i] = &s->ops;
	}
	p->n_sources = n;
	check_sources(p);
}

static void get_latencies(struct player *p, struct machine *m, unsigned node, unsigned n_nodes)
{
	for (unsigned k = 0; k < n_nodes; k++) {
		m->latency_ns[node][k] = tape_get_float(p->in);
		if (!(m->latency_ns[node][k] > 0 && m->latency_ns[node][k] < 1e9f)) tape_fail(p->in, "a latency that can't be");
	}
}

static void get_cpus(struct player *p, struct machine *m, unsigned n)
{
	for (; n && !tape_is_bad(p->in); n--) {
		unsigned os = (unsigned)tape_get_below(p->in, MACHINE_CPUS, "a CPU");
		unsigned core = (unsigned)tape_get_below(p->in, UINT16_MAX + 1, "a core");
		machine_add_cpu(m, os, core, (unsigned)tape_get_below(p->in, UINT16_MAX + 1, "a cache"));
	}
}

static int get_machine(struct player *p, struct machine *m)
{
	unsigned cpus[MACHINE_NODES], sum = 0;
	const char *why;
	unsigned n_nodes = (unsigned)tape_get_below(p->in, MACHINE_NODES + 1, "nodes"), n_cpus = (unsigned)tape_get_below(p->in, MACHINE_CPUS + 1, "CPUs");
	int ret = machine_init(m, n_cpus);
	if (ret) return ret;
	for (unsigned n = 0; n < n_nodes; n++) {
		unsigned os = (unsigned)tape_get_below(p->in, UINT16_MAX, "a node");
		m->node[n].os = (uint16_t)os;
		m->node[n].memory_bytes = tape_get(p->in);
		m->node[n].lines_per_ns = tape_get_float(p->in);
		if (!(m->node[n].lines_per_ns > 0 && m->node[n].lines_per_ns < 1e9f)) tape_fail(p->in, "a node that serves nothing");
		cpus[n] = (unsigned)tape_get_below(p->in, (uint64_t)n_cpus - sum + 1, "CPUs of a node");
		sum += cpus[n];
		get_latencies(p, m, n, n_nodes);
	}
	for (unsigned n = 0; n < n_nodes; n++) {
		machine_add_node(m, m->node[n].os, m->node[n].memory_bytes);
		get_cpus(p, m, cpus[n]);
	}
	if (!tape_is_bad(p->in) && (m->n_cpus != n_cpus || machine_check(m, &why))) tape_fail(p->in, "a machine that can't be");
	return tape_is_bad(p->in) ? -EINVAL : 0;
}

int player_start(struct player *p, struct session_setup *setup)
{
	if (!player_expect(p, RECORD_START)) return -EINVAL;
	tape_get_text(p->in, p->version, sizeof p->version);
	get_options(p);
	p->flags = tape_get_byte(p->in);
	p->ticks_per_s = (unsigned)tape_get_below(p->in, 1000000, "ticks a second");
	get_sources(p);
	int ret = get_machine(p, &setup->machine);
	for (unsigned i = 0; !ret && i < MACHINE_CPUS / 64; i++) p->allowed.word[i] = tape_get(p->in);
	if (!ret && tape_is_bad(p->in)) ret = -EINVAL;
	if (ret) machine_free(&setup->machine);
	return ret;
}
