#include "recorder.h"

#include <errno.h>
#include <stdlib.h>

#include "log.h"
#include "pure/digest.h"

#define FLUSH_NS 1000000000ull   /* a program that is killed leaves a record up to a second before */
#define MIB (1024 * 1024ull)

/* ---- what is written ---------------------------------------------------------------------------------------- */

bool recorder_writes(const struct recorder *r)
{
	return atomic_load_explicit(&r->stepper, memory_order_relaxed) == (uintptr_t)pthread_self();
}

void recorder_event(struct recorder *r, enum record_event event)
{
	tape_put_byte(&r->tape, event);
}

void recorder_difference(struct recorder *r, uint64_t number, uint64_t *last)
{
	tape_put_signed(&r->tape, (int64_t)(number - *last));
	*last = number;
}

/* The recording ends, the program does not. */
static void end(struct recorder *r, const char *why)
{
	snprintf(r->why, sizeof r->why, "%s", why);
	r->bytes = record_file_bytes(r->file);
	record_file_close(r->file);   /* the file ends where it ends */
	r->file = NULL;
	atomic_store(&r->stepper, 0);
}

static void give_out(struct recorder *r)
{
	int ret = r->tape.failed || r->part.failed ? -ENOMEM : record_file_write(r->file, r->tape.data, r->tape.n);
	r->tape.n = 0;
	if (!ret && r->last_now - r->flushed_ns >= FLUSH_NS) {
		r->flushed_ns = r->last_now;
		ret = record_file_flush(r->file);
	}
	if (ret) end(r, strerror(-ret));
	else if (record_file_bytes(r->file) > r->most_bytes) end(r, "it has as many MiB as record_mib allows");
}

/* ---- the witness ----------------------------------------------------------------------------------------------- */

static void begin_step(void *state)
{
	struct recorder *r = state;
	if (!r->file) return;
	atomic_store_explicit(&r->stepper, (uintptr_t)pthread_self(), memory_order_relaxed);
	recorder_event(r, RECORD_BEGIN);
	r->steps++;
}

static void end_step(void *state)
{
	struct recorder *r = state;
	if (!recorder_writes(r)) return;
	atomic_store_explicit(&r->stepper, 0, memory_order_relaxed);
	uint64_t begin = r->clock->own_cpu_ns(r->clock_state);
	give_out(r);
	r->own_cpu_ns += r->clock->own_cpu_ns(r->clock_state) - begin;
}

static bool grow_seen(struct recorder *r, uint32_t n)
{
	if (n <= r->room_seen) return true;
	struct recorder_seen *grown = realloc(r->seen, 2 * (size_t)n * sizeof *grown);
	if (!grown) return false;
	memset(grown + r->room_seen, 0, (2 * (size_t)n - r->room_seen) * sizeof *grown);
	for (uint32_t i = r->room_seen; i < 2 * n; i++) grown[i].bound = REGISTRY_NO_NODE;
	r->seen = grown;
	r->room_seen = 2 * n;
	return true;
}

static bool same(const struct recorder_seen *a, const struct recorder_seen *b)
{
	return a->tid == b->tid && a->state == b->state && a->bound == b->bound && a->fixed == b->fixed && a->process == b->process &&
	       a->node == b->node && !memcmp(&a->load, &b->load, sizeof a->load);
}

static void note_slot(struct recorder *r, const struct nsched_thread *t)
{
	struct recorder_seen *last = &r->seen[t->number], now = { .tid = t->tid, .state = t->seen.state, .bound = t->seen.bound, .fixed = t->seen.fixed,
	                                                 .process = t->process };
	if (!r->eyes) {   /* then others tell where it runs */
		now.node = t->node;
		now.load = t->load;
	}
	if (same(last, &now)) return;
	*last = now;
	tape_put(&r->tape, t->number + 1);
	tape_put_signed(&r->tape, now.tid);
	tape_put_byte(&r->tape, (unsigned)now.state);
	tape_put_byte(&r->tape, now.fixed);
	tape_put(&r->tape, (uint64_t)(now.bound + 1));
	tape_put(&r->tape, now.process);
	if (r->eyes) return;
	tape_put(&r->tape, (uint64_t)(now.node + 1));
	tape_put_float(&r->tape, now.load);
}

