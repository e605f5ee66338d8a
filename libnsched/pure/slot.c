#include "pure/slot.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "pure/pure.h"

enum { PERMILLE = 1000 };

#define RATE_MOST 1e3f     /* accesses per ns of one thread: a thousand times what any CPU can do */

static uint32_t packed_bytes(const struct slot_view *v)
{
	return (uint32_t)(offsetof(struct slot_view, thread) + v->n_threads * sizeof v->thread[0] + v->n_chunks * sizeof v->chunk[0]);
}

uint32_t slot_view_pack(struct slot_view *v)
{
	memmove((char *)v->thread + v->n_threads * sizeof v->thread[0], v->chunk, v->n_chunks * sizeof v->chunk[0]);
	return packed_bytes(v);
}

bool slot_view_unpack(struct slot_view *v, uint32_t bytes)
{
	if (bytes < offsetof(struct slot_view, thread) || v->n_threads > SLOT_THREADS || v->n_chunks > SLOT_CHUNKS) return false;
	if (bytes != packed_bytes(v)) return false;
	memmove(v->chunk, (char *)v->thread + v->n_threads * sizeof v->thread[0], v->n_chunks * sizeof v->chunk[0]);
	return true;
}

void slot_view_copy(struct slot_view *to, const struct slot_view *from)
{
	memcpy(to, from, offsetof(struct slot_view, thread) + from->n_threads * sizeof from->thread[0]);
	memcpy(to->chunk, from->chunk, from->n_chunks * sizeof from->chunk[0]);
}

uint32_t slot_view_bytes(const struct slot_view *v)
{
	/* chunk[] is behind all of thread[]: the unused threads lie between */
	return (uint32_t)(offsetof(struct slot_view, chunk) + v->n_chunks * sizeof v->chunk[0]);
}

uint32_t slot_row_bytes(const struct slot_row *r)
{
	return (uint32_t)(offsetof(struct slot_row, peer) + r->n_peers * sizeof r->peer[0]);
}

uint32_t slot_plan_bytes(const struct slot_plan *p)
{
	return (uint32_t)(offsetof(struct slot_plan, order) + p->n_orders * sizeof p->order[0]);
}

static bool in_range(float x, float least, float most)
{
	return x >= least && x <= most;   /* not so for what is no number */
}

static bool is_node(int node_os)
{
	return node_os >= -1 && node_os < INT16_MAX;
}

static bool thread_valid(const struct slot_thread *t)
{
	return t->tid > 0 && is_node(t->node_os) && t->bound <= 1 && t->fixed <= 1 && in_range(t->load, 0, PERMILLE);
}

static bool chunk_valid(const struct slot_chunk *c, uint32_t threads)
{
	unsigned permille = 0;
	if (!c->pages || c->fixed > 1 || c->n_users > SLOT_USERS) return false;
	for (unsigned k = 0; k < SLOT_WHERE; k++) {
		if (!is_node(c->where[k].node_os) || c->where[k].permille > PERMILLE) return false;
		permille += c->where[k].permille;
	}
	for (unsigned u = 0; u < c->n_users; u++)
		if (c->user[u].thread >= threads || !in_range(c->user[u].rate, 0, RATE_MOST)) return false;
	return permille <= PERMILLE + SLOT_WHERE;   /* each rounded up */
}

bool slot_view_valid(const struct slot_view *v, uint32_t bytes)
{
	if (bytes < offsetof(struct slot_view, chunk) || v->n_threads > SLOT_THREADS || v->n_chunks > SLOT_CHUNKS) return false;
	if (bytes != slot_view_bytes(v) || !in_range(v->page_move_ns, 0, 1e9f)) return false;
	for (unsigned t = 0; t < v->n_threads; t++)
		if (!thread_valid(&v->thread[t])) return false;
	for (unsigned c = 0; c < v->n_chunks; c++)
		if (!chunk_valid(&v->chunk[c], v->n_threads)) return false;
	return true;
}

bool slot_row_valid(const struct slot_row *r, uint32_t bytes)
{
	if (bytes < offsetof(struct slot_row, peer) || r->n_peers > SLOT_PEERS || bytes != slot_row_bytes(r)) return false;
	if (r->rank >= r->ranks) return false;
	for (unsigned i = 0; i < r->n_peers; i++)
		if (r->peer[i].rank >= r->ranks) return false;
	return true;
}

bool slot_plan_valid(const struct slot_plan *p, uint32_t bytes)
{
	if (bytes < offsetof(struct slot_plan, order) || p->n_orders > SLOT_ORDERS || p->alone > 1 || bytes != slot_plan_bytes(p)) return false;
	for (unsigned i = 0; i < p->n_orders; i++) {
		const struct slot_order *o = &p->order[i];
		if (o->tid <= 0 || !is_node(o->node_os) || o->support > PERMILLE || !in_range(o->gain_ns_per_s, -1e18f, 1e18f)) return false;
	}
	return true;
}

static bool counts_less(const struct slot_peer *a, const struct slot_peer *b)
{
	return a->bytes != b->bytes ? a->bytes < b->bytes : a->messages < b->messages;
}

/* The least of all is always first: a heap of SLOT_PEERS, through which the peers pass. */
static void sift(struct slot_row *row, uint32_t at)
{
	for (;;) {
		uint32_t least = at;
		for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < row->n_peers; child++)
			if (counts_less(&row->peer[child], &row->peer[least])) least = child;
		if (least == at) return;
		struct slot_peer swap = row->peer[at];
		row->peer[at] = row->peer[least];
		row->peer[least] = swap;
		at = least;
	}
}

void slot_row_begin(struct slot_row *row, uint32_t rank, uint32_t ranks)
{
	/* not the 24 KiB behind it: this is done in each step, and most ranks talk to a few others */
	memset(row, 0, offsetof(struct slot_row, peer));
	row->rank = rank;
	row->ranks = ranks;
}

int slot_row_add(struct slot_row *row, const struct slot_peer *peer)
{
	if (peer->rank >= row->ranks) return -EINVAL;
	if (row->n_peers < SLOT_PEERS) {
		row->peer[row->n_peers++] = *peer;
		if (row->n_peers == SLOT_PEERS)
			for (uint32_t at = SLOT_PEERS / 2; at-- > 0;) sift(row, at);
	} else if (counts_less(&row->peer[0], peer)) {
		row->peer[0] = *peer;
		sift(row, 0);
	}
	return 0;
}
