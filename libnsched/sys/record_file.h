/* The file of a record: bytes that are packed by zstd and written as they come. zstd is loaded when a record is wanted, since a
 * program that wants none need not have it. Belongs to one thread at a time. */
#ifndef NSCHED_RECORD_FILE_H
#define NSCHED_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_FILE_WHY = 160 };

struct record_file;

/* Begins a record in `path`. What is there already is overwritten only if it is such a record (or empty), or with `over`. 0, or a negated errno
 * and the reason: -EEXIST it is something else, -EBUSY another process
 * records there, -ENOSYS there is no zstd. */
int record_file_open(const char *path, bool over, struct record_file **file, char why[RECORD_FILE_WHY]);

/* Takes the bytes. 0 or -errno: then the file ends somewhere, and nothing more is to be written. */
int record_file_write(struct record_file *file, const void *data, size_t bytes);

/* What was taken is in the file when this returns: a program that is killed leaves that much. */
int record_file_flush(struct record_file *file);

/* Bytes of the file so far. */
uint64_t record_file_bytes(const struct record_file *file);

/* Ends what is packed, in order. */
int record_file_end(struct record_file *file);

/* Lets go of it as it is, and frees. */
void record_file_close(struct record_file *file);

#endif