static void note_threads(void *state, struct registry *registry, bool *look_at_all)
{
	struct recorder *r = state;
	if (!recorder_writes(r)) return;
	if (!grow_seen(r, registry->seen_n)) {
		end(r, strerror(ENOMEM));
		return;
	}
	recorder_event(r, RECORD_THREADS);
	tape_put_byte(&r->tape, *look_at_all);
	tape_put(&r->tape, registry->seen_n);
	for (uint32_t i = 0; i < registry->seen_n; i++) note_slot(r, registry_at(registry, i));
	tape_put(&r->tape, 0);
}

static void note_bound(void *state, struct nsched_thread *t, int *ret)
{
	struct recorder *r = state;
	if (!recorder_writes(r)) return;
	recorder_event(r, RECORD_BOUND);
	tape_put_signed(&r->tape, *ret);
	tape_put_byte(&r->tape, (unsigned)t->seen.state);
	tape_put_byte(&r->tape, t->seen.fixed);
	tape_put(&r->tape, (uint64_t)(t->seen.bound + 1));
}

static void note_touches(void *state, struct nsched_thread *t, uint64_t *addr, uint32_t *n)
{
	struct recorder *r = state;
	if (!*n || !recorder_writes(r)) return;
	recorder_event(r, RECORD_TOUCHES);
	tape_put(&r->tape, t->number);
	tape_put(&r->tape, *n);
	for (uint32_t i = 0; i < *n; i++) recorder_difference(r, addr[i] >> RECORD_LINE_SHIFT, &r->last_line);
}

static void note_regions(void *state, struct trial_seen *seen, unsigned *n)
{
	struct recorder *r = state;
	if (!*n || !recorder_writes(r)) return;
	recorder_event(r, RECORD_REGIONS);
	tape_put(&r->tape, *n);
	for (unsigned i = 0; i < *n; i++) {
		tape_put(&r->tape, seen[i].key);
		tape_put(&r->tape, seen[i].took);
		tape_put(&r->tape, seen[i].visits);
	}
}

/* True: these are others than noted last, and noted now. */
static bool changed(void **noted, unsigned *n_noted, const void *now, unsigned n, size_t bytes)
{
	if (*n_noted == n && (!n || !memcmp(*noted, now, n * bytes))) return false;
	void *grown = realloc(*noted, n ? n * bytes : 1);
	if (!grown) return true;   /* told again next time */
	if (n) memcpy(grown, now, n * bytes);
	*noted = grown;
	*n_noted = n;
	return true;
}

static void note_ranges(void *state, struct ranges *g)
{
	struct recorder *r = state;
	if (!recorder_writes(r)) return;
	bool hints = changed((void **)&r->hint, &r->n_hints, g->hint, g->n_hints, sizeof *g->hint);
	if (!changed((void **)&r->range, &r->n_ranges, g->range, g->n_ranges, sizeof *g->range) && !hints) return;
	recorder_event(r, RECORD_RANGES);
	tape_put(&r->tape, g->n_ranges);
	for (unsigned i = 0; i < g->n_ranges; i++) {
		recorder_difference(r, g->range[i].addr, &r->last_addr);
		tape_put(&r->tape, g->range[i].bytes);
		tape_put_text(&r->tape, r->anonymous ? "" : g->range[i].name);
	}
	tape_put(&r->tape, g->n_hints);
	for (unsigned i = 0; i < g->n_hints; i++) {
		tape_put(&r->tape, g->hint[i].thread);
		recorder_difference(r, g->hint[i].addr, &r->last_addr);
		tape_put(&r->tape, g->hint[i].bytes);
		tape_put(&r->tape, g->hint[i].bytes_per_s);
	}
}

