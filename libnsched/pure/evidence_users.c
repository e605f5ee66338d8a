#include "pure/evidence_users.h"

#include <stddef.h>

#include "pure/pure.h"

enum { MEMORY_TICKS = 640 };  /* weight that a chunk remembers: 40 samples at 250 Hz, enough for 3 users to be told apart by 10 % */

static unsigned least_user(const struct evidence_chunk *c)
{
	unsigned least = 0;
	for (unsigned u = 1; u < c->n_users; u++)
		if (c->user[u].weight < c->user[least].weight) least = u;
	return least;
}

void users_drop(struct evidence_chunk *c, unsigned u)
{
	c->user[u] = c->user[--c->n_users];
}

void users_clear(struct evidence_chunk *c)
{
	c->n_users = 0;
	c->others = 0;
}

void users_halve(struct evidence_chunk *c)
{
	for (unsigned u = c->n_users; u-- > 0;)
		if (!(c->user[u].weight /= 2)) users_drop(c, u);
	c->others /= 2;
}

void users_add_ticks(uint16_t *weight, unsigned ticks)
{
	*weight = (uint16_t)(*weight + ticks > WEIGHT_MOST ? WEIGHT_MOST : *weight + ticks);
}

/* A thread that is not among the users takes the place of the least, which has to have shrunk to its
 * size (Metwally's space-saving, without the inherited count: it would make strangers heavy). */
static struct evidence_user *admit_user(struct evidence_chunk *c, unsigned thread, unsigned ticks)
{
	if (c->n_users == EVIDENCE_USERS) {
		struct evidence_user *least = &c->user[least_user(c)];
		if (least->weight > ticks + c->others / EVIDENCE_USERS) {
			users_add_ticks(&c->others, ticks);
			return NULL;
		}
		users_add_ticks(&c->others, least->weight);
		*least = c->user[--c->n_users];
	}
	struct evidence_user *u = &c->user[c->n_users++];
	*u = (struct evidence_user){ .thread = (uint16_t)thread };
	return u;
}

unsigned evidence_weight(const struct evidence_chunk *c)
{
	unsigned sum = c->others;
	for (unsigned u = 0; u < c->n_users; u++) sum += c->user[u].weight;
	return sum;
}

static void remember(struct evidence_chunk *c, unsigned thread, unsigned ticks)
{
	struct evidence_user *user = NULL;
	for (unsigned u = 0; u < c->n_users; u++)
		if (c->user[u].thread == thread) user = &c->user[u];
	if (!user) user = admit_user(c, thread, ticks);
	if (user) users_add_ticks(&user->weight, ticks);
}

void users_add(struct evidence_chunk *c, unsigned thread, unsigned ticks, unsigned most)
{
	users_add_ticks(&c->recent, ticks);
	if (ticks > most) ticks = most;
	if (evidence_weight(c) + ticks > MEMORY_TICKS) users_halve(c);
	remember(c, thread, ticks);
}

bool users_is_main(const struct evidence_chunk *c, unsigned thread)
{
	unsigned most = 0, who = EVIDENCE_NO_THREAD;
	for (unsigned u = 0; u < c->n_users; u++)
		if (c->user[u].weight > most) {
			most = c->user[u].weight;
			who = c->user[u].thread;
		}
	return who == thread;
}

/* Rounded up for the larger side, so that a user of one tick is not lost. */
static unsigned take(uint16_t *weight, unsigned pages, unsigned of)
{
	unsigned part = (*weight * pages + (2 * pages > of ? of - 1 : 0)) / of;
	*weight = (uint16_t)(*weight - part);
	return part;
}

void users_share_out(struct evidence_chunk *whole, struct evidence_chunk *part, unsigned pages, unsigned of)
{
	users_clear(part);
	part->others = (uint16_t)take(&whole->others, pages, of);
	part->recent = (uint16_t)take(&whole->recent, pages, of);
	for (unsigned u = whole->n_users; u-- > 0;) {
		unsigned ticks = take(&whole->user[u].weight, pages, of);
		if (ticks) part->user[part->n_users++] = (struct evidence_user){ whole->user[u].thread, (uint16_t)ticks };
		if (!whole->user[u].weight) users_drop(whole, u);
	}
}

void users_merge(struct evidence_chunk *into, const struct evidence_chunk *from)
{
	users_add_ticks(&into->recent, from->recent);
	users_add_ticks(&into->others, from->others);
	for (unsigned u = 0; u < from->n_users; u++) remember(into, from->user[u].thread, from->user[u].weight);
}
