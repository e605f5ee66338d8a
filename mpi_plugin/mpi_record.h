/* Persistent operations: what one start of them sends is written down when they are made, and charged at
 * each start. */
#ifndef NSCHED_MPI_RECORD_H
#define NSCHED_MPI_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi_family.h"
#include "mpi_handles.h"

struct record;

extern struct handles records;

/* What is charged by this thread goes into the record from now on, not into the matrix. */
void record_begin(void);

/* The record is the request's; an empty one (of a receive) is not kept. */
void record_end(MPI_Request request);

/* Set between the two. */
extern __thread struct record *record_open;
void record_write(int32_t rank, uint64_t bytes, uint64_t messages);

/* The request was started. */
void record_start(MPI_Request request);

/* Before it is freed. */
#define record_forget(request) handles_remove(&records, (uintptr_t)(request))

#endif
