/* The gate: lets the moves of a plan through that pay back, within what may be moved in this step. */
#ifndef NSCHED_GATE_H
#define NSCHED_GATE_H

#include "pure/plan.h"
#include "pure/situation.h"

struct gate_limits {
	uint64_t budget_pages;  /* most that may be moved in this step */
	uint32_t cooldown_ms;   /* rest of a thread or chunk after a move */
};

/* How many moves were held back, by cause. */
struct gate_held {
	unsigned cost, cooldown, reversal, budget;
};

/* Takes out of `plan` what may not go now. A move of pages that is larger than what is left of the
 * budget is cut: so many of its range that have not gone yet; the rest comes with a later plan. Moves keep their order. */
void gate_filter(struct plan *plan, const struct situation *situation, const struct gate_limits *limits, struct gate_held *held);

#endif
