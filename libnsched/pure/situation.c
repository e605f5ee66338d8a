#include "pure/situation.h"

#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

#define HORIZON_LEAST_NS 3000000000ull
#define HORIZON_MOST_NS 3600000000000ull

void situation_clear(struct situation *s)
{
	s->n_threads = s->n_chunks = s->n_uses = s->n_talks = 0;
}

void situation_free(struct situation *s)
{
	free(s->thread);
	free(s->chunk);
	free(s->use);
	free(s->talk);
	memset(s, 0, sizeof *s);
}

/* A zeroed new element of an array that grows; NULL without memory. */
static void *add(void **array, unsigned *n, unsigned *room, size_t bytes)
{
	if (*n == *room) {
		unsigned more = *room ? *room * 2 : 64;
		void *grown = realloc(*array, more * bytes);
		if (!grown) return NULL;
		*array = grown;
		*room = more;
	}
	return memset((char *)*array + (*n)++ * bytes, 0, bytes);
}

struct situation_thread *situation_add_thread(struct situation *s)
{
	struct situation_thread *thread = add((void **)&s->thread, &s->n_threads, &s->room_threads, sizeof *s->thread);
	if (thread) thread->node = thread->home = -1;
	return thread;
}

struct situation_chunk *situation_add_chunk(struct situation *s)
{
	struct situation_chunk *chunk = add((void **)&s->chunk, &s->n_chunks, &s->room_chunks, sizeof *s->chunk);
	if (!chunk) return NULL;
	chunk->first_use = s->n_uses;
	chunk->last = -1;
	chunk->stands = 1;
	for (unsigned k = 0; k < SITUATION_WHERE; k++) chunk->where[k].node = -1;
	return chunk;
}

struct situation_use *situation_add_use(struct situation *s)
{
	struct situation_use *use = add((void **)&s->use, &s->n_uses, &s->room_uses, sizeof *s->use);
	if (use) s->chunk[s->n_chunks - 1].n_uses++;
	return use;
}

struct situation_talk *situation_add_talk(struct situation *s, unsigned thread)
{
	struct situation_talk *talk = add((void **)&s->talk, &s->n_talks, &s->room_talks, sizeof *s->talk);
	if (talk && !s->thread[thread].n_talks++) s->thread[thread].first_talk = s->n_talks - 1;
	return talk;
}

float situation_again(const struct situation_thread *thread, float least, float most)
{
	for (unsigned times = thread->times; times > 1 && least < most; times--) least *= 2;
	return least < most ? least : most;
}

void situation_rates(const struct situation *s, float *rate)
{
	for (unsigned t = 0; t < s->n_threads; t++) rate[t] = 0;
	for (unsigned u = 0; u < s->n_uses; u++) rate[s->use[u].thread] += s->use[u].rate;
}

float situation_traffic(const struct situation *s, const struct situation_chunk *chunk)
{
	float sum = 0;
	for (unsigned u = 0; u < chunk->n_uses; u++) sum += s->use[chunk->first_use + u].rate;
	return sum;
}

int situation_toucher(const struct situation *s, const struct situation_chunk *chunk, float *on)
{
	float here[MACHINE_NODES] = { 0 }, beside[MACHINE_NODES] = { 0 };
	int most = -1;
	for (unsigned u = 0; u < chunk->n_uses; u++) {
		const struct situation_use *use = &s->use[chunk->first_use + u];
		if (s->thread[use->thread].node >= 0) here[s->thread[use->thread].node] += use->rate;
	}
	for (unsigned n = 0; n < s->machine->n_nodes; n++) {
		int memory = here[n] > 0 ? machine_nearest_memory(s->machine, n) : -1;
		if (memory >= 0) beside[memory] += here[n];
	}
	for (unsigned n = 0; n < s->machine->n_nodes; n++)
		if (beside[n] > (most < 0 ? 0 : beside[most])) most = (int)n;
	if (on) memcpy(on, beside, s->machine->n_nodes * sizeof *on);
	return most;
}

static float share_on(const struct situation_chunk *chunk, int node)
{
	for (unsigned k = 0; k < SITUATION_WHERE; k++)
		if (chunk->where[k].node == node) return chunk->where[k].share;
	return 0;
}

unsigned situation_local_permille(const struct situation *s)
{
	double local = 0, all = 0;
	for (unsigned c = 0; c < s->n_chunks; c++)
		for (unsigned u = 0; u < s->chunk[c].n_uses; u++) {
			const struct situation_use *use = &s->use[s->chunk[c].first_use + u];
			int node = s->thread[use->thread].node;
			if (node < 0) continue;
			all += (double)use->rate;
			local += (double)use->rate * (double)share_on(&s->chunk[c], node);
		}
	return all > 0 ? (unsigned)(1000 * local / all + 0.5) : 1001;
}

uint64_t situation_horizon_ns(const struct situation *s)
{
	return s->age_ns < HORIZON_LEAST_NS ? HORIZON_LEAST_NS : s->age_ns > HORIZON_MOST_NS ? HORIZON_MOST_NS : s->age_ns;
}
