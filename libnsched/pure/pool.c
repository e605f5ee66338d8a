#include "pure/pool.h"

#include <errno.h>
#include <stdlib.h>

#include "pure/pure.h"

/* A user with this share of what is asked of a chunk is known for itself: of the forty accesses that are remembered, ten. */
#define NAMED 0.25f

/* Of fewer users than this each has more than can come by chance. */
enum { ALIKE_LEAST = 5 };

/* Threads that a chunk is given to. Where there are more, it is others for each chunk, so that all have about as much in the end. */
enum { POOL_MOST = 64 };

/* Chunks side by side with too many users are taken to be of one array, and to have the same users: of each chunk some are known, of all
 * together most. But no further than the next multiple of this (64 MiB), since arrays may lie side by side, too. */
enum { PIECE_PAGES = 16384 };

/* One that was seen less than this, compared with the mean of those seen there, is a stray. */
#define STRAY 0.25f

/* So much of a process's threads are taken for all of it. */
#define MOST 0.75f

/* By this much the first leads: who looks for main users finds the same one everywhere. */
#define LEADS 1.0001f

struct pool {
	struct situation *s;
	struct situation_use *use;   /* the new ones */
	unsigned n, room;
	unsigned kept;               /* users of the chunks of a piece */
	float *seen;                 /* of each thread: what it was seen to ask of the piece; 0 in between */
	uint32_t *member;            /* threads that share the piece */
	unsigned members;
	bool *named;                 /* of each thread, for the chunk that is looked at */
};

static int emit(struct pool *p, uint32_t thread, float rate)
{
	if (p->n == p->room) {
		unsigned room = p->room ? 2 * p->room : 256;
		struct situation_use *grown = realloc(p->use, room * sizeof *grown);
		if (!grown) return -ENOMEM;
		p->use = grown;
		p->room = room;
	}
	p->use[p->n++] = (struct situation_use){ .thread = thread, .rate = rate };
	return 0;
}

/* ---- who shares a piece --------------------------------------------------------------------------------------- */

static unsigned end_of_piece(const struct situation *s, unsigned c)
{
	uint64_t end = (s->chunk[c].page / PIECE_PAGES + 1) * PIECE_PAGES;
	for (c++; c < s->n_chunks && s->chunk[c].crowded && s->chunk[c].page < end; c++)
		if (s->chunk[c].page != s->chunk[c - 1].page + s->chunk[c - 1].pages) break;
	return c;
}

static void look(struct pool *p, unsigned first, unsigned end)
{
	const struct situation *s = p->s;
	p->kept = 0;
	for (unsigned c = first; c < end; c++) {
		p->kept += s->chunk[c].n_uses;
		for (unsigned u = s->chunk[c].first_use; u < s->chunk[c].first_use + s->chunk[c].n_uses; u++) p->seen[s->use[u].thread] += s->use[u].rate;
	}
}

/* Are `seen` different threads, of so many that were kept for the chunks, more than there would be if only `users` shared the piece? */
static bool are_more(const struct pool *p, unsigned seen, float users)
{
	float different = 0;
	for (unsigned k = 0; k < p->kept; k++) different += different < users ? 1 - different / users : 0;
	return (float)seen > different;
}

/* Those that were seen; or, where these seem to be most of a process, all of it. */
static void find_members(struct pool *p)
{
	const struct situation *s = p->s;
	unsigned seen = 0, of_process = 0, all = 0;
	float sum = 0, most = 0;
	uint16_t process = 0;
	for (unsigned t = 0; t < s->n_threads; t++) {
		seen += p->seen[t] > 0;
		sum += p->seen[t];
		if (!(p->seen[t] > most)) continue;
		most = p->seen[t];
		process = s->thread[t].process;
	}
	float least = seen ? STRAY * sum / (float)seen : 0;
	for (unsigned t = 0; t < s->n_threads; t++) {
		all += s->thread[t].process == process;
		of_process += s->thread[t].process == process && p->seen[t] > least;
	}
	bool everyone = are_more(p, of_process, MOST * (float)all);
	p->members = 0;
	for (unsigned t = 0; t < s->n_threads; t++) {
		if (p->seen[t] > least || (everyone && s->thread[t].process == process)) p->member[p->members++] = t;
		p->seen[t] = 0;
	}
}

