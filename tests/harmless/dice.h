/* For programs that do things at random for some time. */
#ifndef TESTS_HARMLESS_DICE_H
#define TESTS_HARMLESS_DICE_H

#include <stdint.h>
#include <time.h>

/* The next of a row of numbers that the first state decides (splitmix64, by Vigna). */
static uint64_t chance(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
