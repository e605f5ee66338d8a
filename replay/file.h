/* A record's file as the bytes that were packed in it. */
#ifndef NSCHED_REPLAY_FILE_H
#define NSCHED_REPLAY_FILE_H

#include <stdio.h>

#include "pure/tape.h"

struct replay_file;

/* Reads from `in`, which stays the caller's, through `reader`. 0; or -EINVAL (no record, or of another version), -ENOSYS (this build has no
 * zstd), -ENOMEM, with the reason in reader->error. Where the file is damaged or cut off, reading says so when it comes
 * there, and where that is. */
int replay_file_open(FILE *in, struct tape_reader *reader, struct replay_file **file);
void replay_file_close(struct replay_file *file);

#endif
