#include "exchange.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { AT_A_TIME = 64 };   /* peers asked for in one go */

int exchange_set(struct exchange *exchange, const nsched_exchange_source_t *source)
{
	int ret = 0;
	pthread_mutex_lock(&exchange->lock);
	if (!source) {
		memset(&exchange->source, 0, sizeof exchange->source);
	} else if (exchange->source.sent) {
		ret = -EEXIST;
	} else {
		memset(&exchange->source, 0, sizeof exchange->source);   /* an older source has fewer functions */
		memcpy(&exchange->source, source, source->size < sizeof *source ? source->size : sizeof *source);
		snprintf(exchange->library, sizeof exchange->library, "%s", source->library ? source->library : "");
	}
	pthread_mutex_unlock(&exchange->lock);
	return ret;
}

void exchange_forked(struct exchange *exchange)
{
	pthread_mutex_init(&exchange->lock, NULL);
	memset(&exchange->source, 0, sizeof exchange->source);
}

bool exchange_about(struct exchange *exchange, struct exchange_about *about)
{
	pthread_mutex_lock(&exchange->lock);
	bool there = exchange->source.sent;
	about->rank = exchange->source.rank;
	about->ranks = exchange->source.ranks;
	about->start_ns = exchange->source.start_ns;
	memcpy(about->library, exchange->library, sizeof about->library);
	pthread_mutex_unlock(&exchange->lock);
	return there;
}

size_t exchange_sent(struct exchange *exchange, int32_t from, nsched_exchange_t *peers, size_t most)
{
	pthread_mutex_lock(&exchange->lock);
	const nsched_exchange_source_t *s = &exchange->source;
	size_t n = s->sent ? s->sent(s->context, from, peers, most) : 0;
	pthread_mutex_unlock(&exchange->lock);
	return n;
}

size_t exchange_calls(struct exchange *exchange, uint32_t from, nsched_call_count_t *counts, size_t most)
{
	pthread_mutex_lock(&exchange->lock);
	const nsched_exchange_source_t *s = &exchange->source;
	size_t n = s->calls ? s->calls(s->context, from, counts, most) : 0;
	pthread_mutex_unlock(&exchange->lock);
	return n;
}

bool exchange_hold(struct exchange *exchange, bool on)
{
	pthread_mutex_lock(&exchange->lock);
	const nsched_exchange_source_t *s = &exchange->source;
	bool held = s->sent && s->hold && s->hold(s->context, on) != 0;
	pthread_mutex_unlock(&exchange->lock);
	return held;
}

bool exchange_counted(struct exchange *exchange)
{
	struct exchange_about about;
	return exchange_about(exchange, &about) && about.rank >= 0;
}

void exchange_row(struct exchange *exchange, struct slot_row *row)
{
	struct exchange_about about;
	nsched_exchange_t peer[AT_A_TIME];
	bool counted = exchange_about(exchange, &about) && about.rank >= 0;
	size_t n = counted ? AT_A_TIME : 0;
	slot_row_begin(row, counted ? (uint32_t)about.rank : 0, counted ? (uint32_t)about.ranks : 0);
	for (int32_t from = 0; n == AT_A_TIME; from = peer[n - 1].rank + 1) {
		n = exchange_sent(exchange, from, peer, AT_A_TIME);
		for (size_t i = 0; i < n; i++) {
			struct slot_peer p = { .rank = (uint32_t)peer[i].rank, .messages = peer[i].messages, .bytes = peer[i].bytes };
			slot_row_add(row, &p);   /* a rank that is none is not taken */
		}
		if (!n) break;
	}
}
