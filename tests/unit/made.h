/* Machines and situations for the unit tests, made up from a few words or at random. */
#ifndef TESTS_UNIT_MADE_H
#define TESTS_UNIT_MADE_H

#include <check.h>
#include <stddef.h>

#include "pure/plan.h"
#include "pure/situation.h"

/* The same numbers on every machine (splitmix64). */
struct dice {
	uint64_t state;
};

uint64_t dice_next(struct dice *dice);
unsigned dice_below(struct dice *dice, unsigned most);
float dice_part(struct dice *dice);              /* 0 up to, not including, 1 */

/* `nodes` nodes with `cpus` CPUs each, in cores of one CPU, with 4 GiB each and Linux's distances. */
void made_machine(struct machine *machine, unsigned nodes, unsigned cpus);

/* Up to 6 nodes, some without CPUs or memory (never all), with odd distances. */
void made_random_machine(struct machine *machine, struct dice *dice);

/* An empty situation on a machine, with usual costs, that has run 10 s. */
void made_situation(struct situation *situation, const struct machine *machine);

void made_thread(struct situation *situation, unsigned number, int node);

/* A chunk of `pages` pages behind the last one, all on `node`; then its users. */
void made_chunk(struct situation *situation, unsigned pages, int node);
void made_use(struct situation *situation, unsigned thread, float rate);

/* Threads, chunks and users at random on a machine. */
void made_random_situation(struct situation *situation, const struct machine *machine, struct dice *dice);

/* The file of the source tree's tests/, whole, with a closing zero; its length in *bytes. Ends the test
 * where there is none. */
char *made_read(const char *name, size_t *bytes);

/* Runs the tests that `add` adds to a test case of this name: the exit status. */
int made_main(const char *name, void (*add)(TCase *tcase));

/* An assertion for inner loops: Check's own write to a file each time. */
#define made_hold(condition) \
	do { \
		if (!(condition)) ck_abort_msg("does not hold: %s", #condition); \
	} while (0)

/* For tcase_add_loop_test over a table. */
#define made_loop(tcase, test, table) tcase_add_loop_test(tcase, test, 0, (int)(sizeof(table) / sizeof *(table)))

#endif
