#include "pure/renumber.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

void renumber_order(const struct machine *m, unsigned *order)
{
	for (unsigned n = 0; n < m->n_nodes; n++) {
		unsigned at = n;
		for (; at > 0 && m->node[order[at - 1]].os > m->node[n].os; at--) order[at] = order[at - 1];
		order[at] = n;
	}
}

static int copy_machine(struct machine *to, const struct machine *from, const unsigned *order)
{
	int ret = machine_init(to, from->n_cpus);
	for (unsigned n = 0; !ret && n < from->n_nodes; n++) {
		const struct machine_node *node = &from->node[order[n]];
		machine_add_node(to, node->os, node->memory_bytes);
		to->node[n].lines_per_ns = node->lines_per_ns;
		for (unsigned c = node->first_cpu; c < (unsigned)node->first_cpu + node->n_cpus; c++)
			machine_add_cpu(to, from->cpu[c].os, from->cpu[c].core, from->cpu[c].l3);
		for (unsigned k = 0; k < from->n_nodes; k++) to->latency_ns[n][k] = from->latency_ns[order[n]][order[k]];
	}
	return ret;
}

static void *copy_array(const void *from, size_t n, size_t bytes)
{
	void *to = malloc((n + 1) * bytes);
	return to && n ? memcpy(to, from, n * bytes) : to;
}

static void rename_nodes(struct situation *to, const struct situation *from, const unsigned *order, const int16_t *renamed)
{
	for (unsigned t = 0; t < to->n_threads; t++) {
		if (to->thread[t].node >= 0) to->thread[t].node = renamed[to->thread[t].node];
		if (to->thread[t].home >= 0) to->thread[t].home = renamed[to->thread[t].home];
	}
	for (unsigned c = 0; c < to->n_chunks; c++) {
		if (to->chunk[c].last >= 0) to->chunk[c].last = renamed[to->chunk[c].last];
		for (unsigned k = 0; k < SITUATION_WHERE; k++)
			if (to->chunk[c].where[k].node >= 0) to->chunk[c].where[k].node = renamed[to->chunk[c].where[k].node];
	}
	for (unsigned n = 0; n < to->machine->n_nodes; n++) to->past[n] = from->past[order[n]];
}

int renumber(struct renumbered *copy, const struct situation *s, const unsigned *order)
{
	int16_t renamed[MACHINE_NODES];
	for (unsigned n = 0; n < s->machine->n_nodes; n++) renamed[order[n]] = (int16_t)n;
	int ret = copy_machine(&copy->machine, s->machine, order);
	if (ret) return ret;
	copy->situation = *s;
	copy->situation.machine = &copy->machine;
	copy->situation.thread = copy_array(s->thread, s->n_threads, sizeof *s->thread);
	copy->situation.chunk = copy_array(s->chunk, s->n_chunks, sizeof *s->chunk);
	copy->situation.use = copy_array(s->use, s->n_uses, sizeof *s->use);
	copy->situation.talk = copy_array(s->talk, s->n_talks, sizeof *s->talk);
	if (!copy->situation.thread || !copy->situation.chunk || !copy->situation.use || !copy->situation.talk) {
		renumber_free(copy);
		return -ENOMEM;
	}
	rename_nodes(&copy->situation, s, order, renamed);
	return 0;
}

void renumber_free(struct renumbered *copy)
{
	situation_free(&copy->situation);
	machine_free(&copy->machine);
}
