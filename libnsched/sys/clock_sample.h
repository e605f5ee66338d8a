/* What the two sources of clock samples share: a decoder, the counts, and a sample's way to the sink. */
#ifndef NSCHED_CLOCK_SAMPLE_H
#define NSCHED_CLOCK_SAMPLE_H

#include "operand.h"
#include "pick.h"
#include "runtime_code.h"
#include "source.h"

enum {
	COLD_SLOTS = 1024, /* places of code remembered that wait to be decoded; a power of two */
};

struct clock_samples {
	struct operand_decoder *decoder;
	int64_t left_ns;             /* time that may still go into decoding in this poll */
	float decode_ns[OPERAND_PRICES]; /* what decoding a place costs, measured */
	struct {
		uint32_t hash;
		float ns;            /* the program's time that was sampled there */
	} cold[COLD_SLOTS];          /* places that are not decoded yet */
	struct runtime_libraries libraries; /* where threads wait: nothing is looked for there */
	struct source_counts counts;
	uint64_t accesses;           /* that all samples gave */
};

/* 0, or a negated errno and the reason. */
int clock_samples_open(struct clock_samples *samples, char why[SOURCE_WHY]);
void clock_samples_close(struct clock_samples *samples);

/* A poll begins: the next samples are of a new one. 0, or what operand_open says the first time. */
int clock_samples_begin(struct clock_samples *samples);

/* Which of so many samples give about `most` accesses. */
struct pick clock_samples_pick(const struct clock_samples *samples, unsigned all, unsigned most);

/* Decodes a sample and shares its time out among the addresses it gives; returns how many it put, at
 * most OPERAND_MOST. */
unsigned clock_samples_put(struct clock_samples *samples, unsigned thread, const struct regs *regs, uint64_t weight_ns,
                           const struct sink *sink);

/* Tells the sink of a thread's part of a poll: what came since the counts were `before`. */
void clock_samples_tell(const struct clock_samples *samples, const struct source_counts *before, const struct sink *sink,
                        const struct source_taken *taken);

/* The calling thread's CPU time. */
uint64_t clock_cpu_now_ns(void);

#endif