static void note_neighbours(void *state, struct neighbours *n, enum neighbours_mode *mode)
{
	struct recorder *r = state;
	unsigned ours = 0;
	if (!recorder_writes(r)) return;
	recorder_event(r, RECORD_NEIGHBOURS);
	tape_put_byte(&r->tape, *mode);
	for (unsigned i = 0; *mode == NEIGHBOURS_TOGETHER && i < n->plan->n_orders; i++) ours += n->plan->order[i].slot == n->slot;
	tape_put(&r->tape, ours);
	for (unsigned i = 0; ours && i < n->plan->n_orders; i++) {
		const struct slot_order *o = &n->plan->order[i];
		if (o->slot != n->slot) continue;
		tape_put_signed(&r->tape, o->tid);
		tape_put_signed(&r->tape, o->node_os);
		tape_put(&r->tape, o->support);
		tape_put_float(&r->tape, o->gain_ns_per_s);
	}
}

static void note_reason(struct recorder *r, const char *reason)
{
	unsigned i = 0;
	while (i < r->n_reasons && strcmp(r->reason[i], reason)) i++;
	tape_put(&r->tape, i);
	if (i < r->n_reasons) return;
	if (i < RECORD_REASONS) r->reason[r->n_reasons++] = reason;   /* a literal */
	tape_put_text(&r->tape, reason);
}

static void note_move(struct recorder *r, const struct move *m)
{
	tape_put_byte(&r->tape, (m->kind == MOVE_PAGES ? RECORD_MOVE_PAGES : 0) | (m->again ? RECORD_MOVE_AGAIN : 0));
	if (m->kind == MOVE_PAGES) {
		recorder_difference(r, m->page, &r->last_page);
		tape_put(&r->tape, m->pages);
		tape_put(&r->tape, m->range);
	} else {
		tape_put(&r->tape, m->thread);
	}
	tape_put_signed(&r->tape, m->from);
	tape_put_signed(&r->tape, m->to);
	tape_put(&r->tape, m->support);
	tape_put_float(&r->tape, m->gain_ns_per_s);
	tape_put_float(&r->tape, m->cost_ns);
	note_reason(r, m->reason);
}

static void note_plan(void *state, const struct situation *situation, const struct plan *plan)
{
	struct recorder *r = state;
	if (!recorder_writes(r)) return;
	uint64_t digest = digest_situation(situation);
	recorder_event(r, RECORD_PLAN);
	for (unsigned i = 0; i < sizeof digest; i++) tape_put_byte(&r->tape, digest >> 8 * i & 0xff);
	tape_put(&r->tape, plan->n);
	for (unsigned i = 0; i < plan->n; i++) note_move(r, &plan->move[i]);
}

static const struct witness_ops witness = { begin_step, end_step, note_threads, note_bound, note_touches, note_regions, note_ranges, note_neighbours, note_plan };

/* ---- life --------------------------------------------------------------------------------------------------------- */

int recorder_open(struct recorder *r, const char *file, const struct nsched_config *config)
{
	memset(r, 0, sizeof *r);
	r->anonymous = config->record_names == 0;
	r->most_bytes = config->record_mib * MIB;
	return record_file_open(file, config->record_over, &r->file, r->why);
}

static void put_options(struct recorder *r, const struct nsched_config *config)
{
	char value[CONFIG_VALUE_BYTES];
	for (unsigned i = 0; i < OPTIONS; i++) {
		/* names of files are nobody's business, and nothing depends on them */
		bool name = i == OPTION_report || i == OPTION_record;
		if (name || config_value(config, (enum config_option_number)i, value, sizeof value) < 0) continue;
		tape_put_text(&r->tape, config_options[i].name);
		tape_put_text(&r->tape, value);
	}
	tape_put_text(&r->tape, "");
}

