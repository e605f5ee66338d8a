/* What every plan of every policy has to obey, whatever it is good for. */
#ifndef TESTS_UNIT_OBEYS_H
#define TESTS_UNIT_OBEYS_H

#include "pure/plan.h"
#include "pure/policy.h"
#include "pure/situation.h"

/* NULL, or what the plan does that it may not: moves what is fixed, not there, or not allowed by the rules,
 * or twice; puts more threads on a node than its part while another has room; puts memory where there is
 * none; costs more, by the policy's own measure, than what is. */
const char *plan_obeys(const struct plan *plan, const struct policy_ops *policy, const struct situation *situation,
                       const struct policy_rules *rules);

/* Changes the situation to what it is when the plan has been carried out. */
void plan_carry_out(const struct plan *plan, struct situation *situation);

/* Does a node have more threads than CPUs, one of which may be moved, while another has a CPU free? */
bool plan_lacks(const struct situation *situation);

/* What the placement costs (ns each second) after the plan, and before. */
double plan_cost_after(const struct plan *plan, const struct situation *situation);
double plan_cost_before(const struct situation *situation);

#endif
