/* A small process goes to a node with all that it has. */
#ifndef NSCHED_MIGRATE_H
#define NSCHED_MIGRATE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of private memory that this process uses; 0: not known. */
uint64_t migrate_private_bytes(void);

/* Whether all memory of this process may lie anywhere: the program has given none of it a policy. */
bool migrate_may(void);

/* Moves the pages of this process alone from the `n` nodes `from_os` to the node `to_os` (which may be among them). Those that did not go are
 * counted; -errno: the call was refused. */
long migrate_all(const unsigned *from_os, unsigned n, unsigned to_os);

#endif
