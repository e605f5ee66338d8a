/* The parts of the checkers: what is known of a kernel's samples, and the three ways to get some. */
#ifndef TESTS_OPERAND_CHECK_H
#define TESTS_OPERAND_CHECK_H

#include <stdbool.h>

#include "kernels.h"
#include "sys/operand.h"

/* How a kernel's samples went. A sample counts 1, shared out among the addresses it gave. */
struct tally {
	double samples;
	double array[ARRAYS];  /* addresses in that array */
	double elsewhere;      /* addresses in none of them */
	double unresolved;
	double gathers;        /* unresolved since the addresses are in vector registers */
};

/* Makes the arrays, of so many elements: anywhere, or, in a corpus, at fixed addresses from `start` on. */
void data_create(struct data *data, long elements, uint64_t start);

/* The array that an address lies in; ARRAYS if in none. */
enum array array_of(uint64_t addr);

/* Adds a sample that gave `count` addresses; `gather` says why there were none. */
void tally_add(struct tally *tally, const uint64_t addrs[], unsigned count, bool gather);

/* What the samples are worth: "ok", or what is wrong; and how many hit arrays of the kernel, and others. */
const char *tally_verdict(const struct kernel *kernel, const struct tally *tally, double *hit, double *wrong);

/* Prints a kernel's line; false if it is below the limits. */
bool tally_judge(const char *build, const char *way, const struct kernel *kernel, const struct tally *tally);

/* Runs the kernel in a thread under a source for so long. 0, or a negated errno with the reason printed. */
int sample_kernel(const char *source, const struct kernel *kernel, struct data *data, double seconds, struct tally *tally);

/* Runs the kernel step by step in a child, and asks the decoder at every head of a block, where an
 * emulator's samples land (tally), and at every instruction (all). */
int step_kernel(const struct kernel *kernel, struct data *data, struct tally *heads, struct tally *all);

/* Prints what a decode of this kernel's samples costs. */
int cost_kernel(const struct kernel *kernel, struct data *data);

#endif
