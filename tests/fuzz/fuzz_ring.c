/* What the reader of perf's rings does with any bytes in the buffer, and any head and tail: it comes to an end, and what it
 * gives out is as long as it says. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sys/perf_ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t ends[2], bytes = 64, steps = 0;
	union perf_record record;
	if (size < sizeof ends + 64) return 0;
	memcpy(ends, data, sizeof ends);
	size -= sizeof ends;
	while (bytes * 2 <= size) bytes *= 2;
	uint8_t *buffer = malloc(bytes);
	if (!buffer) return 0;
	memcpy(buffer, data + sizeof ends, bytes);
	/* the head is what the kernel says, and so never more than a buffer's length on; the tail is ours */
	struct perf_cursor cursor = { buffer, bytes, ends[0], ends[0] + ends[1] % (bytes + 1) };
	uint64_t tail = cursor.tail, head = cursor.head;
	(void)perf_cursor_records(&cursor);
	while (perf_cursor_next(&cursor, &record)) {
		if (record.header.size < sizeof record.header || record.header.size > sizeof record || cursor.tail - tail > head - tail) abort();
		(void)perf_record_lost(&record);
		if (++steps > bytes / sizeof record.header) abort();
	}
	if (cursor.tail != head) abort();
	free(buffer);
	return 0;
}
