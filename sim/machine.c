/* Machines from presets, hwloc's files and descriptions. Reads files (by way of sys/topo), decides nothing. */
#include "machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pure/nearest.h"
#include "random.h"
#include "sys/topo.h"

static const struct sim_param params[] = {
#define PARAM(name, value, least, most, unit, help) { #name, value, least, most, unit, help, offsetof(struct sim_params, name) },
#include "params.def"
#undef PARAM
};
enum { PARAMS = sizeof params / sizeof *params };

const struct sim_param *sim_param_at(unsigned i)
{
	return i < PARAMS ? &params[i] : NULL;
}

static double *field(struct sim_machine *m, const struct sim_param *p)
{
	return (double *)(void *)((char *)&m->params + p->offset);
}

/* CPUs of one core stand in a ring. */
static void find_siblings(struct sim_machine *m)
{
	const struct machine *k = &m->known;
	for (unsigned c = 0; c < k->n_cpus; c++) {
		unsigned other = c;
		do other = (other + 1) % k->n_cpus;
		while (k->cpu[other].core != k->cpu[c].core);
		m->sibling[c] = (uint16_t)other;
	}
}

static void set_latency(struct sim_machine *m)
{
	for (unsigned i = 0; i < m->known.n_nodes; i++)
		for (unsigned j = 0; j < m->known.n_nodes; j++) {
			double distance = (double)m->known.latency_ns[i][j] / MACHINE_LOCAL_NS;
			m->latency[i][j] = (float)(m->params.local_ns * (1 + m->params.remote * (distance - 1)));
		}
}

static int set_words(struct sim_machine *m, const char *words, char error[SIM_ERROR])
{
	char pair[64];
	int n, ret = 0;
	for (; !ret && words && sscanf(words, " %63s%n", pair, &n) == 1; words += n) ret = sim_machine_set(m, pair, error);
	return ret;
}

static const struct sim_preset *find_preset(const char *name)
{
	for (unsigned i = 0; sim_preset_at(i); i++)
		if (!strcmp(sim_preset_at(i)->name, name)) return sim_preset_at(i);
	return NULL;
}

static int no_machine(const char *spec, char error[SIM_ERROR])
{
	const char *names[64];
	unsigned n = 0;
	for (; sim_preset_at(n) && n < 64; n++) names[n] = sim_preset_at(n)->name;
	const char *nearest = nearest_name(spec, names, n);
	if (nearest) snprintf(error, SIM_ERROR, "there is no machine \"%.60s\"; did you mean %s?", spec, nearest);
	else
		snprintf(error, SIM_ERROR, "\"%.60s\" is no machine: neither a preset (--list), nor a file of lstopo (FILE.xml), nor a "
		         "description as \"node:4 core:2 pu:1\"", spec);
	return -EINVAL;
}

static int load_topology(struct sim_machine *m, const char *spec, const struct sim_preset *preset)
{
	size_t length = strlen(spec);
	if (preset) {
		int ret = topo_load_synthetic(&m->known, preset->synthetic);
		if (!ret) machine_set_distances(&m->known, preset->distances);
		return ret;
	}
	if (length > 4 && !strcmp(spec + length - 4, ".xml")) return topo_load_xml(&m->known, spec);
	return strchr(spec, ':') ? topo_load_synthetic(&m->known, spec) : -EINVAL;
}

int sim_machine_load(struct sim_machine *m, const char *spec, char error[SIM_ERROR])
{
	memset(m, 0, sizeof *m);
	for (unsigned i = 0; i < PARAMS; i++) *field(m, &params[i]) = params[i].value;
	const struct sim_preset *preset = find_preset(spec);
	int ret = load_topology(m, spec, preset);
	if (ret == -EINVAL || ret == -ENODEV) return no_machine(spec, error);
	if (ret == -E2BIG) {
		snprintf(error, SIM_ERROR, "the machine \"%.60s\" is too large: at most %u nodes and %u CPUs", spec, MACHINE_NODES, MACHINE_CPUS);
		return ret;
	}
	if (ret) {
		snprintf(error, SIM_ERROR, "the machine \"%.60s\" can't be made: %s", spec, strerror(-ret));
		return ret;
	}
	snprintf(m->name, sizeof m->name, "%s", spec);
	set_latency(m);
	find_siblings(m);
	ret = m->known.n_cpus ? 0 : no_machine(spec, error);
	if (!ret) ret = set_words(m, preset ? preset->set : NULL, error);
	if (ret) sim_machine_free(m);
	return ret;
}

void sim_machine_free(struct sim_machine *m)
{
	machine_free(&m->known);
}

static int no_param(const char *name, char error[SIM_ERROR])
{
	const char *names[PARAMS];
	for (unsigned i = 0; i < PARAMS; i++) names[i] = params[i].name;
	const char *nearest = nearest_name(name, names, PARAMS);
	snprintf(error, SIM_ERROR, nearest ? "a machine has no parameter %s; did you mean %s?" : "a machine has no parameter %s; see --list", name,
	         nearest);
	return -EINVAL;
}

int sim_machine_set(struct sim_machine *m, const char *pair, char error[SIM_ERROR])
{
	char name[32], *end;
	const char *sign = strchr(pair, '=');
	const struct sim_param *p = NULL;
	snprintf(name, sizeof name, "%.*s", (int)(sign ? sign - pair : 31), pair);
	for (unsigned i = 0; i < PARAMS; i++)
		if (!strcmp(params[i].name, name)) p = &params[i];
	if (!p) return no_param(name, error);
	double value = sign ? strtod(sign + 1, &end) : 0;
	if (!sign || end == sign + 1 || *end || !(value >= p->least && value <= p->most)) {
		snprintf(error, SIM_ERROR, "%s=%.40s: wanted is a number from %g to %g", name, sign ? sign + 1 : "", p->least, p->most);
		return -EINVAL;
	}
	*field(m, p) = value;
	set_latency(m);
	return 0;
}

void sim_machine_perturb(struct sim_machine *m, double share, uint64_t seed)
{
	static const char *const physical[] = { "local_ns", "remote", "node_gbs", "link_gbs", "knee", "smt", "cache_kib", "refill_gbs",
	                                        "evict_ms", "message_ns", "message_far", "touch_ns", "page_move_ns" };
	struct chance chance;
	chance_seed(&chance, seed);
	for (unsigned i = 0; i < sizeof physical / sizeof *physical; i++)
		for (unsigned k = 0; k < PARAMS; k++) {
			if (strcmp(params[k].name, physical[i])) continue;
			double value = chance_around(&chance, *field(m, &params[k]), share);
			*field(m, &params[k]) = value < params[k].least ? params[k].least : value;
		}
	set_latency(m);
}

int sim_machine_known(const struct sim_machine *m, struct machine *copy)
{
	*copy = m->known;
	copy->cpu = malloc(m->known.n_cpus * sizeof *copy->cpu);
	if (!copy->cpu) return -ENOMEM;
	memcpy(copy->cpu, m->known.cpu, m->known.n_cpus * sizeof *copy->cpu);
	return 0;
}
