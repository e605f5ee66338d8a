#include "clock_sample.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* True if this process may read its own code. */
static bool code_readable(void)
{
	uint8_t byte;
	struct operand_piece piece = { (uint64_t)(uintptr_t)&clock_samples_open, &byte, sizeof(byte) };

	return operand_code_self.read(operand_code_self.arg, &piece, 1) == 1;
}

int clock_samples_open(struct clock_samples *samples, char why[SOURCE_WHY])
{
	if (code_readable())
		return 0;
	snprintf(why, SOURCE_WHY, "code can't be read: process_vm_readv and /proc/self/mem are refused");
	samples->decoder = NULL;
	return -EPERM;
}

void clock_samples_close(struct clock_samples *samples)
{
	operand_close(samples->decoder);
	samples->decoder = NULL;
}

/* Decoding costs a hundred times what a sample else costs where its code is new, ten times where it is near
 * to code that was decoded: in one poll no more than this, but for the last place, and a quarter of each new
 * measurement counts towards its price. */
enum { DECODE_NS = 10000000 };
#define LEARN_RATE 0.25f
#define DECODE_WORTH 16

/* The decoder, and Capstone with it, is opened when there is something to decode: samples come in meanwhile. */
int clock_samples_begin(struct clock_samples *samples)
{
	if (!samples->decoder) {
		uint64_t begin = clock_cpu_now_ns();
		int err = operand_open(&operand_code_self, &samples->decoder);

		if (err)
			return err;
		samples->counts.decode_ns += clock_cpu_now_ns() - begin;
	}
	samples->left_ns = DECODE_NS;
	operand_tick(samples->decoder);
	return 0;
}

/* Code is worth decoding once the program has spent several times as long in it as decoding takes: at
 * the first sample on a real machine, and hot code only on an emulated one, where decoding takes a
 * thousand times as long. */
static bool worth_decoding(struct clock_samples *samples, uint64_t ip, uint64_t weight_ns, enum operand_price price)
{
	uint32_t hash = (uint32_t)((ip * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
	unsigned slot = hash % COLD_SLOTS;

	if (samples->cold[slot].hash != hash)
		samples->cold[slot].ns = 0;
	samples->cold[slot].hash = hash;
	samples->cold[slot].ns += (float)weight_ns;
	return samples->left_ns > 0 && samples->cold[slot].ns >= DECODE_WORTH * samples->decode_ns[price];
}

static unsigned decode(struct clock_samples *samples, const struct regs *regs, enum operand_price price,
                       uint64_t addrs[OPERAND_MOST])
{
	uint64_t begin = clock_cpu_now_ns();
	unsigned count = operand_resolve(samples->decoder, regs, addrs, OPERAND_MOST);
	uint64_t cost = clock_cpu_now_ns() - begin;

	samples->left_ns -= (int64_t)cost;
	samples->counts.decode_ns += cost;
	samples->decode_ns[price] += LEARN_RATE * ((float)cost - samples->decode_ns[price]);
	return count;
}

/* As many as gave so many until now; two each before anything is known: most loops read more than they write. */
struct pick clock_samples_pick(const struct clock_samples *samples, unsigned all, unsigned most)
{
	double each = (double)(samples->accesses + 2) / (double)(samples->counts.samples + 1), keep = (double)most;

	if (each > 1)
		keep /= each;
	return (struct pick){ .all = all, .keep = keep < 1 ? 1 : (unsigned)keep };
}

/* The addresses of a sample; -1 where its code is not worth decoding yet. */
static int look(struct clock_samples *samples, const struct regs *regs, uint64_t weight_ns, uint64_t addrs[OPERAND_MOST])
{
	enum operand_price price;
	struct runtime_code code;

	price = operand_price(samples->decoder, regs->ip);
	if (price == OPERAND_KNOWN)
		return (int)operand_resolve(samples->decoder, regs, addrs, OPERAND_MOST);
	if (runtime_code_find(&samples->libraries, regs->ip, &code))
		return 0;
	if (!worth_decoding(samples, regs->ip, weight_ns, price))
		return -1;
	return (int)decode(samples, regs, price, addrs);
}

unsigned clock_samples_put(struct clock_samples *samples, unsigned thread, const struct regs *regs, uint64_t weight_ns,
                           const struct sink *sink)
{
	uint64_t addrs[OPERAND_MOST];
	int found = look(samples, regs, weight_ns, addrs);
	unsigned count = found < 0 ? 0 : (unsigned)found;

	if (found < 0) {
		samples->counts.lost++;
		return 0;
	}
	samples->counts.samples++;
	if (count)
		samples->counts.resolved++;
	else
		samples->counts.unresolved++;
	samples->accesses += count;
	for (unsigned i = 0; i < count; i++) {
		struct access access = { addrs[i], thread, (float)weight_ns / (float)count, ACCESS_SAMPLE };

		sink->put(sink->arg, &access);
	}
	return count;
}

void clock_samples_tell(const struct clock_samples *samples, const struct source_counts *before, const struct sink *sink,
                        const struct source_taken *taken)
{
	const struct source_counts *now = &samples->counts;
	struct source_taken all = *taken;

	if (!sink->taken)
		return;
	all.samples = (unsigned)(now->samples - before->samples);
	all.lost = (unsigned)(now->lost - before->lost);
	all.decode_ns = now->decode_ns - before->decode_ns;
	sink->taken(sink->arg, &all);
}

uint64_t clock_cpu_now_ns(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
