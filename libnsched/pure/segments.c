#include "pure/segments.h"

#include <stdbool.h>

#include "pure/pure.h"

/* A cut must tell this many accesses of each thread apart, so to say: the Gini gain of a cut between two threads
 * with n accesses each, all on their own side, is n. Of blocks that two threads share, chance cuts 2 % with 16
 * accesses and 10 % with 512, of those that eight share less than 1 %; tests/unit/test_segments holds it near that. */
#define GAIN_LEAST 4.0f

struct cutter {
	const struct seen *seen;
	unsigned n_classes;
	struct segment *segment;
	unsigned n_segments, cuts_left;
};

/* False if there are too many. */
static bool number_classes(struct seen *seen, unsigned n, unsigned *classes)
{
	uint16_t thread[SEGMENT_CLASSES];
	*classes = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned k = 0;
		while (k < *classes && thread[k] != seen[i].thread) k++;
		if (k == SEGMENT_CLASSES) return false;
		if (k == *classes) thread[(*classes)++] = seen[i].thread;
		seen[i].class = (uint16_t)k;
	}
	return true;
}

/* Where to cut first..end-1; `first` itself where no cut gains enough. Sums of squares are kept up to date as
 * each access goes from the right side to the left one. */
static uint32_t best_cut(const struct cutter *c, uint32_t first, uint32_t end)
{
	uint32_t left[SEGMENT_CLASSES] = { 0 }, right[SEGMENT_CLASSES] = { 0 }, cut = first;
	uint64_t left_squares = 0, right_squares = 0;
	float best = GAIN_LEAST, n = (float)(end - first);
	for (uint32_t i = first; i < end; i++) right_squares += 2ull * right[c->seen[i].class]++ + 1;
	float whole = (float)right_squares / n;
	for (uint32_t i = first; i + 1 < end; i++) {
		unsigned k = c->seen[i].class;
		left_squares += 2ull * left[k]++ + 1;
		right_squares -= 2ull * --right[k] + 1;
		if (c->seen[i].page == c->seen[i + 1].page) continue;
		float on_left = (float)(i + 1 - first);
		float gain = (float)left_squares / on_left + (float)right_squares / (n - on_left) - whole;
		if (gain < best) continue;
		best = gain;
		cut = i + 1;
	}
	return cut;
}

static void cut_up(struct cutter *c, uint32_t first, uint32_t end)
{
	uint32_t cut = c->cuts_left && c->n_classes > 1 ? best_cut(c, first, end) : first;
	if (cut == first) {
		c->segment[c->n_segments++] = (struct segment){ first, end };
		return;
	}
	c->cuts_left--;
	cut_up(c, first, cut);
	cut_up(c, cut, end);
}

unsigned segments_find(struct seen *seen, unsigned n, struct segment segment[SEGMENTS_MOST])
{
	struct cutter c = { .seen = seen, .segment = segment, .cuts_left = SEGMENTS_MOST - 1 };
	if (!number_classes(seen, n, &c.n_classes))
		for (unsigned i = 0; i < n; i++) seen[i].class = seen[i].thread % SEGMENT_CLASSES;
	if (n) cut_up(&c, 0, n);
	return c.n_segments;
}
