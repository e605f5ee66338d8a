#include <errno.h>
#include <stdio.h>

#include "session.h"

enum { POLL_MOST = 16384 };  /* accesses taken from a source in one step: 2 to 5 ms of decoding at the worst */

void session_start_sources(struct session *s, const struct source_ops *const *sources)
{
	struct source_setup setup = { .max_threads = REGISTRY_THREADS,
	                              .period_ns = s->config.sample_hz ? 1000000000 / s->config.sample_hz : 0 };
	for (unsigned i = 0; sources && sources[i] && s->n_sources < SESSION_SOURCES; i++) {
		struct session_source *src = &s->source[s->n_sources++];
		src->ops = sources[i];
		int ret = src->ops->start(&setup, &src->state, src->why);
		src->on = ret == 0;
		if (!src->on && !src->why[0]) snprintf(src->why, sizeof src->why, "error %d", -ret);
		if (src->on) src->why[0] = 0;
	}
}

static void stop(struct session_source *src)
{
	if (!src->on) return;
	if (src->ops->counts) src->ops->counts(src->state, &src->counts);
	src->on = false;
	if (src->ops->stop) src->ops->stop(src->state);
	src->state = NULL;
}

void session_stop_sources(struct session *s)
{
	for (unsigned i = 0; i < s->n_sources; i++) {
		if (s->source[i].on) snprintf(s->source[i].why, sizeof s->source[i].why, "stopped at the end");
		stop(&s->source[i]);
	}
}

/* An even choice among all accesses of the step (Vitter's reservoir, with a small generator of its own
 * that needs no seed: what matters is that no address is preferred). */
static void remember_probe(struct session *s, const struct access *a)
{
	uint64_t k = s->probes_seen++;
	if (s->n_probes < SESSION_PROBES) {
		k = s->n_probes++;
	} else {
		k = (k * 0x9e3779b97f4a7c15ull >> 32) % s->probes_seen;
		if (k >= SESSION_PROBES) return;
	}
	s->probe[k].addr = a->addr;
	s->probe[k].thread = a->thread;
	s->probe[k].weight = a->weight_ns;
}

static void put(void *arg, const struct access *a)
{
	struct session *s = arg;
	s->totals.samples++;
	evidence_add(s->evidence, a->thread, a->addr, a->weight_ns);
	if (a->kind != ACCESS_FIRST_TOUCH) remember_probe(s, a);
}

void session_poll_sources(struct session *s)
{
	struct sink sink = { put, s };
	s->n_probes = 0;
	s->probes_seen = 0;
	for (unsigned i = 0; i < s->n_sources; i++) {
		struct session_source *src = &s->source[i];
		if (!src->on || !src->ops->poll) continue;
		int ret = src->ops->poll(src->state, &sink, POLL_MOST);
		if (ret >= 0) continue;
		snprintf(src->why, sizeof src->why, ret == -EBUSY ? "the program took it for itself" : "lost in mid-run (error %d)", -ret);
		stop(src);
	}
}
