/* The messages of this process, a rank of a job, as a plugin counts them. This only asks; what is counted
 * stays the plugin's. */
#ifndef NSCHED_EXCHANGE_H
#define NSCHED_EXCHANGE_H

#include <pthread.h>
#include <stdbool.h>

#include "nsched.h"
#include "pure/slot.h"

struct exchange {
	pthread_mutex_t lock;            /* held over a change of the source and over every call into it */
	nsched_exchange_source_t source; /* .sent is NULL: there is none */
	char library[64];
};

/* The contract of nsched_exchange_source; NULL takes it away. */
int exchange_set(struct exchange *exchange, const nsched_exchange_source_t *source);

/* In the child of a fork, which is no rank. */
void exchange_forked(struct exchange *exchange);

struct exchange_about {
	char library[64];
	int32_t rank, ranks;
	uint64_t start_ns;
};

/* False: there is no source. */
bool exchange_about(struct exchange *exchange, struct exchange_about *about);

/* Is there a source that knows its rank? */
bool exchange_counted(struct exchange *exchange);

/* This rank's row, as others are told it: an empty one where there is no source. Its time is the caller's to set. */
void exchange_row(struct exchange *exchange, struct slot_row *row);

/* As the source's hold; false where there is none. */
bool exchange_hold(struct exchange *exchange, bool on);

/* As the source's functions of these names; 0 where there is none. */
size_t exchange_sent(struct exchange *exchange, int32_t from, nsched_exchange_t *peers, size_t most);
size_t exchange_calls(struct exchange *exchange, uint32_t from, nsched_call_count_t *counts, size_t most);

#endif
