/* A source that sees what it is told: threads that touch ranges at random. */
#ifndef TESTS_STUBS_FAKE_SOURCE_H
#define TESTS_STUBS_FAKE_SOURCE_H

#include <stdbool.h>

#include "fake_clock.h"
#include "sys/source.h"

enum { FAKE_SOURCE_FEEDS = 1024, FAKE_SOURCE_THREADS = 4096, FAKE_SOURCE_SAMPLE_NS = 1000 };

struct fake_source {
	struct fake_clock *clock;       /* samples come by it: one for each period of each thread that is fed */
	int start_error;                /* start returns it, with the reason */
	const char *why;
	unsigned dies_at;               /* this poll, counted from 1, and all behind it return dies_of; 0: none */
	int dies_of;

	struct { unsigned thread; uint64_t addr, bytes; } feed[FAKE_SOURCE_FEEDS];
	unsigned n_feeds;
	uint64_t dice, first_ns;        /* period between two samples at first... */
	uint64_t last_ns[FAKE_SOURCE_THREADS], period_ns[FAKE_SOURCE_THREADS]; /* ...and of each thread */
	float busy[FAKE_SOURCE_THREADS]; /* of its time; 0: all of it */
	uint64_t decode_ns[FAKE_SOURCE_THREADS]; /* what each of its samples takes besides, since its code is new */
	uint64_t access_ns;             /* what taking in one takes of the clock's own CPU time */
	bool nothing;                   /* its samples give no address, as in a library's waiting loop */
	bool faults;                    /* what it sees are the kernel's hinting faults, not samples */
	unsigned flood;                 /* so many are lost in each poll, whatever the period */
	uint64_t lost, decoded_ns;

	bool watched[FAKE_SOURCE_THREADS];
	unsigned starts, stops, polls, adds, removes;
	uint64_t samples;
};

extern struct fake_source fake_source;
extern const struct source_ops fake_source_ops;

/* From now on thread (by number) touches the range, and nothing else. */
void fake_source_feed(unsigned thread, uint64_t addr, uint64_t bytes);

#endif
