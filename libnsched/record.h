/* The record of a session: what it was given from outside, in the order in which it asked, and what it decided. What
 * writes it is recorder.c, what reads it is replay/player.c; this is what both go by.
 *
 * The file: RECORD_MAGIC, 16 bytes that can be read, with the version of the format; then frames of zstd, each with its
 * checksum. Unpacked they are events: a byte that says which, and its fields, as pure/tape.h packs them. Each recorded session begins with
 * RECORD_START; steps are RECORD_BEGIN to the next one; RECORD_END is last, where the program ended in order.
 * Numbers in brackets are differences to the last of their kind.
 *
 * Addresses are kept by line of 64 bytes, which is what evidence tells apart; nothing else is left out that a decision depends on. */
#ifndef NSCHED_RECORD_H
#define NSCHED_RECORD_H

enum { RECORD_VERSION = 1, RECORD_MAGIC_BYTES = 16, RECORD_LINE_SHIFT = 6 };
#define RECORD_MAGIC "nsched record 1\n"

enum record_event {
	RECORD_START = 1,      /* version of nsched (text); options as pairs of texts, "" behind the last; enum record_flag; ticks a second;
	                          sources: number, and of each its name, enum record_hook, sample_ns and the place of the one it stands in for (from 1; 0: none);
	                          the machine; the CPUs of the process */
	RECORD_NOW,            /* clock: [ns] */
	RECORD_OWN,            /* CPU time of the stepping thread: [ns] */
	RECORD_PROCESS,        /* CPU time of the process: [ns] */
	RECORD_SOURCE_START,   /* source, result, why (text) */
	RECORD_SOURCE_ADD,     /* source, result */
	RECORD_POLL,           /* source, accesses, result. An access: twice [line], with its sign in the bit above the lowest; the lowest is
	                          1 where thread, kind and weight follow, since they are not those of the access before */
	RECORD_COUNTS,         /* source, [samples], [resolved], [unresolved], [lost], [decode_ns] */
	RECORD_COUNTER_START,  /* result, why, enum record_counter, events (text) */
	RECORD_COUNTER_READ,   /* result; where that is 0: [ns], each counter */
	RECORD_BALANCING,      /* bits */
	RECORD_FAULTS,         /* result, sum, nodes: number, and of each its number and its faults */
	RECORD_TIMES,          /* result; where that is 0: CPU, [ticks] */
	RECORD_LOCATE,         /* result, pages; where the result is 0: a row of nodes */
	RECORD_MOVE,           /* result, pages; where the result is 0: a row of nodes */
	RECORD_POLICY,         /* result */
	RECORD_BEGIN,          /* of a step: nothing more */
	RECORD_THREADS,        /* all are to be looked at (0, 1); slots; slots that have changed since: number + 1, tid, state, fixed, bound + 1,
	                          process, and without eyes its node + 1 and load; 0 */
	RECORD_BOUND,          /* result, state, fixed, bound + 1 */
	RECORD_TOUCHES,        /* only where there are any: thread, number, [line] of each */
	RECORD_RANGES,         /* only where they have changed: ranges: number, and of each [address], bytes, name; hints: number, and of each
	                          thread, [address], bytes, bytes a second */
	RECORD_NEIGHBOURS,     /* enum neighbours_mode; orders for this process: number, and of each tid, node, support, gain */
	RECORD_PLAN,           /* digest of the situation (8 bytes); moves: number, and of each enum record_move, thread or [page], pages and range,
	                          from, to, support, gain, cost, reason: its number, and its text where that is new (or RECORD_REASONS) */
	RECORD_END,            /* steps */
	RECORD_PRICE,          /* behind RECORD_SOURCE_START, of sources that measure it: what a sample takes of its thread, ns */
	RECORD_REGIONS,        /* only where there are any: number, and of each its key, time and visits */
	RECORD_EVENTS
};

enum record_flag { RECORD_EYES = 1, RECORD_COUNTERS = 2, RECORD_TEAM = 4, RECORD_ANONYMOUS = 8 };
enum record_hook { RECORD_HAS_ADD = 1, RECORD_HAS_POLL = 2, RECORD_HAS_COUNTS = 4, RECORD_HAS_PRICE = 8 };
enum record_counter { RECORD_BY_ITSELF = 1, RECORD_DEMAND = 2, RECORD_NAMED = 4 };
enum record_move { RECORD_MOVE_PAGES = 1, RECORD_MOVE_AGAIN = 2 };

/* Most reasons in a record: literals of the policies, a few dozen. */
enum { RECORD_REASONS = 256 };

#endif
