/* Memory that more threads use than the evidence keeps for each chunk (EVIDENCE_USERS). Who is kept then changes from look to
 * look, by chance: to each one of these threads it would seem to be near the memory that it was just seen to use, and their
 * part of what is asked of a node that nobody is kept for would be nobody's. So where users can't be told apart, they share alike. */
#ifndef NSCHED_POOL_H
#define NSCHED_POOL_H

#include "pure/situation.h"

/* What is `unknown` of crowded chunks is given to all threads that were seen to share what lies beside, and they are crowded no more; and users of which each has a small part
 * only get the mean of theirs. 0 or -ENOMEM; then the situation is of no use. */
int pool_users(struct situation *situation);

#endif
