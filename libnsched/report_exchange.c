#include <stdlib.h>

#include "report.h"

enum {
	PEERS_SHOWN = 12,   /* lines of ranks that something was sent to, the largest; JSON has them all */
	AT_A_TIME = 64,
	CALLS_A_LINE = 6,
};

static int larger_first(const void *a, const void *b)
{
	const nsched_exchange_t *x = a, *y = b;
	return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Puts the next peers in with the largest seen so far: there may be more ranks than one wants to keep. */
static size_t keep_largest(nsched_exchange_t *kept, size_t n_kept, size_t n)
{
	qsort(kept, n_kept + n, sizeof *kept, larger_first);
	return n_kept + n < PEERS_SHOWN ? n_kept + n : PEERS_SHOWN;
}

static void print_sent(struct exchange *exchange, FILE *out)
{
	nsched_exchange_t peer[PEERS_SHOWN + AT_A_TIME];
	size_t kept = 0, n = AT_A_TIME;
	unsigned long long peers = 0, bytes = 0, messages = 0;
	for (int32_t from = -1; n == AT_A_TIME;) {
		n = exchange_sent(exchange, from, peer + kept, AT_A_TIME);
		for (size_t i = 0; i < n; i++) {
			bytes += peer[kept + i].bytes;
			messages += peer[kept + i].messages;
		}
		if (n) from = peer[kept + n - 1].rank + 1;
		peers += n;
		kept = keep_largest(peer, kept, n);
	}
	fprintf(out, "  sent: %.1f MiB in %llu messages to %llu ranks\n", (double)bytes / (1024 * 1024), messages, peers);
	for (size_t i = 0; i < kept; i++) {
		if (peer[i].rank < 0) fprintf(out, "    outside of the job");
		else fprintf(out, "    rank %d", peer[i].rank);
		fprintf(out, ": %.3f MiB in %llu messages\n", (double)peer[i].bytes / (1024 * 1024), (unsigned long long)peer[i].messages);
	}
}

static void print_calls(struct exchange *exchange, FILE *out)
{
	nsched_call_count_t count[AT_A_TIME];
	size_t n = AT_A_TIME;
	unsigned shown = 0;
	for (uint32_t from = 0; n == AT_A_TIME; from += AT_A_TIME) {
		n = exchange_calls(exchange, from, count, AT_A_TIME);
		for (size_t i = 0; i < n; i++) {
			if (!count[i].calls) continue;
			fprintf(out, "%s%s %llu", shown % CALLS_A_LINE ? ", " : shown ? ",\n         " : "  calls: ", count[i].name, (unsigned long long)count[i].calls);
			shown++;
		}
	}
	if (shown) fprintf(out, "\n");
}

void report_exchange(struct exchange *exchange, FILE *out)
{
	struct exchange_about about;
	if (!exchange_about(exchange, &about)) return;
	fprintf(out, "\nmessages, by %s\n", about.library[0] ? about.library : "an unnamed library");
	if (about.rank >= 0) fprintf(out, "  rank %d of %d", about.rank, about.ranks);
	else fprintf(out, "  rank not known");
	fprintf(out, "; start took %.3f ms\n", (double)about.start_ns / 1e6);
	print_sent(exchange, out);
	print_calls(exchange, out);
}
