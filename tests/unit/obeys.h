/* What every plan of every policy has to obey, whatever it is good for. */
#ifndef TESTS_UNIT_OBEYS_H
#define TESTS_UNIT_OBEYS_H

#include "pure/plan.h"
#include "pure/policy.h"
#include "pure/situation.h"

/* NULL, or what the plan does that it may not: moves what is fixed, not there, or not allowed by the rules,
 * or twice; puts more threads on a node than its part while another has room; puts memory where there is
 * none; costs more, by the estimate, than what is. */
const char *plan_obeys(const struct plan *plan, const struct situation *situation, const struct policy_rules *rules);

/* What the placement costs (ns each second) after the plan, and before. */
double plan_cost_after(const struct plan *plan, const struct situation *situation);
double plan_cost_before(const struct situation *situation);

#endif
