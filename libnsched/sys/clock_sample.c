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
	int err;

	if (!code_readable()) {
		snprintf(why, SOURCE_WHY, "code can't be read: process_vm_readv and /proc/self/mem are refused");
		return -EPERM;
	}
	err = operand_open(&operand_code_self, &samples->decoder);
	if (err == -ENOTSUP)
		snprintf(why, SOURCE_WHY, "no operand decoder for this architecture");
	else if (err)
		snprintf(why, SOURCE_WHY, "no operand decoder: %s", strerror(-err));
	return err;
}

void clock_samples_close(struct clock_samples *samples)
{
	operand_close(samples->decoder);
	samples->decoder = NULL;
}

unsigned clock_samples_put(struct clock_samples *samples, unsigned thread, const struct regs *regs, uint64_t weight_ns,
                           const struct sink *sink)
{
	uint64_t addrs[OPERAND_MOST];
	unsigned count = operand_resolve(samples->decoder, regs, addrs, OPERAND_MOST);

	samples->counts.samples++;
	if (count)
		samples->counts.resolved++;
	else
		samples->counts.unresolved++;
	for (unsigned i = 0; i < count; i++) {
		struct access access = { addrs[i], thread, (float)weight_ns / (float)count, ACCESS_SAMPLE };

		sink->put(sink->arg, &access);
	}
	return count;
}

uint64_t clock_cpu_now_ns(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
