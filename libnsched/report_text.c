#include <errno.h>

#include "report.h"

enum { MOVES_SHOWN = 40, REGIONS_SHOWN = 5, NODES_BYTES = 64 };   /* lines of moves and regions; JSON has them all */

static void print_share(FILE *out, const char *when, unsigned permille)
{
	if (permille > 1000) fprintf(out, "  local traffic, %s  not seen\n", when);
	else fprintf(out, "  local traffic, %s  %u.%u %%\n", when, permille / 10, permille % 10);
}

static void print_counters(FILE *out, const struct session_counters *c)
{
	if (c->why[0] || !c->on) fprintf(out, "  %-14s off: %s", "counters", c->why);
	else fprintf(out, "  %-14s on", "counters");
	if (c->about.events[0]) fprintf(out, "; %s", c->about.events);
	if (c->remote_permille_first <= 1000)
		fprintf(out, "; remote %u.%u %% at first, %u.%u %% at last", c->remote_permille_first / 10, c->remote_permille_first % 10,
		        c->remote_permille_now / 10, c->remote_permille_now % 10);
	if (c->helped || c->no_help)
		fprintf(out, "; of the moves, %llu helped a thread, %llu did not", (unsigned long long)c->helped, (unsigned long long)c->no_help);
	fprintf(out, "\n");
}

static void print_kernel(FILE *out, const struct session_kernel *k)
{
	fprintf(out, "  %-14s %s%s; %llu readings", "kernel-faults", k->on ? "on" : "off: ", k->why, (unsigned long long)k->reads);
	if (k->balances)
		fprintf(out, "; the kernel balances too (kernel.numa_balancing=%d): %llu pieces of memory moved without us and were left to rest",
		        k->balances, (unsigned long long)k->moves);
	fprintf(out, "\n");
}

static void print_bandwidth(FILE *out, const struct session_bandwidth *b)
{
	fprintf(out, "  %-14s %s%s", "bandwidth", b->on ? "on" : "off: ", b->why);
	if (b->counted_by) fprintf(out, "; by the machine's counters (%s), of all programs together", b->counted_by);
	fprintf(out, "\n");
	for (unsigned i = 0; i < b->n; i++) {
		const struct uncore_meter *m = &b->meter[i];
		char nodes[NODES_BYTES];
		session_bandwidth_nodes(b->part[i].nodes_os, nodes, sizeof nodes);
		fprintf(out, "  %-14s memory of node %s: ", "", nodes);
		if (m->bytes[UNCORE_EITHER] > 0) fprintf(out, "%.1f GB/s", (double)uncore_meter_mbs(m, UNCORE_EITHER) / 1e3);
		else fprintf(out, "%.1f GB/s read, %.1f GB/s written", (double)uncore_meter_mbs(m, UNCORE_READ) / 1e3, (double)uncore_meter_mbs(m, UNCORE_WRITTEN) / 1e3);
		fprintf(out, "; at most %.1f GB/s\n", (double)m->most_mbs / 1e3);
	}
}

static void print_sources(FILE *out, const struct session *s)
{
	fprintf(out, "\nevidence\n");
	for (unsigned i = 0; i < s->n_sources; i++) {
		const struct session_source *src = &s->source[i];
		fprintf(out, "  %-14s %s%s%s; %llu samples, %llu gave an address, %llu lost", src->ops->name, src->on ? "on" : "off",
		        src->why[0] ? ": " : "", src->why, (unsigned long long)src->counts.samples,
		        (unsigned long long)src->counts.resolved, (unsigned long long)src->counts.lost);
		if (src->refused) fprintf(out, "; %llu threads could not be watched", (unsigned long long)src->refused);
		fprintf(out, "\n");
	}
	print_counters(out, &s->counters);
	print_kernel(out, &s->kernel);
	print_bandwidth(out, &s->bandwidth);
	if (!s->n_sources) fprintf(out, "  no source; hints only\n");
}

/* Addresses are of the running program: addr2line, or a debugger, makes lines of them. */
static void print_regions(FILE *out, const struct session *s)
{
	struct session_region region[SESSION_REGIONS];
	unsigned n = session_regions(s, region);
	if (n) fprintf(out, "\nregions\n");
	for (unsigned i = 0; i < n && i < REGIONS_SHOWN; i++) {
		const struct session_region *r = &region[i];
		fprintf(out, "  %#14llx  %llu visits, %u threads, %.3f ms of work, %.1f %% waiting for the slowest", (unsigned long long)(r->key & ~(uintptr_t)1),
		        (unsigned long long)r->visits, r->threads, (double)r->work_ns / 1e6, r->waits_permille / 10.0);
		if (r->returned_permille <= 1000) fprintf(out, "; %.1f %% of loops came back to their thread", r->returned_permille / 10.0);
		fprintf(out, "\n");
	}
}