static void put_sources(struct recorder *r)
{
	tape_put(&r->tape, r->n_sources);
	for (unsigned i = 0; i < r->n_sources; i++) {
		const struct source_ops *o = &r->source[i].ops, *better = o->stands_in_for;
		unsigned k = 0;
		while (better && k < r->n_sources && &r->source[k].ops != better) k++;
		tape_put_text(&r->tape, o->name);
		tape_put_byte(&r->tape, (o->thread_add ? RECORD_HAS_ADD : 0) | (o->poll ? RECORD_HAS_POLL : 0) | (o->counts ? RECORD_HAS_COUNTS : 0) |
		                       (o->price ? RECORD_HAS_PRICE : 0));
		tape_put(&r->tape, o->sample_ns);
		tape_put(&r->tape, better ? k + 1 : 0);
	}
}

static void put_machine(struct recorder *r, const struct machine *m)
{
	tape_put(&r->tape, m->n_nodes);
	tape_put(&r->tape, m->n_cpus);
	for (unsigned n = 0; n < m->n_nodes; n++) {
		tape_put(&r->tape, m->node[n].os);
		tape_put(&r->tape, m->node[n].memory_bytes);
		tape_put_float(&r->tape, m->node[n].lines_per_ns);
		tape_put(&r->tape, m->node[n].n_cpus);
		for (unsigned k = 0; k < m->n_nodes; k++) tape_put_float(&r->tape, m->latency_ns[n][k]);
	}
	for (unsigned c = 0; c < m->n_cpus; c++) {
		tape_put(&r->tape, m->cpu[c].os);
		tape_put(&r->tape, m->cpu[c].core);
		tape_put(&r->tape, m->cpu[c].l3);
	}
}

static void put_start(struct recorder *r, const struct session_setup *setup)
{
	unsigned flags = (setup->eyes ? RECORD_EYES : 0) | (setup->counters ? RECORD_COUNTERS : 0) | (setup->neighbours ? RECORD_TEAM : 0) |
	                 (r->anonymous ? RECORD_ANONYMOUS : 0);
	char version[32];
	snprintf(version, sizeof version, "%d.%d.%d", NSCHED_VERSION_MAJOR, NSCHED_VERSION_MINOR, NSCHED_VERSION_PATCH);
	recorder_event(r, RECORD_START);
	tape_put_text(&r->tape, version);
	put_options(r, setup->config);
	tape_put_byte(&r->tape, flags);
	tape_put(&r->tape, setup->eyes ? setup->eyes->ticks_per_s(setup->eyes_state) : 0);
	put_sources(r);
	put_machine(r, &setup->machine);
	for (unsigned i = 0; i < sizeof setup->allowed.word / sizeof *setup->allowed.word; i++) tape_put(&r->tape, setup->allowed.word[i]);
}

/* From here on the calling thread writes; session_init ends with the witness's word, like a step. */
void recorder_join(struct recorder *r, struct session_setup *setup)
{
	recorder_join_ops(r, setup);
	setup->witness = &witness;
	setup->witness_state = r;
	put_start(r, setup);
	atomic_store(&r->stepper, (uintptr_t)pthread_self());
}

static void free_buffers(struct recorder *r)
{
	tape_free(&r->tape);
	tape_free(&r->part);
	free(r->seen);
	free(r->hint);
	free(r->range);
	r->seen = NULL;
	r->hint = NULL;
	r->range = NULL;
	r->n_seen = r->room_seen = r->n_hints = r->n_ranges = 0;
}

void recorder_close(struct recorder *r)
{
	atomic_store(&r->stepper, 0);
	if (r->file) {
		recorder_event(r, RECORD_END);
		tape_put(&r->tape, r->steps);
		give_out(r);
	}
	if (r->file) {
		int ret = record_file_end(r->file);
		if (ret) snprintf(r->why, sizeof r->why, "%s", strerror(-ret));
		r->bytes = record_file_bytes(r->file);
		record_file_close(r->file);
		r->file = NULL;
	}
	free_buffers(r);
}

void recorder_forked(struct recorder *r)
{
	atomic_store(&r->stepper, 0);
	if (r->file) record_file_close(r->file);   /* a copy of the parent's: it goes on there */
	r->file = NULL;
	free_buffers(r);
}

uint64_t recorder_bytes(const struct recorder *r)
{
	return r->file ? record_file_bytes(r->file) : r->bytes;
}
