/* A trial: what was moved is judged by the time of the program's regions, before and after. What helped is kept; what made them slower is to be
 * taken back, and not done again for a while.
 *
 * A look gives for each region that was gone through a time of a visit; the last ones are kept. A move begins a trial: those seen until then are
 * what is compared with. Moves that follow join it. Once none has come for a while (pages that follow, cold caches) as many looks again are taken,
 * and both are compared by their ranks (after Mann and Whitney): one slow visit, or a few, say nothing, however slow they are; a
 * shift of most does. Where there were few before, all after have to be slower than all of them. Regions whose time was going up already tell nothing. Against what happens to the program at the same
 * time and by chance no test helps: so what was taken back is on trial, too, and if that did not help, it was innocent. */
#ifndef NSCHED_TRIAL_H
#define NSCHED_TRIAL_H

#include <stdbool.h>

#include "pure/plan.h"

enum {
	TRIAL_REGIONS = 16,
	TRIAL_BEFORE = 16,       /* looks kept of each region */
	TRIAL_BEFORE_LEAST = 3,  /* of which so many are needed: with fewer, no outcome would be beyond chance. Moves come half a second after the start,
	                            when there are no more */
	TRIAL_AFTER = 12,        /* looks that a verdict takes, */
	TRIAL_AFTER_FEW = 16,    /* and where there were as few before */
	TRIAL_BANS = 64,         /* things remembered that were taken back */
};

/* What a look tells of a region: the mean time of its visits (any unit), of the thread that took longest; how many there were. */
struct trial_seen {
	uint64_t key;            /* not 0 */
	uint64_t took;
	uint32_t visits;
};

struct trial_window {
	float took[TRIAL_BEFORE];
	unsigned n;
};

struct trial_region {
	uint64_t key;
	struct trial_window last;      /* a ring */
	struct trial_window before, after;
	unsigned next;                 /* in the ring */
	double all;                    /* time spent in it since the program began, decaying: visits x time */
};

/* A thread or pages that were taken back from a node. */
struct trial_ban {
	enum move_kind kind;
	uint32_t thread;
	uint64_t page, end;
	int16_t node;
	uint64_t made_ns, until_ns;    /* until_ns 0: free */
	unsigned times;
};

enum trial_verdict {
	TRIAL_OPEN,
	TRIAL_UNKNOWN,                 /* nothing to judge by */
	TRIAL_KEPT,                    /* faster, or no slower than is worth a move */
	TRIAL_WORSE,
};

/* All zero at the start. */
struct trial {
	struct trial_region region[TRIAL_REGIONS];
	unsigned n;
	uint64_t moved_ns;             /* the last move; 0: no trial */
	uint64_t pages;                /* moved in it */
	bool back;                     /* of what was taken back... */
	uint64_t back_ns;              /* ...then */
	struct plan undo;              /* what would take the moves back, in the order in which they were made; those of pages that came from
	                                  several nodes are left out */
	struct trial_ban ban[TRIAL_BANS];
};

/* A look at a region. */
void trial_see(struct trial *trial, const struct trial_seen *seen);

/* Something has moved: `pages` of the move's, if it is of pages. A trial begins, or goes on. `back`: it is taken back. 0 or -ENOMEM. */
int trial_moved(struct trial *trial, const struct move *move, uint32_t pages, bool back, uint64_t now_ns);

/* Could a move be judged that is made now? Not before the regions that most of the time is spent in were seen often enough; true where there are none. */
bool trial_can_judge(const struct trial *trial);

/* What was moved is not all yet: what is seen meanwhile is of neither side. */
void trial_goes_on(struct trial *trial, uint64_t now_ns);

/* The verdict, told once. `slower`: by which part regions got slower, all together; below 0: faster. */
enum trial_verdict trial_judge(struct trial *trial, uint64_t now_ns, float *slower);

/* The trial ends: its moves, the other way and order, threads first, are added to the plan with this reason, and each is banned from where it went.
 * 0 or -ENOMEM. */
int trial_take_back(struct trial *trial, struct plan *plan, const char *why, uint64_t now_ns);

/* Takes moves out of the plan that were taken back not long ago: how many. */
unsigned trial_filter(const struct trial *trial, struct plan *plan, uint64_t now_ns);

/* The thread is gone, its number may be used anew. */
void trial_forget_thread(struct trial *trial, uint32_t thread);
void trial_free(struct trial *trial);

#endif