/* The i-th of those that a chunk is given to: from the first on, and then from another one for each chunk. */
static uint32_t member_at(const struct pool *p, unsigned turn, unsigned i)
{
	bool all = p->members <= POOL_MOST || !i;
	return p->member[all ? i : 1 + (turn * (POOL_MOST - 1) + i - 1) % (p->members - 1)];
}

static int emit_members(struct pool *p, unsigned turn, float rate)
{
	unsigned n = p->members < POOL_MOST ? p->members : POOL_MOST, takers = 0, led = 0;
	for (unsigned i = 0; i < n; i++) takers += !p->named[member_at(p, turn, i)];
	for (unsigned i = 0; i < n; i++) {
		uint32_t t = member_at(p, turn, i);
		if (!p->named[t] && emit(p, t, rate / (float)takers * (led++ ? 1 : LEADS))) return -ENOMEM;
	}
	return 0;
}

/* ---- chunks ---------------------------------------------------------------------------------------------------- */

static int share_out(struct pool *p, unsigned chunk)
{
	struct situation_chunk *c = &p->s->chunk[chunk];
	const struct situation_use *use = situation_uses(p->s, c);
	float known = situation_traffic(p->s, c), all = known * (1 + c->unknown), pooled = known * c->unknown;
	unsigned first = p->n, small = 0;
	int ret = 0;
	for (unsigned u = 0; u < c->n_uses; u++) {
		p->named[use[u].thread] = use[u].rate >= NAMED * all;
		if (p->named[use[u].thread]) continue;
		pooled += use[u].rate;
		small++;
	}
	bool alike = c->n_uses >= ALIKE_LEAST;
	for (unsigned u = 0; u < c->n_uses && !ret; u++) {
		bool named = p->named[use[u].thread];
		if (named || !c->crowded) ret = emit(p, use[u].thread, named || !alike ? use[u].rate : pooled / (float)small);
	}
	if (!ret && c->crowded) ret = emit_members(p, chunk, pooled);
	for (unsigned u = 0; u < c->n_uses; u++) p->named[use[u].thread] = false;
	c->first_use = first;
	c->n_uses = (uint16_t)(p->n - first);
	c->unknown = 0;
	c->crowded = false;
	return ret;
}

static int share_all(struct pool *p)
{
	const struct situation *s = p->s;
	int ret = 0;
	for (unsigned c = 0, end = 0; !ret && c < s->n_chunks; c++) {
		if (s->chunk[c].crowded && c >= end) {
			end = end_of_piece(s, c);
			look(p, c, end);
			find_members(p);
		}
		ret = share_out(p, c);
	}
	return ret;
}

static bool is_worth(const struct situation *s)
{
	for (unsigned c = 0; c < s->n_chunks; c++)
		if (s->chunk[c].crowded || s->chunk[c].n_uses >= ALIKE_LEAST) return true;
	return false;
}

int pool_users(struct situation *s)
{
	unsigned room = s->n_threads + 1;
	if (!is_worth(s)) return 0;
	struct pool p = { .s = s, .seen = calloc(room, sizeof *p.seen), .member = calloc(room, sizeof *p.member), .named = calloc(room, sizeof *p.named) };
	int ret = p.seen && p.member && p.named ? share_all(&p) : -ENOMEM;
	free(p.seen);
	free(p.member);
	free(p.named);
	if (ret) {
		free(p.use);
		return ret;
	}
	free(s->use);
	s->use = p.use;
	s->n_uses = p.n;
	s->room_uses = p.room;
	return 0;
}
