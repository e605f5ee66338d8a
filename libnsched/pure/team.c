#include "pure/team.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

enum {
	GROUPS = 2 * SLOT_CHUNKS,  /* of the table in which groups of chunks are found, at the most: half full */
	GROUPS_LEAST = 16,
	WHOLE = 1000,              /* permille */
	LINE_BYTES = 64,
};

/* ---- a situation made small ----------------------------------------------------------------------------- */

struct condenser {
	const struct situation *s;
	struct slot_view *view;
	unsigned groups;           /* in use of group[]: a power of two */
	int16_t group[GROUPS];     /* index in view->chunk, -1: free */
	float pages[SLOT_CHUNKS][SLOT_WHERE];  /* of each group that there is, on each of its nodes */
};

static unsigned node_os(const struct situation *s, int node)
{
	return node < 0 ? UINT16_MAX : s->machine->node[node].os;
}

/* The users that use it most, by ascending thread. */
static void main_users(const struct situation *s, const struct situation_chunk *c, struct slot_chunk *out)
{
	for (unsigned u = c->first_use; u < c->first_use + c->n_uses; u++) {
		const struct situation_use *use = &s->use[u];
		if (use->thread >= SLOT_THREADS) continue;
		unsigned least = 0;
		if (out->n_users < SLOT_USERS) least = out->n_users++;
		else
			for (unsigned k = 1; k < SLOT_USERS; k++)
				if (out->user[k].rate < out->user[least].rate) least = k;
		if (out->user[least].rate > use->rate) continue;
		out->user[least].thread = (uint16_t)use->thread;
		out->user[least].rate = use->rate;
	}
	for (unsigned i = 1; i < out->n_users; i++)
		for (unsigned k = i; k > 0 && out->user[k - 1].thread > out->user[k].thread; k--) {
			uint16_t thread = out->user[k].thread;
			float rate = out->user[k].rate;
			out->user[k] = out->user[k - 1];
			out->user[k - 1].thread = thread;
			out->user[k - 1].rate = rate;
		}
}

static bool same_group(const struct slot_chunk *a, const struct slot_chunk *b)
{
	if (a->fixed != b->fixed || a->n_users != b->n_users || a->where[0].node_os != b->where[0].node_os) return false;
	for (unsigned u = 0; u < a->n_users; u++)
		if (a->user[u].thread != b->user[u].thread) return false;
	return true;
}

static unsigned hash_group(const struct slot_chunk *c)
{
	unsigned h = (unsigned)(c->where[0].node_os + 1) * 2u + c->fixed;
	for (unsigned u = 0; u < c->n_users; u++) h = h * 31u + c->user[u].thread;
	return h * 2654435761u >> 8;
}

/* More pages on these nodes: those that have no place among the group's are left out. */
static void add_where(struct slot_chunk *to, float *pages, const struct situation *s, const struct situation_chunk *c)
{
	for (unsigned i = 0; i < SITUATION_WHERE && c->where[i].node >= 0; i++)
		for (unsigned k = 0; k < SLOT_WHERE; k++) {
			if (to->where[k].node_os < 0) to->where[k].node_os = (int16_t)node_os(s, c->where[i].node);
			if (to->where[k].node_os != (int)node_os(s, c->where[i].node)) continue;
			pages[k] += c->where[i].share * (float)c->pages;
			break;
		}
}

static void add_to_group(struct slot_chunk *to, const struct slot_chunk *more)
{
	for (unsigned u = 0; u < to->n_users; u++) to->user[u].rate += more->user[u].rate;
	to->pages = to->pages + more->pages < to->pages ? UINT32_MAX : to->pages + more->pages;
}

static void add_chunk(struct condenser *d, const struct situation_chunk *c)
{
	struct slot_chunk one = { .pages = c->pages, .fixed = c->fixed };
	for (unsigned k = 0; k < SLOT_WHERE; k++) one.where[k].node_os = -1;
	if (c->where[0].node >= 0) one.where[0].node_os = (int16_t)node_os(d->s, c->where[0].node);
	main_users(d->s, c, &one);
	if (!one.n_users || !one.pages) return;
	unsigned at = hash_group(&one) % d->groups;
	while (d->group[at] >= 0 && !same_group(&d->view->chunk[d->group[at]], &one)) at = (at + 1) % d->groups;
	if (d->group[at] >= 0) {
		add_to_group(&d->view->chunk[d->group[at]], &one);
	} else if (d->view->n_chunks < SLOT_CHUNKS) {
		d->group[at] = (int16_t)d->view->n_chunks;
		for (unsigned k = 0; k < SLOT_WHERE; k++) d->pages[d->view->n_chunks][k] = 0;
		d->view->chunk[d->view->n_chunks++] = one;
	} else {
		return;
	}
	add_where(&d->view->chunk[d->group[at]], d->pages[d->group[at]], d->s, c);
}

