/* Is there memory left? hwloc and Capstone do not look whether they got what they asked for, and end the program where they
 * did not: where a limit of address space (ulimit -v) is nearly used up, they are not called at all. */
#ifndef NSCHED_ROOM_H
#define NSCHED_ROOM_H

#include <stdbool.h>

/* Can some 32 MiB still be had? Tries it, and gives them back untouched: two system calls. errno is kept. */
bool room_is_left(void);

#endif
