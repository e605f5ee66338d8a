/* A session on a made-up machine: fake clock, hands and source; threads on their nodes, each with a slice of
 * memory. */
#ifndef TESTS_UNIT_SCENE_H
#define TESTS_UNIT_SCENE_H

#include "../stubs/fake_hands.h"
#include "../stubs/fake_source.h"
#include "recorder.h"
#include "session.h"

enum {
	SCENE_TID = 1000,                    /* of thread 0; the others follow */
	SCENE_STEP_MS = 100,
};

#define SCENE_PAGE 0x7f1234400ull        /* a multiple of 1024 */
#define SCENE_ADDR (SCENE_PAGE << 12)

struct scene {
	struct nsched_config config;
	struct fake_clock clock;
	struct fake_hands hands;
	struct registry registry;
	struct ranges ranges;
	struct session session;
	const struct source_ops *const *sources; /* NULL: fake_source_ops */
	const struct counter_ops *counters;  /* NULL: none */
	const struct eyes_ops *eyes;         /* NULL: none */
	void *eyes_state;
	const struct bandwidth_ops *bandwidth; /* NULL: none */
	const char *record;                  /* NULL, or the file that it is recorded in */
	bool unrecorded;                     /* what the test writes into the session, a record would not know */
	struct recorder recorder;
	unsigned nodes, cpus, threads, slice; /* slice: pages of each thread */
};

/* `threads` threads, evenly over the nodes, each with a slice of `slice` pages, all on the first node; nobody
 * touches anything yet. `config` may be changed before scene_begin. The scene is one static thing. Where the variable SCENE_RECORDS
 * names a folder, each scene of a test is recorded into a file there. */
struct scene *scene_made(unsigned nodes, unsigned cpus, unsigned threads, unsigned slice);

/* What session_init says. */
int scene_begin(struct scene *scene, bool with_source);

/* Each thread touches its own slice; or says so. */
void scene_feed(struct scene *scene);
void scene_hint(struct scene *scene, uint64_t bytes_per_s);

/* Time passes, and the session steps; the sum of what the steps return, or the first error. */
int scene_steps(struct scene *scene, unsigned steps);

/* Where the thread runs, by its mask: its node, or the one that it was put on at first. */
int scene_node(const struct scene *scene, unsigned thread);

/* Pages of the thread's slice that are on its node. */
unsigned scene_local(const struct scene *scene, unsigned thread);
unsigned scene_all_local(const struct scene *scene);

void scene_end(struct scene *scene);

#endif
