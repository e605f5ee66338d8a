#include "pure/evidence_users.h"

#include <math.h>
#include <stddef.h>

#include "pure/pure.h"

enum {
	MEAN_MEMORY = 32,        /* accesses that a mean remembers: its noise is then 1/27 of the chunk for a uniform user */
	SPLIT_MINOR = 8,         /* and the lesser of the two has an eighth of the greater one's weight: below it is noise */
	SPLIT_TICKS = 24,        /* and both have been seen a little: one and a half samples at 250 Hz */
	SPLIT_SEEN = 3,          /* and each a few times, or a stray would do it */
	MEMORY_TICKS = 640,      /* weight that a chunk remembers: 40 samples at 250 Hz, enough for 3 users to be told apart by 10 % */
};

/* A chunk is halved if two means differ by more than this share of it over the root of the accesses that they
 * are of: neighbours with parts of their own differ by a half, threads that share it by nothing but noise,
 * which shrinks with that root. Three deviations of it at the start and four in the end, or chunks shared by
 * many would fall to pieces; a half is seen after 6 accesses of each, a quarter after 24. */
#define SPLIT_APART 1.2f

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

void users_add(struct evidence_chunk *c, unsigned thread, unsigned mean, unsigned ticks, unsigned most)
{
	struct evidence_user *user = NULL;
	users_add_ticks(&c->recent, ticks);
	if (ticks > most) ticks = most;
	if (evidence_weight(c) + ticks > MEMORY_TICKS) users_halve(c);
	for (unsigned u = 0; u < c->n_users; u++)
		if (c->user[u].thread == thread) user = &c->user[u];
	if (!user) user = admit_user(c, thread, ticks);
	if (!user) return;
	if (user->seen < MEAN_MEMORY) user->seen++;
	user->mean = (uint16_t)(user->mean + ((int)mean - (int)user->mean) / (int)user->seen);
	users_add_ticks(&user->weight, ticks);
}

static bool apart(const struct evidence_chunk *c, const struct evidence_user *a, const struct evidence_user *b)
{
	unsigned least = a->weight < b->weight ? a->weight : b->weight, most = a->weight + b->weight - least;
	unsigned d = (unsigned)(a->mean > b->mean ? a->mean - b->mean : b->mean - a->mean);
	unsigned seen = a->seen < b->seen ? a->seen : b->seen;
	if (least < SPLIT_TICKS || least * SPLIT_MINOR < most || seen < SPLIT_SEEN) return false;
	float size = (float)((unsigned)MEAN_UNITS << c->order);
	return (float)d > size * SPLIT_APART / sqrtf((float)seen);
}

bool users_apart(const struct evidence_chunk *c)
{
	if (!c->order) return false;
	for (unsigned a = 0; a < c->n_users; a++)
		for (unsigned b = a + 1; b < c->n_users; b++)
			if (apart(c, &c->user[a], &c->user[b])) return true;
	return false;
}

/* A user whose mean is near the middle goes to both halves, half of it each; so does the main one in any
 * case: its mean is of its last accesses, and a thread that sweeps through its part comes back. */
static void hand_down(struct evidence_chunk half[2], const struct evidence_user *u, unsigned order, bool main)
{
	unsigned middle = (unsigned)MEAN_UNITS << (order - 1), near = middle / 4;
	bool low = main || u->mean < middle + near, high = main || u->mean + near >= middle;
	for (unsigned k = 0; k < 2; k++) {
		if (k ? !high : !low) continue;
		struct evidence_user *to = &half[k].user[half[k].n_users];
		*to = *u;
		if (low && high) {
			to->weight /= 2;
			to->mean = (uint16_t)(middle / 2);
		} else if (k) {
			to->mean = (uint16_t)(u->mean - middle < middle ? u->mean > middle ? u->mean - middle : 0 : middle - 1);
		}
		to->seen = 1;  /* what is seen next decides where in the half it is */
		if (to->weight) half[k].n_users++;
	}
}

void users_hand_down(const struct evidence_chunk *c, struct evidence_chunk half[2])
{
	unsigned most = 0;
	for (unsigned u = 1; u < c->n_users; u++)
		if (c->user[u].weight > c->user[most].weight) most = u;
	for (unsigned u = 0; u < c->n_users; u++) hand_down(half, &c->user[u], c->order, u == most);
}
