/* What another policy would have done: a session of its own beside the recorded one, on the same machine, at the same
 * times, with the same accesses, touches and hints. Where pages and threads are is what the record says, less what the recorded session
 * moved, plus what this one moves. What it can't know: that a program which is placed otherwise runs otherwise, and touches new memory elsewhere. So it
 * is the estimate that compares the two. */
#ifndef NSCHED_REPLAY_WHATIF_H
#define NSCHED_REPLAY_WHATIF_H

#include "pages.h"
#include "player.h"

struct whatif {
	struct player *player;
	const char *policy;
	struct session session;
	struct registry registry;
	struct nsched_config config;
	bool begun, failed;
	struct pages pages;
	struct access *access;            /* of this step */
	unsigned n_access, room_access;
	int node[REGISTRY_THREADS];       /* that it was bound to here; -1: to none */
	struct cpu_mask mask[MACHINE_NODES]; /* CPUs of each */
	uint64_t own_ns;
	uint64_t plans;                   /* that had a move */
};

/* Makes it of a player that is open and has not stepped. 0, -ENOMEM, -EINVAL: there is no such policy. */
int whatif_open(struct whatif *whatif, struct player *player, const char *policy);

/* The player has stepped: so does this. 0 or -ENOMEM. */
int whatif_step(struct whatif *whatif);
void whatif_close(struct whatif *whatif);

/* What of the player concerns it: for the listener of the player. */
void whatif_access(struct whatif *whatif, const struct access *access);
void whatif_located(struct whatif *whatif, const uint64_t *addr, unsigned n, const int *node_os);
void whatif_moved(struct whatif *whatif, const uint64_t *addr, unsigned n, const int *status);
void whatif_touch(struct whatif *whatif, uint32_t thread, uint64_t addr);

/* ns of the threads' time in each second that go to memory in this situation, as the estimate has it. -1: without memory for it. */
double whatif_cost(const struct situation *situation);

#endif
