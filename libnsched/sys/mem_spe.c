/* Packets of Arm's Statistical Profiling Extension: a record is some packets, of 1 to 10 bytes, the last of which
 * is an end or a timestamp. */
#include <string.h>

#include "mem_sample.h"

enum {
	PAD = 0x00,
	END = 0x01,
	TIMESTAMP = 0x71,
	EXTENDED = 0x20,       /* 0x20 to 0x23: bits 4 and 3 of an index, in front of an address or a counter */
	ADDRESS_VIRTUAL = 2,   /* index of the data's address */
	COUNTER_TOTAL = 0,     /* index of the whole latency */
	OP_LOAD_STORE = 1,
	ADDRESS_BITS = 56,     /* above is a tag, which is no part of it */
};

/* Bits of an events packet. */
enum { EVENT_L1_ACCESS = 1 << 2, EVENT_L1_REFILL = 1 << 3, EVENT_LLC_ACCESS = 1 << 8, EVENT_LLC_MISS = 1 << 9, EVENT_REMOTE = 1 << 10 };

enum kind { KIND_OTHER, KIND_PAD, KIND_LAST, KIND_EVENTS, KIND_ADDRESS, KIND_COUNTER, KIND_OP, KIND_WRONG, KIND_CUT };

struct packet {
	enum kind kind;
	unsigned index;     /* of addresses and counters; the class of an operation */
	uint64_t payload;
	size_t bytes;
};

struct record {
	uint64_t addr, events, cycles;
	bool load_store, store, any;
};

static uint64_t payload_of(const uint8_t *at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

static enum kind kind_of(uint8_t header)
{
	if (header == TIMESTAMP)
		return KIND_LAST;
	if ((header & 0xf8) == 0xb0)
		return KIND_ADDRESS;
	if ((header & 0xf8) == 0x98)
		return KIND_COUNTER;
	if ((header & 0xcf) == 0x42)
		return KIND_EVENTS;
	if ((header & 0xfc) == 0x48)
		return KIND_OP;
	/* data sources are the implementation's own; contexts are not needed */
	if ((header & 0xcf) == 0x43 || (header & 0xfc) == 0x64)
		return KIND_OTHER;
	return KIND_WRONG;
}

static struct packet read_packet(const uint8_t *at, size_t left)
{
	struct packet packet = { .kind = at[0] == PAD ? KIND_PAD : KIND_LAST, .bytes = 1 };
	unsigned high = 0, headers = 1;
	uint8_t header = at[0];
	size_t payload;

	if (header == PAD || header == END)
		return packet;
	if ((header & 0xfc) == EXTENDED) {
		if (left < 2)
			return (struct packet){ .kind = KIND_CUT, .bytes = left };
		high = (header & 3u) << 3;
		header = at[1];
		headers = 2;
	}
	packet.kind = kind_of(header);
	if (headers == 2 && packet.kind != KIND_ADDRESS && packet.kind != KIND_COUNTER)
		packet.kind = KIND_WRONG;
	if (packet.kind == KIND_WRONG)
		return packet;
	payload = (size_t)1 << (header >> 4 & 3);
	packet.bytes = headers + payload;
	if (packet.bytes > left)
		return (struct packet){ .kind = KIND_CUT, .bytes = left };
	packet.index = packet.kind == KIND_OP ? header & 3u : high | (header & 7u);
	packet.payload = payload_of(at + headers, payload);
	return packet;
}

static void take(struct record *record, const struct packet *packet)
{
	record->any = true;
	if (packet->kind == KIND_EVENTS)
		record->events = packet->payload;
	if (packet->kind == KIND_ADDRESS && packet->index == ADDRESS_VIRTUAL)
		record->addr = packet->payload & ((UINT64_C(1) << ADDRESS_BITS) - 1);
	if (packet->kind == KIND_COUNTER && packet->index == COUNTER_TOTAL)
		record->cycles = packet->payload;
	if (packet->kind == KIND_OP) {
		record->load_store = packet->index == OP_LOAD_STORE;
		record->store = packet->payload & 1;
	}
}

/* Remote says where without what; a miss of the last cache went to memory, or to another's cache. */
static uint8_t served(uint64_t events)
{
	if (events & EVENT_REMOTE)
		return events & EVENT_LLC_MISS || !(events & EVENT_LLC_ACCESS) ? SERVED_REMOTE : SERVED_REMOTE_CACHE;
	if (events & EVENT_LLC_MISS)
		return SERVED_LOCAL;
	if (events & EVENT_LLC_ACCESS || (events & EVENT_L1_ACCESS && !(events & EVENT_L1_REFILL)))
		return SERVED_CACHE;
	return SERVED_UNKNOWN;
}

static bool give(const struct record *record, struct mem_sample *sample)
{
	/* the kernel's addresses have their upper byte set, all of it that is left */
	if (!record->load_store || !record->addr || record->addr >> 48 == 0xff)
		return false;
	*sample = (struct mem_sample){
		.addr = record->addr,
		.cycles = record->cycles > UINT32_MAX ? UINT32_MAX : (uint32_t)record->cycles,
		.served = served(record->events),
		.store = record->store,
	};
	return true;
}

bool mem_sample_spe(const uint8_t *packets, size_t bytes, size_t *at, struct mem_sample *sample, uint64_t *broken)
{
	struct record record = { 0 };
	bool in_gap = false;

	for (size_t next = *at; next < bytes;) {
		struct packet packet = read_packet(packets + next, bytes - next);

		if (packet.kind == KIND_CUT)
			return false;
		next += packet.bytes;
		if (packet.kind == KIND_WRONG) {
			*broken += !in_gap;
			in_gap = true;
		} else if (packet.kind == KIND_LAST) {
			bool whole = !in_gap && give(&record, sample);

			*at = next;
			if (whole)
				return true;
			record = (struct record){ 0 };
			in_gap = false;
		} else if (packet.kind != KIND_PAD) {
			take(&record, &packet);
		} else if (!record.any) {
			*at = next; /* padding between records is behind us */
		}
	}
	if (in_gap)
		*at = bytes; /* no record ends in what can't be read */
	return false;
}
