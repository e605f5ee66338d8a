/* Chance that is the same for the same seed, on every machine. Touches nothing but its state. */
#ifndef NSCHED_SIM_RANDOM_H
#define NSCHED_SIM_RANDOM_H

#include <math.h>
#include <stdint.h>

struct chance {
	uint64_t a, b;
};

/* splitmix64: spreads a small seed over the state */
static inline uint64_t chance_mix(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline void chance_seed(struct chance *c, uint64_t seed)
{
	c->a = chance_mix(&seed);
	c->b = chance_mix(&seed) | 1;
}

/* xoroshiro128+ */
static inline uint64_t chance_next(struct chance *c)
{
	uint64_t a = c->a, b = c->b, sum = a + b;
	b ^= a;
	c->a = (a << 24 | a >> 40) ^ b ^ b << 16;
	c->b = b << 37 | b >> 27;
	return sum;
}

/* 0 to below 1 */
static inline double chance_unit(struct chance *c)
{
	return (double)(chance_next(c) >> 11) * 0x1p-53;
}

/* 0 to n - 1; n must not be 0 */
static inline uint64_t chance_below(struct chance *c, uint64_t n)
{
	return (uint64_t)(chance_unit(c) * (double)n);
}

/* Waiting time of a thing that comes by chance, `mean` on average. */
static inline double chance_wait(struct chance *c, double mean)
{
	return -mean * log(1 - chance_unit(c));
}

/* `value` more or less by up to `share` of it. */
static inline double chance_around(struct chance *c, double value, double share)
{
	return value * (1 + share * (2 * chance_unit(c) - 1));
}

#endif
