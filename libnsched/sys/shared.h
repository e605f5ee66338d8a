/* Memory of message libraries that several processes map. The kernel moves a page for an ordinary user only if one process at
 * the most maps it. But a mapping that is shared can be let go of: its file keeps what is in it, and the next access maps it
 * again. While the others have let go, one can move it. */
#ifndef NSCHED_SHARED_H
#define NSCHED_SHARED_H

#include <stdbool.h>
#include <stdint.h>

struct shared_file { uint64_t dev, ino; };

struct shared_mapping {
	uint64_t start, end;       /* addresses */
	struct shared_file file;
};

/* This process's mappings of segments of message libraries that are known; their number, `most` at the most. */
unsigned shared_list(struct shared_mapping *list, unsigned most);

/* Lets go of one; false: it is not there any more. The caller sees to it that the message library does not unmap it meanwhile. */
bool shared_let_go(const struct shared_mapping *mapping);

#endif
