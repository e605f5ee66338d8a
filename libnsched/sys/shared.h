/* The memory through which a message library hands messages from rank to rank: segments, one made by each rank and mapped by all
 * ranks of the machine. The kernel moves a page for an ordinary user only if no second process has it mapped. But
 * who has mapped a shared file can let go of it: the file keeps what is in it, and the next access maps it again. While the others
 * have let go, whoever made the segment can move its pages. */
#ifndef NSCHED_SHARED_H
#define NSCHED_SHARED_H

#include <stdbool.h>
#include <stdint.h>

/* A mapping of this process. */
struct shared_segment {
	uint64_t start, end;       /* addresses */
	uint64_t dev, ino;         /* its file */
	uint64_t offset;           /* in the file, bytes */
	int32_t maker;             /* rank on this machine of who made it */
};

/* Takes a line of /proc/PID/maps. False: it is no segment of a library that is known. */
bool shared_parse(const char *line, struct shared_segment *segment);

/* This process's mappings of segments; their number, `most` at the most. */
unsigned shared_list(struct shared_segment *list, unsigned most);

/* While `on`, an access to one of these pages maps this page alone. Else the kernel maps those around it, too: they would be there again as
 * soon as a rank looks into one of them, which it does all the time while it waits for messages. */
void shared_part(const struct shared_segment *segment, uint64_t offset, uint64_t bytes, bool on);

/* Lets go of `bytes` bytes from `offset` of the file on, as far as the mapping has them. Its caller makes sure that the mapping is
 * still there: what is in other memory would be lost. False: the kernel refused. */
bool shared_let_go(const struct shared_segment *segment, uint64_t offset, uint64_t bytes);

#endif