void team_condense(const struct situation *s, const int32_t *tid, struct slot_view *view)
{
	struct condenser d;   /* 8 KiB, of which what few chunks need is made ready */
	d.s = s;
	d.view = view;
	for (d.groups = GROUPS_LEAST; d.groups < GROUPS && d.groups < 2 * s->n_chunks;) d.groups *= 2;
	uint64_t age_ms = s->age_ns / 1000000;
	view->n_threads = s->n_threads < SLOT_THREADS ? s->n_threads : SLOT_THREADS;
	view->n_chunks = 0;
	view->page_move_ns = s->page_move_ns;
	view->age_ms = age_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)age_ms;
	for (unsigned t = 0; t < view->n_threads; t++) {
		const struct situation_thread *th = &s->thread[t];
		view->thread[t] = (struct slot_thread){ .tid = tid[t], .node_os = th->node < 0 ? (int16_t)-1 : (int16_t)node_os(s, th->node),
		                                        .bound = th->bound, .fixed = th->fixed, .load = th->load, .moved_ms_ago = th->moved_ms_ago };
	}
	for (unsigned i = 0; i < d.groups; i++) d.group[i] = -1;
	for (unsigned c = 0; c < s->n_chunks; c++) add_chunk(&d, &s->chunk[c]);
	for (unsigned g = 0; g < view->n_chunks; g++) {
		/* shares are rounded where they come from: two halves may be more than a whole */
		float all = (float)view->chunk[g].pages, sum = 0;
		for (unsigned k = 0; k < SLOT_WHERE; k++) sum += d.pages[g][k];
		if (sum > all) all = sum;
		for (unsigned k = 0; k < SLOT_WHERE; k++) view->chunk[g].where[k].permille = (uint16_t)(WHOLE * d.pages[g][k] / all + 0.5f);
	}
	for (unsigned t = 0; t < view->n_threads; t++)
		if (!(view->thread[t].load <= 1)) view->thread[t].load = 1;   /* a tick more than the time that went by */
}

/* ---- members as one situation ------------------------------------------------------------------------------ */

static int merge_threads(const struct machine *m, const struct team_member *member, unsigned index, struct situation *s,
                         struct team_origin *origin, unsigned room)
{
	for (unsigned t = 0; t < member->view->n_threads; t++) {
		const struct slot_thread *from = &member->view->thread[t];
		if (s->n_threads == room) return -E2BIG;
		struct situation_thread *th = situation_add_thread(s);
		if (!th) return -ENOMEM;
		origin[s->n_threads - 1] = (struct team_origin){ index, t };
		th->number = s->n_threads - 1;
		th->node = from->node_os < 0 ? (int16_t)-1 : (int16_t)machine_node_of_os(m, (unsigned)from->node_os);
		th->bound = from->bound;
		th->fixed = from->fixed || member->theirs;
		th->load = from->load;
		th->moved_ms_ago = from->moved_ms_ago;
	}
	return 0;
}

static int merge_chunks(const struct machine *m, const struct team_member *member, unsigned first_thread, uint64_t *page,
                        struct situation *s)
{
	for (unsigned i = 0; i < member->view->n_chunks; i++) {
		const struct slot_chunk *from = &member->view->chunk[i];
		struct situation_chunk *c = situation_add_chunk(s);
		if (!c) return -ENOMEM;
		c->page = *page;
		c->pages = from->pages;
		/* a gap, so that a plan does not join what belongs to two processes */
		*page += (uint64_t)from->pages + 1;
		c->fixed = from->fixed || member->theirs;
		c->moved_ms_ago = UINT32_MAX;
		unsigned n = 0;
		for (unsigned k = 0; k < SLOT_WHERE; k++) {
			int node = from->where[k].node_os < 0 ? -1 : machine_node_of_os(m, (unsigned)from->where[k].node_os);
			if (node < 0 || n == SITUATION_WHERE) continue;
			c->where[n].node = (int16_t)node;
			c->where[n++].share = (float)from->where[k].permille / WHOLE;
		}
		for (unsigned u = 0; u < from->n_users; u++) {
			struct situation_use *use = situation_add_use(s);
			if (!use) return -ENOMEM;
			use->thread = first_thread + from->user[u].thread;
			use->rate = from->user[u].rate;
		}
	}
	return 0;
}

/* Who speaks for a process: its first thread, which is MPI's in nearly every program; the busiest where
 * that one is not among those that were seen. */
static unsigned speaker(const struct team_member *member)
{
	unsigned best = 0;
	for (unsigned t = 0; t < member->view->n_threads; t++) {
		if (member->view->thread[t].tid == member->pid) return t;
		if (member->view->thread[t].load > member->view->thread[best].load) best = t;
	}
	return best;
}

static float sent_per_ns(const struct team_member *from, uint32_t rank)
{
	const struct slot_row *row = from->row;
	double ns = (double)from->view->age_ms * 1e6;
	for (unsigned i = 0; row && ns > 0 && i < row->n_peers; i++)
		if (row->peer[i].rank == rank) return (float)((double)row->peer[i].bytes / LINE_BYTES / ns);
	return 0;
}

static int merge_talks(const struct team_member *members, unsigned n, const unsigned *first, struct situation *s)
{
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = 0; members[a].row && b < n; b++) {
			if (a == b || !members[b].row || !members[a].view->n_threads || !members[b].view->n_threads) continue;
			float rate = sent_per_ns(&members[a], members[b].row->rank) + sent_per_ns(&members[b], members[a].row->rank);
			if (!(rate > 0)) continue;
			struct situation_talk *talk = situation_add_talk(s, first[a] + speaker(&members[a]));
			if (!talk) return -ENOMEM;
			talk->other = first[b] + speaker(&members[b]);
			talk->rate = rate;
		}
	return 0;
}

int team_merge(const struct machine *m, const struct team_member *members, unsigned n, struct situation *s, struct team_origin *origin,
               unsigned room)
{
	unsigned first[TEAM_MEMBERS];
	uint64_t page = 1, age_ms = 0;
	int ret = n > TEAM_MEMBERS ? -E2BIG : 0;
	situation_clear(s);
	s->machine = m;
	for (unsigned i = 0; !ret && i < n; i++) {
		first[i] = s->n_threads;
		ret = merge_threads(m, &members[i], i, s, origin, room);
		if (!ret) ret = merge_chunks(m, &members[i], first[i], &page, s);
		if (members[i].view->age_ms > age_ms) age_ms = members[i].view->age_ms;
		s->page_move_ns += members[i].view->page_move_ns / (float)n;
	}
	s->age_ns = age_ms * 1000000;
	return ret ? ret : merge_talks(members, n, first, s);
}
