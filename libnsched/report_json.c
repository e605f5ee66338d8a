/* The report as JSON: the only file that includes jansson.h. */
#include <errno.h>
#include <jansson.h>
#include <unistd.h>

#include "report.h"

enum { HOST_BYTES = 256, NODES_BYTES = 64 };

static json_t *node_or_null(int node)
{
	return node < 0 ? json_null() : json_integer(node);
}

static json_t *share_or_null(unsigned permille)
{
	return permille > 1000 ? json_null() : json_integer(permille);
}

static json_t *options(const struct nsched_config *config)
{
	json_t *o = json_object();
	char value[CONFIG_VALUE_BYTES];
	for (unsigned i = 0; i < OPTIONS; i++) {
		if (config_value(config, (enum config_option_number)i, value, sizeof value) < 0) continue;
		json_t *v = config_options[i].kind == CONFIG_UINT || config_options[i].kind == CONFIG_BOOL
		            ? json_integer((json_int_t)strtoull(value, NULL, 10)) : json_string(value);
		json_object_set_new(o, config_options[i].name, v);
	}
	return o;
}

static json_t *sources(const struct session *s)
{
	json_t *a = json_array();
	for (unsigned i = 0; i < s->n_sources; i++) {
		const struct session_source *src = &s->source[i];
		json_array_append_new(a, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "name", src->ops->name, "state", src->on ? "on" : "off",
		                                   "reason", src->why, "samples", (json_int_t)src->counts.samples, "resolved",
		                                   (json_int_t)src->counts.resolved, "unresolved", (json_int_t)src->counts.unresolved,
		                                   "lost", (json_int_t)src->counts.lost, "refused", (json_int_t)src->refused, "start_us",
		                                   (json_int_t)(src->start_ns / 1000),
		                                   "own_cpu_us", (json_int_t)(src->own_cpu_ns / 1000)));
	}
	return a;
}

static json_t *counters(const struct session_counters *c)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:I}", "state", c->on ? "on" : "off", "reason", c->why, "events", c->about.events,
	                 "remote_permille_first", share_or_null(c->remote_permille_first), "remote_permille_last",
	                 share_or_null(c->remote_permille_now), "moves_helped", (json_int_t)c->helped, "moves_no_help", (json_int_t)c->no_help);
}

static json_t *kernel(const struct session_kernel *k)
{
	return json_pack("{s:s, s:s, s:i, s:I, s:I}", "state", k->on ? "on" : "off", "reason", k->why, "numa_balancing", k->balances, "readings",
	                 (json_int_t)k->reads, "moved_by_others", (json_int_t)k->moves);
}

static json_t *bandwidth(const struct session_bandwidth *b)
{
	json_t *parts = json_array();
	for (unsigned i = 0; i < b->n; i++) {
		const struct uncore_meter *m = &b->meter[i];
		bool apart = !(m->bytes[UNCORE_EITHER] > 0);
		char nodes[NODES_BYTES];
		session_bandwidth_nodes(b->part[i].nodes_os, nodes, sizeof nodes);
		json_array_append_new(parts, json_pack("{s:s, s:I, s:o, s:o, s:f}", "nodes", nodes, "bytes", (json_int_t)uncore_meter_bytes(m), "read_mbs",
		                                       apart ? json_real((double)uncore_meter_mbs(m, UNCORE_READ)) : json_null(), "written_mbs",
		                                       apart ? json_real((double)uncore_meter_mbs(m, UNCORE_WRITTEN)) : json_null(), "most_mbs", (double)m->most_mbs));
	}
	return json_pack("{s:s, s:s, s:s?, s:I, s:o}", "state", b->on ? "on" : "off", "reason", b->why, "counted_by", b->counted_by, "readings",
	                 (json_int_t)b->readings, "memory", parts);
}

static json_t *regions(const struct session *s)
{
	struct session_region region[SESSION_REGIONS];
	unsigned n = session_regions(s, region);
	json_t *a = json_array();
	for (unsigned i = 0; i < n; i++)
		json_array_append_new(a, json_pack("{s:I, s:I, s:i, s:f, s:f, s:i, s:o}", "address", (json_int_t)(region[i].key & ~(uintptr_t)1), "visits",
		                                   (json_int_t)region[i].visits, "threads", (int)region[i].threads, "work_ms",
		                                   (double)region[i].work_ns / 1e6, "slowest_ms", (double)region[i].slowest_ns / 1e6,
		                                   "waits_permille", (int)region[i].waits_permille, "loops_returned_permille",
		                                   share_or_null(region[i].returned_permille)));
	return a;
}

