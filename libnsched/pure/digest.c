#include "pure/digest.h"

#include <string.h>

#include "pure/pure.h"

/* An odd number whose bits are even between 0 and 1; the shift brings what came out on top back down. */
static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9fb21c651e98df25ull;
	return h ^ h >> 32;
}

static uint64_t two(float a, float b)
{
	uint32_t x, y;
	memcpy(&x, &a, sizeof x);
	memcpy(&y, &b, sizeof y);
	return (uint64_t)x << 32 | y;
}

static uint64_t pair(int64_t a, int64_t b)
{
	return (uint64_t)a << 32 ^ (uint64_t)b;
}

static uint64_t digest_thread(uint64_t h, const struct situation_thread *t)
{
	h = mix(h, pair(t->number, t->node));
	h = mix(h, two(t->load, t->bound ? 1 : 0));
	h = mix(h, pair(t->moved_ms_ago, t->home));
	return mix(h, pair(t->process, pair(t->times, t->fixed)));
}

static uint64_t digest_chunk(uint64_t h, const struct situation_chunk *c)
{
	h = mix(h, c->page);
	h = mix(h, pair(c->pages, c->n_uses));
	h = mix(h, pair(c->moved_ms_ago, pair(c->last, c->fixed)));
	for (unsigned k = 0; k < SITUATION_WHERE && c->where[k].node >= 0; k++) h = mix(h, two(c->where[k].share, (float)c->where[k].node));
	return h;
}

uint64_t digest_situation(const struct situation *s)
{
	uint64_t h = mix(s->age_ns, pair(s->n_threads, s->n_chunks));
	h = mix(h, two(s->page_move_ns, s->thread_move_ns));
	h = mix(h, pair(s->step, s->n_uses));
	for (unsigned n = 0; n < s->machine->n_nodes; n++) h = mix(h, two(s->past[n].load, (float)s->past[n].short_ms));
	for (unsigned t = 0; t < s->n_threads; t++) h = digest_thread(h, &s->thread[t]);
	for (unsigned c = 0; c < s->n_chunks; c++) h = digest_chunk(h, &s->chunk[c]);
	for (unsigned u = 0; u < s->n_uses; u++) h = mix(h, two(s->use[u].rate, (float)s->use[u].thread));
	return h;
}
