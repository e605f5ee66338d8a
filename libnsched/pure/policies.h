/* The array of policies, in the order in which help and errors name them: the first is the default. From it
 * come the array of policy.c and the option's choices and help. A line each: identifier, name, what decides. */
#ifndef NSCHED_POLICIES_H
#define NSCHED_POLICIES_H

#define POLICIES(POLICY) \
	POLICY(joint, "joint", "threads, pages and bandwidth together") \
	POLICY(stay, "stay", "nothing, it only watches") \
	POLICY(simple, "simple", "threads to the least loaded node") \
	POLICY(pool, "pool", "the same, and nodes wait before they steal") \
	POLICY(homenode, "homenode", "the same, and threads return to the node where they began") \
	POLICY(homenode_dynamic, "homenode-dynamic", "or to the one that holds most of their memory") \
	POLICY(concentric, "concentric", "load in circles: node often, machine rarely") \
	POLICY(balancenuma, "balancenuma", "pages to who touches them") \
	POLICY(autonuma, "autonuma", "that, and threads to their own and their process's memory") \
	POLICY(adaptive, "adaptive", "groups that share memory together, private memory apart") \
	POLICY(reconciled, "reconciled", "memory and load, neither against the other")

/* "joint|stay|...": the bar before the first is stepped over. */
#define POLICIES_CHOICE(identifier, name, what) "|" name
#define POLICIES_CHOICES (&(POLICIES(POLICIES_CHOICE))[1])

#define POLICIES_LINE(identifier, name, what) " " name ": " what ";"
#define POLICIES_HELP "what decides;" POLICIES(POLICIES_LINE) " more in the README"

#endif
