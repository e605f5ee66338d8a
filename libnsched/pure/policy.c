#include "pure/policy.h"

#include <string.h>

#include "pure/pure.h"

extern const struct policy_ops policy_joint, policy_stay;

static const struct policy_ops *const policies[] = { &policy_joint, &policy_stay };

const struct policy_ops *policy_at(unsigned i)
{
	return i < sizeof policies / sizeof *policies ? policies[i] : NULL;
}

const struct policy_ops *policy_find(const char *name)
{
	for (unsigned i = 0; policy_at(i); i++)
		if (!strcmp(policies[i]->name, name)) return policies[i];
	return NULL;
}
