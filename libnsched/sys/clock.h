/* Time, by way of a pointer, so that the simulator and the tests have their own. */
#ifndef NSCHED_CLOCK_H
#define NSCHED_CLOCK_H

#include <stdint.h>

struct clock_ops {
	uint64_t (*now_ns)(void *state);         /* monotonic */
	uint64_t (*own_cpu_ns)(void *state);     /* CPU time of the calling thread */
	uint64_t (*process_cpu_ns)(void *state); /* CPU time of the whole process */
};

extern const struct clock_ops clock_linux;

/* Counts up at a steady pace that only the machine knows; never a system call where the CPU has a counter.
 * clock_gettime is one wherever the kernel has given up the TSC (hpet, acpi_pm), which it may do at any time. */
static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return clock_linux.now_ns(0);
#endif
}

/* What ticks are in nanoseconds, by what both clocks did since the first clock_ticks_start (0 before that). */
void clock_ticks_start(void);
double clock_ticks_to_ns(uint64_t ticks);

#endif
