#include "exchange.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int exchange_set(struct exchange *exchange, const nsched_exchange_source_t *source)
{
	int ret = 0;
	pthread_mutex_lock(&exchange->lock);
	if (!source) {
		memset(&exchange->source, 0, sizeof exchange->source);
	} else if (exchange->source.sent) {
		ret = -EEXIST;
	} else {
		exchange->source = *source;
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
