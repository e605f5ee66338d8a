#include "mpi_record.h"

#include <stdlib.h>

#include "mpi_matrix.h"

enum { RECORD_AT_FIRST = 4 };

struct record {
	size_t n, room;
	struct line {
		int32_t rank;
		uint64_t bytes, messages;
	} *line;
};

static void release(void *value)
{
	struct record *record = value;

	free(record->line);
	free(record);
}

struct handles records = { .release = release };
__thread struct record *record_open;

/* Where there is no memory for a record: its lines are lost, rather than counted at the wrong time. */
static struct record lost;

void record_begin(void)
{
	record_open = calloc(1, sizeof(*record_open));
	if (record_open == NULL)
		record_open = &lost;
}

void record_write(int32_t rank, uint64_t bytes, uint64_t messages)
{
	struct record *record = record_open;

	if (record == &lost)
		return;
	if (record->n == record->room) {
		size_t room = record->room == 0 ? RECORD_AT_FIRST : 2 * record->room;
		struct line *line = realloc(record->line, room * sizeof(*line));

		if (line == NULL)
			return;
		record->line = line;
		record->room = room;
	}
	record->line[record->n++] = (struct line){ rank, bytes, messages };
}

void record_end(MPI_Request request)
{
	struct record *record = record_open;

	record_open = NULL;
	if (record == &lost)
		return;
	if (record->n > 0)
		handles_add(&records, (uintptr_t)request, record);
	else
		release(record);
}

void record_start(MPI_Request request)
{
	const struct record *record = handles_find(&records, (uintptr_t)request);

	for (size_t i = 0; record != NULL && i < record->n; i++)
		matrix_add(record->line[i].rank, record->line[i].bytes, record->line[i].messages);
}