static json_t *move(const struct history_move *h)
{
	const struct move *m = &h->move;
	json_t *o = json_pack("{s:f, s:s, s:o, s:o, s:I, s:I, s:i, s:s}", "time_s", (double)h->time_ns / 1e9, "what",
	                      m->kind == MOVE_THREAD ? "thread" : "pages", "from", node_or_null(m->from), "to", node_or_null(m->to),
	                      "gain_ns", (json_int_t)h->gain_ns, "cost_ns", (json_int_t)m->cost_ns, "failed", (int)h->failed, "reason", m->reason);
	if (!o) return NULL;
	if (m->kind == MOVE_THREAD) {
		json_object_set_new(o, "tid", json_integer(m->thread));
	} else {
		json_object_set_new(o, "address", json_integer((json_int_t)(m->page << EVIDENCE_PAGE_SHIFT)));
		json_object_set_new(o, "pages", json_integer(h->moved));
		if (h->name[0]) json_object_set_new(o, "name", json_string(h->name));
	}
	return o;
}

static void add_session(json_t *root, const struct report *r)
{
	const struct session *s = r->session;
	const struct session_totals *t = &s->totals;
	json_t *moves = json_array();
	for (unsigned i = 0; i < s->history.n_moves; i++) json_array_append_new(moves, move(&s->history.move[i]));
	json_object_set_new(root, "sources", sources(s));
	json_object_set_new(root, "counters", counters(&s->counters));
	json_object_set_new(root, "kernel_faults", kernel(&s->kernel));
	json_object_set_new(root, "bandwidth", bandwidth(&s->bandwidth));
	json_object_set_new(root, "regions", regions(s));
	json_object_set_new(root, "touches", json_integer((json_int_t)t->touches));
	json_object_set_new(root, "steps", json_integer((json_int_t)t->steps));
	json_object_set_new(root, "period_us", json_integer((json_int_t)(s->period_ns / 1000)));
	json_object_set_new(root, "samples", json_integer((json_int_t)t->samples));
	json_object_set_new(root, "local_permille_first", share_or_null(history_local_first(&s->history)));
	json_object_set_new(root, "local_permille_last", share_or_null(history_local_last(&s->history)));
	json_object_set_new(root, "threads_bound", json_integer(t->bound));
	json_object_set_new(root, "threads_fixed", json_integer(t->fixed));
	json_object_set_new(root, "bindings", json_integer((json_int_t)t->bindings));
	json_object_set_new(root, "thread_moves", json_integer((json_int_t)t->thread_moves));
	json_object_set_new(root, "moved_bytes", json_integer((json_int_t)(t->moved_pages << EVIDENCE_PAGE_SHIFT)));
	json_object_set_new(root, "failed_moves", json_integer((json_int_t)t->failed_moves));
	json_object_set_new(root, "pages_refused", json_boolean(s->pages_refused));
	json_object_set_new(root, "reverts", json_integer((json_int_t)t->reverts));
	json_object_set_new(root, "overhead_permille", json_integer((json_int_t)r->overhead_permille));
	json_object_set_new(root, "held_back", json_pack("{s:i, s:i, s:i, s:i}", "cost", (int)t->held.cost, "cooldown", (int)t->held.cooldown,
	                                                 "reversal", (int)t->held.reversal, "budget", (int)t->held.budget));
	json_object_set_new(root, "page_move_ns", json_integer((json_int_t)s->page_move_ns));
	json_object_set_new(root, "moves", moves);
	json_object_set_new(root, "moves_not_kept", json_integer((json_int_t)s->history.moves_not_kept));
}

enum { AT_A_TIME = 64 };   /* peers, or calls, asked for in one go */

static json_t *calls_made(struct exchange *exchange)
{
	nsched_call_count_t count[AT_A_TIME];
	json_t *o = json_object();
	size_t n = AT_A_TIME;
	for (uint32_t from = 0; n == AT_A_TIME; from += AT_A_TIME) {
		n = exchange_calls(exchange, from, count, AT_A_TIME);
		for (size_t i = 0; i < n; i++)
			if (count[i].calls) json_object_set_new(o, count[i].name, json_integer((json_int_t)count[i].calls));
	}
	return o;
}

