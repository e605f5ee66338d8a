/* A stand-in for libnsched, to test the plugins against: implements the public API that they use, does
 * nothing, records the calls, answers as told, and notes every breach of the API's contract. */
#ifndef NSCHED_TEST_FAKE_NSCHED_H
#define NSCHED_TEST_FAKE_NSCHED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum fake_call {
	FAKE_OPEN,
	FAKE_START,
	FAKE_CLOSE,
	FAKE_REGISTER,
	FAKE_UNREGISTER,
	FAKE_PLACE,
	FAKE_REGION_BEGIN,
	FAKE_REGION_END,
	FAKE_LOOP_CHUNK, /* key: its start */
	FAKE_MEM_TOUCH,  /* key: the address */
	FAKE_CALLS
};

struct fake_record {
	enum fake_call call;
	pthread_t thread;
	const void *key; /* of FAKE_REGION_BEGIN */
};

/* What the calls answer. As a library of its own (not linked into a test) it takes them from the
 * environment: FAKE_WORTHWHILE, FAKE_RECORD. */
extern struct fake_answers {
	int worthwhile, config_create, config_environment, open, start, thread_register, place;
	bool record; /* also keeps count of breaches; off where a benchmark looks at the plugin alone */
} fake;

void fake_reset(void); /* answers: all is well; nothing recorded; what is open stays open */
unsigned fake_count(enum fake_call call);
const struct fake_record *fake_at(unsigned i); /* the i-th call since the reset, NULL: there are fewer */
const char *fake_breach(void); /* the first breach of the contract, NULL: none */

#endif