static void print_move(FILE *out, const struct history_move *h)
{
	const struct move *m = &h->move;
	fprintf(out, "  %8.3f s  ", (double)h->time_ns / 1e9);
	if (m->kind == MOVE_THREAD) fprintf(out, "thread %u", m->thread);
	else fprintf(out, "%u pages at %#llx%s%s", h->moved, (unsigned long long)m->page << EVIDENCE_PAGE_SHIFT, h->name[0] ? " of " : "", h->name);
	if (m->from >= 0) fprintf(out, ", node %d -> %d", m->from, m->to);
	else fprintf(out, ", to node %d", m->to);
	fprintf(out, ": %s; gain %.3f ms, cost %.3f ms", m->reason, (double)h->gain_ns / 1e6, (double)m->cost_ns / 1e6);
	if (h->failed) fprintf(out, "; %u did not go", h->failed);
	fprintf(out, "\n");
}

static void print_neighbours(FILE *out, const struct neighbours *n)
{
	if (!n || !n->joined) return;
	if (n->head.rank >= 0) fprintf(out, "  rank %d of %u\n", n->head.rank, n->head.ranks);
	fprintf(out, "  with other processes: ");
	if (!n->totals.followed && !n->totals.made) fprintf(out, "none that took part; planned by itself\n");
	else fprintf(out, "%llu looks at the plan for all, %llu of them made here\n", (unsigned long long)n->totals.followed, (unsigned long long)n->totals.made);
	if (n->totals.followed_pages) fprintf(out, "  of the memory for messages, that other ranks map too, %llu pages came along\n", (unsigned long long)n->totals.followed_pages);
}

static void print_record(FILE *out, const struct report *r)
{
	if (!r->recorder || !r->config->record[0]) return;
	fprintf(out, "  record: %.2f MiB in %s%s%s\n", (double)recorder_bytes(r->recorder) / (1024 * 1024), r->config->record,
	        r->recorder->why[0] ? "; ended early: " : "", r->recorder->why);
}

static void print_session(FILE *out, const struct report *r)
{
	const struct session *s = r->session;
	const struct session_totals *t = &s->totals;
	fprintf(out, "  nodes %u, CPUs %u, threads %u\n", s->machine.n_nodes, s->machine.n_cpus, r->threads);
	fprintf(out, "  bound: %u threads, by someone else: %u; %llu bindings in all\n", s->totals.bound, s->totals.fixed,
	        (unsigned long long)s->totals.bindings);
	if (r->refused) fprintf(out, "  threads not served for lack of room: %u\n", r->refused);
	if (s->pages_refused) fprintf(out, "  pages stay: move_pages is refused here (a container's filter?); nsched doctor says what helps\n");
	print_share(out, "first tenth", history_local_first(&s->history));
	print_share(out, "last tenth ", history_local_last(&s->history));
	fprintf(out, "  moved: %llu threads, %.1f MiB of memory; did not go: %llu; taken back: %llu\n", (unsigned long long)t->thread_moves,
	        (double)(t->moved_pages << EVIDENCE_PAGE_SHIFT) / (1024 * 1024), (unsigned long long)t->failed_moves, (unsigned long long)t->reverts);
	fprintf(out, "  held back: %u for their cost, %u for rest, %u not clear enough to go back, %u for the budget\n", t->held.cost,
	        t->held.cooldown, t->held.reversal, t->held.budget);
	fprintf(out, "  own CPU time: %u.%u %% of the process's, in %llu steps\n", r->overhead_permille / 10, r->overhead_permille % 10,
	        (unsigned long long)t->steps);
	print_neighbours(out, r->neighbours);
	print_record(out, r);
	print_sources(out, s);
	print_regions(out, s);
	fprintf(out, "\nmoves\n");
	for (unsigned i = 0; i < s->history.n_moves && i < MOVES_SHOWN; i++) print_move(out, &s->history.move[i]);
	unsigned long long more = s->history.moves_not_kept + (s->history.n_moves > MOVES_SHOWN ? s->history.n_moves - MOVES_SHOWN : 0);
	if (more) fprintf(out, "  and %llu more (a report whose name ends in .json has them)\n", more);
	if (!s->history.n_moves) fprintf(out, "  none\n");
}

int report_text(const struct report *r, FILE *out)
{
	fprintf(out, "nsched %d.%d.%d\n", NSCHED_VERSION_MAJOR, NSCHED_VERSION_MINOR, NSCHED_VERSION_PATCH);
	fprintf(out, "  ran %.3f s, %s%s\n", r->run_s, r->session ? "active" : "idle: ", r->session ? "" : r->idle_reason);
	if (r->session) print_session(out, r);
	if (r->exchange) report_exchange(r->exchange, out);
	fprintf(out, "\noptions\n");
	for (unsigned i = 0; i < OPTIONS; i++) {
		char value[CONFIG_VALUE_BYTES];
		if (config_value(r->config, (enum config_option_number)i, value, sizeof value) < 0) continue;
		fprintf(out, "  %s=%s\n", config_options[i].name, value);
	}
	return ferror(out) ? -EIO : 0;
}
