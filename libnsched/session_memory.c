#include <stdlib.h>

#include "session.h"

enum {
	LOOK_PAGES = 64,         /* pages asked for of a chunk that has more: shares are then right to about 1/8, enough to decide */
	LOOK_EACH_STEP = 4096,   /* pages asked for in one step: 0.3 ms */
	LOOK_AGAIN_MS = 1000,    /* memory is looked at again after this: the kernel, or the program, may have moved it... */
	LOOK_QUIET_MS = 2000,    /* ...or this, while nothing changes: if much had moved, fewer accesses would be local */
	LINE_BYTES = 64,
};

static void collect(void *arg, unsigned index, const struct evidence_chunk *chunk)
{
	struct session *s = arg;
	if (s->n_leaves == s->room_leaves) {
		unsigned room = s->room_leaves ? s->room_leaves * 2 : 256;
		struct session_leaf *grown = realloc(s->leaf, room * sizeof *grown);
		if (!grown) return;
		s->leaf = grown;
		s->room_leaves = room;
	}
	s->leaf[s->n_leaves++] = (struct session_leaf){ .index = index, .pages = chunk->pages, .page = chunk->page };
}

struct look {
	uint64_t addr[LOOK_EACH_STEP];
	int node_os[LOOK_EACH_STEP];
	unsigned n;
};

static bool wants_look(const struct session *s, const struct placement_entry *entry, unsigned after_ms)
{
	return !(entry->flags & PLACEMENT_KNOWN) || placement_age_ms(entry->looked, session_now_ms(s)) >= after_ms;
}

/* Evenly over the chunk, with a place inside each stretch that differs from look to look. */
static unsigned add_pages(const struct session *s, struct look *look, const struct session_leaf *leaf)
{
	unsigned n = leaf->pages < LOOK_PAGES ? leaf->pages : LOOK_PAGES;
	if (look->n + n > LOOK_EACH_STEP) return 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned begin = i * leaf->pages / n, stretch = (i + 1) * leaf->pages / n - begin;
		look->addr[look->n++] = (leaf->page + begin + s->totals.steps % stretch) << EVIDENCE_PAGE_SHIFT;
	}
	return n;
}

static void fill(struct session *s, const struct look *look, unsigned *at, const struct session_leaf *leaf)
{
	unsigned pages[MACHINE_NODES] = { 0 };
	unsigned n = leaf->pages < LOOK_PAGES ? leaf->pages : LOOK_PAGES;
	for (unsigned i = 0; i < n; i++, ++*at) {
		int node = look->node_os[*at] < 0 ? -1 : machine_node_of_os(&s->machine, (unsigned)look->node_os[*at]);
		if (node >= 0) pages[node]++;
	}
	struct placement_entry *entry = placement_entry(&s->placement, leaf->index, evidence_chunk(s->evidence, leaf->index));
	if (!entry) return;
	struct placement_entry before = *entry;
	placement_fill(entry, pages, s->machine.n_nodes, session_now_ms(s));
	session_kernel_moved(s, &before, entry);
}

/* Round and round over the leaves, as many as one step may ask for. */
void session_locate(struct session *s)
{
	struct look look;
	unsigned after_ms = session_calm(s) && !s->kernel.balances ? LOOK_QUIET_MS : LOOK_AGAIN_MS;
	unsigned first = s->next_look, asked = 0, chosen[LOOK_EACH_STEP], at = 0;
	look.n = 0;
	s->n_leaves = 0;
	evidence_walk(s->evidence, collect, s);
	for (unsigned k = 0; k < s->n_leaves && asked < LOOK_EACH_STEP; k++) {
		unsigned i = (first + k) % s->n_leaves;
		const struct session_leaf *leaf = &s->leaf[i];
		struct placement_entry *entry = placement_entry(&s->placement, leaf->index, evidence_chunk(s->evidence, leaf->index));
		s->next_look = i;
		if (!entry || !wants_look(s, entry, after_ms)) continue;
		if (!add_pages(s, &look, leaf)) break;
		chosen[asked++] = i;
	}
	if (!look.n || s->hands->locate(s->hands_state, look.addr, look.n, look.node_os)) return;
	for (unsigned k = 0; k < asked; k++) fill(s, &look, &at, &s->leaf[chosen[k]]);
}

/* The local share of this step: of the accesses that were sampled, asked page by page. */
void session_count_local(struct session *s)
{
	uint64_t addr[SESSION_PROBES];
	int node_os[SESSION_PROBES];
	float local = 0, all = 0;
	for (unsigned i = 0; i < s->n_probes; i++) addr[i] = s->probe[i].addr >> EVIDENCE_PAGE_SHIFT << EVIDENCE_PAGE_SHIFT;
	if (s->n_probes && !s->hands->locate(s->hands_state, addr, s->n_probes, node_os))
		for (unsigned i = 0; i < s->n_probes; i++) {
			int node = node_os[i] < 0 ? -1 : machine_node_of_os(&s->machine, (unsigned)node_os[i]);
			int here = registry_at(s->registry, s->probe[i].thread)->node;
			if (node < 0 || here < 0) continue;
			all += s->probe[i].weight;
			if (node == here) local += s->probe[i].weight;
		}
	s->local = all > 0 ? local / all : -1;
	history_add_share(&s->history, local, all);
}

/* Each hint becomes the evidence that samples would have given: the time that so many lines take from
 * local memory. A thread can't spend more time than there is: beyond it, all its hints shrink alike. */
void session_add_hints(struct session *s, uint64_t passed_ns)
{
	pthread_mutex_lock(&s->ranges->lock);
	if (s->witness) s->witness->ranges(s->witness_state, s->ranges);
	for (unsigned h = 0; h < s->ranges->n_hints; h++) {
		const struct hint *hint = &s->ranges->hint[h];
		registry_at(s->registry, hint->thread)->weight_ns += hint->bytes_per_s / LINE_BYTES * MACHINE_LOCAL_NS;
	}
	for (unsigned h = 0; h < s->ranges->n_hints; h++) {
		const struct hint *hint = &s->ranges->hint[h];
		double ns_per_s = (double)(hint->bytes_per_s / LINE_BYTES) * MACHINE_LOCAL_NS;
		double all = (double)registry_at(s->registry, hint->thread)->weight_ns;
		double part = all > 1e9 ? ns_per_s / all : ns_per_s / 1e9;
		evidence_add_range(s->evidence, hint->thread, hint->addr, hint->bytes, (float)(part * (double)passed_ns));
	}
	for (unsigned h = 0; h < s->ranges->n_hints; h++) registry_at(s->registry, s->ranges->hint[h].thread)->weight_ns = 0;
	pthread_mutex_unlock(&s->ranges->lock);
}
