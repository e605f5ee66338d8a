#include "leaves.h"

#include <check.h>
#include <string.h>

static void collect(void *arg, unsigned index, const struct evidence_chunk *chunk)
{
	struct leaves *l = arg;
	struct leaf *leaf = &l->leaf[l->n++];
	made_hold(l->n <= CHUNKS);
	memset(leaf, 0, sizeof *leaf);
	leaf->page = chunk->page;
	leaf->pages = chunk->pages;
	leaf->index = index;
	leaf->n_users = chunk->n_users;
	for (unsigned u = 0; u < chunk->n_users; u++) leaf->weight[chunk->user[u].thread] += chunk->user[u].weight;
}

const struct leaves *leaves_look(struct evidence *e)
{
	static struct leaves leaves;
	leaves.n = 0;
	int n = evidence_walk(e, collect, &leaves);
	made_hold(n == (int)leaves.n);
	return &leaves;
}

const struct leaf *leaves_at(const struct leaves *l, uint64_t addr)
{
	static const struct leaf none;
	uint64_t page = addr >> EVIDENCE_PAGE_SHIFT;
	for (unsigned i = 0; i < l->n; i++)
		if (page >= l->leaf[i].page && page < l->leaf[i].page + l->leaf[i].pages) return &l->leaf[i];
	return &none;
}

void leaves_check(struct evidence *e, unsigned threads)
{
	unsigned with_users = 0;
	uint64_t last = 0;
	const struct leaves *l = leaves_look(e);
	for (unsigned i = 1; i < evidence_count(e); i++) {
		const struct evidence_chunk *c = evidence_chunk(e, i);
		if (!c->pages) continue;
		uint64_t end = c->page + c->pages;
		made_hold(c->n_users <= EVIDENCE_USERS);
		made_hold(c->next ? evidence_chunk(e, c->next)->page == end && end % TOP_PAGES != 0 : end % TOP_PAGES == 0);
		for (unsigned u = 0; u < c->n_users; u++) {
			made_hold(c->user[u].thread < threads);
			made_hold(c->user[u].weight > 0);
			for (unsigned k = 0; k < u; k++) made_hold(c->user[u].thread != c->user[k].thread);
		}
		with_users += c->n_users > 0;
	}
	made_hold(l->n == with_users);
	for (unsigned i = 0; i < l->n; i++) {
		made_hold(i == 0 || l->leaf[i].page >= last);
		last = l->leaf[i].page + l->leaf[i].pages;
	}
}

struct evidence *leaves_made(unsigned chunks)
{
	struct evidence *e;
	ck_assert_int_eq(evidence_init(&e, chunks, THREADS), 0);
	return e;
}

void leaves_age(struct evidence *e, uint64_t ns)
{
	evidence_age(e, ns, ns, HALF_LIFE);
}

void leaves_touch(struct evidence *e, struct dice *dice, unsigned thread, uint64_t from, uint64_t bytes)
{
	uint64_t addr = BASE + from + dice_next(dice) % bytes;
	made_hold(evidence_add(e, thread, addr, SAMPLE_NS) > 0);
}
