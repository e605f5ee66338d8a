/* The arrays of the kernels, and what samples of them are worth: see check.h. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Limits, in per cent of the samples that are no vector gathers. */
static const double RESOLVED_LEAST = 90;
static const double WRONG_MOST = 2;
/* Each array of a loop over several is seen with at least this part of an equal share. */
static const double SHARE_LEAST = 0.4;
/* A way that gives fewer samples than this of a kernel says nothing of it. */
static const double SAMPLES_LEAST = 20;

enum {
	GAP = 1 << 20,            /* unused bytes between arrays, so that a near miss is a miss */
	FIXED_APART = 64 << 20,   /* arrays at fixed addresses: from one's start to the next one's */
};

static struct {
	uint64_t start, bytes;
} spans[ARRAYS];

/* ---- arrays ------------------------------------------------------------------------------------------- */

static void *make_array(uint64_t start, enum array which, size_t bytes)
{
	char *wanted = start ? (char *)(uintptr_t)(start + (uint64_t)which * FIXED_APART) : NULL;
	char *at = mmap(wanted, bytes + 2 * GAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(99);
	}
	if (wanted && at != wanted) {
		fprintf(stderr, "skipped: the recorded addresses are taken here (the thread sanitizer's are)\n");
		exit(77);
	}
	spans[which].start = (uint64_t)(uintptr_t)(at + GAP);
	spans[which].bytes = bytes;
	return at + GAP;
}

static uint64_t next_random(void)
{
	static uint64_t seed = 88172645463325252u;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void permute(int32_t *idx, long n)
{
	for (long i = 0; i < n; i++)
		idx[i] = (int32_t)i;
	for (long i = n - 1; i > 0; i--) {
		long j = (long)(next_random() % (uint64_t)(i + 1));
		int32_t t = idx[i];

		idx[i] = idx[j];
		idx[j] = t;
	}
}

void data_create(struct data *d, long elements, uint64_t start)
{
	size_t doubles = (size_t)elements * sizeof(double), indices = (size_t)elements * sizeof(int32_t);

	d->n = elements;
	while ((d->side + 1) * (d->side + 1) <= elements)
		d->side++;
	d->one = 1;
	d->count = elements / 8;
	d->a = make_array(start, A, doubles);
	d->b = make_array(start, B, doubles);
	d->c = make_array(start, C, doubles);
	d->d = make_array(start, D, doubles);
	d->idx = make_array(start, IDX, indices);
	d->idx2 = make_array(start, IDX2, indices);
	d->nodes = make_array(start, NODES, (size_t)d->count * sizeof(struct node));
	d->rows = make_array(start, ROWS, (size_t)d->side * sizeof(double *));
	permute(d->idx, d->n);
	permute(d->idx2, d->n);
	for (long i = 0; i < d->n; i++) {
		d->a[i] = (double)i;
		d->b[i] = d->c[i] = d->d[i] = 1;
	}
	for (long i = 0, at = 0; i < d->count; i++) { /* a ring through all nodes, in the order of a permutation */
		long next = (at + 98765) % d->count;  /* odd, and count is a power of two */

		d->nodes[at] = (struct node){ &d->nodes[next], &d->a[d->idx[at]], 1, { 0 } };
		at = next;
	}
	for (long i = 0; i < d->side; i++)
		d->rows[i] = d->a + i * d->side;
	global_a = d->a;
	global_b = d->b;
}

enum array array_of(uint64_t addr)
{
	for (unsigned i = 0; i < ARRAYS; i++)
		if (addr - spans[i].start < spans[i].bytes)
			return (enum array)i;
	return ARRAYS;
}

/* ---- tallies ------------------------------------------------------------------------------------------ */

void tally_add(struct tally *tally, const uint64_t addrs[], unsigned count, bool gather)
{
	tally->samples++;
	if (count == 0 && gather)
		tally->gathers++;
	else if (count == 0)
		tally->unresolved++;
	for (unsigned i = 0; i < count; i++) {
		enum array array = array_of(addrs[i]);

		*(array == ARRAYS ? &tally->elsewhere : &tally->array[array]) += 1.0 / count;
	}
}

static bool shares_fair(const struct kernel *kernel, const struct tally *tally, double hit)
{
	unsigned arrays = (unsigned)__builtin_popcount(kernel->uses);

	for (unsigned i = 0; i < ARRAYS; i++)
		if (kernel->shares & 1u << i && tally->array[i] * arrays < SHARE_LEAST * hit)
			return false;
	return true;
}

const char *tally_verdict(const struct kernel *kernel, const struct tally *tally, double *hit, double *wrong)
{
	double base = tally->samples - tally->gathers;

	*hit = *wrong = 0;
	for (unsigned i = 0; i < ARRAYS; i++)
		*(kernel->uses & 1u << i ? hit : wrong) += tally->array[i];
	if (100 * *hit < RESOLVED_LEAST * base)
		return "UNRESOLVED";
	if (100 * *wrong > WRONG_MOST * base)
		return "WRONG";
	return shares_fair(kernel, tally, *hit) ? "ok" : "SHARES";
}

bool tally_judge(const char *build, const char *way, const struct kernel *kernel, const struct tally *tally)
{
	double hit, wrong, base = tally->samples - tally->gathers;
	const char *verdict = tally_verdict(kernel, tally, &hit, &wrong);

	if (tally->samples < SAMPLES_LEAST)
		verdict = "few";
	else if (base < SAMPLES_LEAST)
		verdict = "gathers";
	base = base > 0 ? base / 100 : 1;
	printf("%s\t%s\t%s\t%.0f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t", build, kernel->name, way, tally->samples, hit / base,
	       wrong / base, tally->elsewhere / base, tally->unresolved / base,
	       tally->samples > 0 ? 100 * tally->gathers / tally->samples : 0);
	for (unsigned i = 0; i < ARRAYS; i++)
		if (kernel->uses & 1u << i)
			printf("%.0f/", hit > 0 ? 100 * tally->array[i] / hit : 0);
	printf("\t%s\n", verdict);
	fflush(stdout);
	return strcmp(verdict, "ok") == 0 || strcmp(verdict, "few") == 0 || strcmp(verdict, "gathers") == 0;
}

