/* A number that differs where situations do: whether a replay sees the same as the session did. */
#ifndef NSCHED_DIGEST_H
#define NSCHED_DIGEST_H

#include "pure/situation.h"

/* Of all that policies see but the machine; to the last bit of each number. */
uint64_t digest_situation(const struct situation *situation);

#endif