static json_t *sent(struct exchange *exchange)
{
	nsched_exchange_t peer[AT_A_TIME];
	json_t *a = json_array();
	size_t n = AT_A_TIME;
	for (int32_t from = -1; n == AT_A_TIME; from = peer[n - 1].rank + 1) {
		n = exchange_sent(exchange, from, peer, AT_A_TIME);
		for (size_t i = 0; i < n; i++)
			json_array_append_new(a, json_pack("{s:i, s:I, s:I}", "rank", (int)peer[i].rank, "bytes", (json_int_t)peer[i].bytes,
			                                   "messages", (json_int_t)peer[i].messages));
		if (!n) break;
	}
	return a;
}

static void add_record(json_t *root, const struct report *r)
{
	if (!r->recorder || !r->config->record[0]) return;
	json_object_set_new(root, "record", json_pack("{s:s, s:I, s:I, s:s}", "file", r->config->record, "bytes", (json_int_t)recorder_bytes(r->recorder),
	                                              "own_cpu_us", (json_int_t)(r->recorder->own_cpu_ns / 1000),
	                                              "ended_early", r->recorder->why));
}

static void add_neighbours(json_t *root, const struct neighbours *n)
{
	if (!n || !n->joined) return;
	json_object_set_new(root, "together", json_pack("{s:I, s:I, s:I, s:I, s:I}", "plans_made", (json_int_t)n->totals.made, "plans_followed",
	                                                (json_int_t)n->totals.followed, "taken_over", (json_int_t)n->totals.taken_over, "refused", (json_int_t)n->totals.refused,
	                                                "segment_pages_moved", (json_int_t)n->totals.followed_pages));
}

/* The rank, as MPI tells it, or at least its launcher; and what it has sent: `nsched report` makes one matrix of it. */
static void add_exchange(json_t *root, struct exchange *exchange, const struct neighbours *n)
{
	struct exchange_about about;
	if (!exchange_about(exchange, &about)) {
		if (!n || !n->joined || n->head.rank < 0) return;
		json_object_set_new(root, "rank", json_integer(n->head.rank));
		json_object_set_new(root, "ranks", json_integer(n->head.ranks));
		return;
	}
	json_object_set_new(root, "rank", about.rank < 0 ? json_null() : json_integer(about.rank));
	json_object_set_new(root, "ranks", json_integer(about.ranks));
	json_object_set_new(root, "exchange", json_pack("{s:s, s:I, s:o, s:o}", "library", about.library, "start_ns",
	                                                (json_int_t)about.start_ns, "calls", calls_made(exchange), "sent", sent(exchange)));
}

int report_json(const struct report *r, FILE *out)
{
	char version[32];
	snprintf(version, sizeof version, "%d.%d.%d", NSCHED_VERSION_MAJOR, NSCHED_VERSION_MINOR, NSCHED_VERSION_PATCH);
	json_t *root = json_pack("{s:s, s:s, s:s, s:f, s:i, s:i, s:i, s:i}", "version", version, "state", r->session ? "active" : "idle",
	                         "reason", r->session ? "" : r->idle_reason, "run_s", r->run_s, "nodes",
	                         r->session ? (int)r->session->machine.n_nodes : 1, "cpus", r->session ? (int)r->session->machine.n_cpus : 0,
	                         "threads", (int)r->threads, "threads_refused", (int)r->refused);
	if (!root) return -ENOMEM;
	char host[HOST_BYTES] = "";
	if (!gethostname(host, sizeof host - 1)) json_object_set_new(root, "host", json_string(host));
	json_object_set_new(root, "pid", json_integer(getpid()));
	json_object_set_new(root, "machine_cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	add_neighbours(root, r->neighbours);
	add_record(root, r);
	json_object_set_new(root, "options", options(r->config));
	if (r->session) add_session(root, r);
	if (r->exchange) add_exchange(root, r->exchange, r->neighbours);
	int ret = json_dumpf(root, out, JSON_INDENT(1)) ? -EIO : 0;
	if (!ret) fputc('\n', out);
	json_decref(root);
	return ret;
}
