/* Holds the operand decoder against loops whose arrays are known:
 *
 *   check BUILD perf|timer|step|cost SECONDS [KERNEL...]
 *
 * prints a line for each kernel (build, kernel, way, samples, per cents), and fails if one is below the
 * limits. Exit 77 if the way is closed on this machine. */
#include "check.h"

#include <errno.h>
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
	ELEMENTS = 2 << 20,  /* 16 MiB of doubles: far beyond an L2 cache */
	SIDE = 1448,         /* SIDE * SIDE <= ELEMENTS */
	GAP = 1 << 20,       /* unused bytes between arrays, so that a near miss is a miss */
};

static struct {
	uint64_t start, bytes;
} spans[ARRAYS];

/* ---- arrays ------------------------------------------------------------------------------------------- */

static void *make_array(enum array which, size_t bytes)
{
	char *at = mmap(NULL, bytes + 2 * GAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(99);
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

void data_create(struct data *d)
{
	d->n = ELEMENTS;
	d->side = SIDE;
	d->one = 1;
	d->count = ELEMENTS / 8;
	d->a = make_array(A, ELEMENTS * sizeof(double));
	d->b = make_array(B, ELEMENTS * sizeof(double));
	d->c = make_array(C, ELEMENTS * sizeof(double));
	d->d = make_array(D, ELEMENTS * sizeof(double));
	d->idx = make_array(IDX, ELEMENTS * sizeof(int32_t));
	d->idx2 = make_array(IDX2, ELEMENTS * sizeof(int32_t));
	d->nodes = make_array(NODES, (size_t)d->count * sizeof(struct node));
	d->rows = make_array(ROWS, SIDE * sizeof(double *));
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
	for (long i = 0; i < SIDE; i++)
		d->rows[i] = d->a + i * SIDE;
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

/* Prints a kernel's line; false if it is below the limits. */
static bool judge(const char *build, const char *way, const struct kernel *kernel, const struct tally *tally)
{
	double hit = 0, wrong = 0, base = tally->samples - tally->gathers;
	const char *verdict = "ok";

	for (unsigned i = 0; i < ARRAYS; i++)
		*(kernel->uses & 1u << i ? &hit : &wrong) += tally->array[i];
	if (tally->samples < SAMPLES_LEAST)
		verdict = "few";
	else if (base < SAMPLES_LEAST)
		verdict = "gathers";
	else if (100 * hit < RESOLVED_LEAST * base)
		verdict = "UNRESOLVED";
	else if (100 * wrong > WRONG_MOST * base)
		verdict = "WRONG";
	else if (!shares_fair(kernel, tally, hit))
		verdict = "SHARES";
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

/* ---- main --------------------------------------------------------------------------------------------- */

static bool wanted(const struct kernel *kernel, int argc, char **argv)
{
	for (int i = 4; i < argc; i++)
		if (strcmp(argv[i], kernel->name) == 0)
			return true;
	return argc <= 4;
}

static int check_kernel(char **argv, const struct kernel *kernel, struct data *data, bool *good)
{
	struct tally tally = { 0 }, all = { 0 };
	const char *way = argv[2];
	int err;

	if (strcmp(way, "cost") == 0)
		return cost_kernel(kernel, data);
	if (strcmp(way, "step") == 0) {
		err = step_kernel(kernel, data, &tally, &all);
		if (!err)
			*good = judge(argv[1], "heads", kernel, &tally) && *good;
	} else {
		err = sample_kernel(way, kernel, data, atof(argv[3]), &tally);
		if (!err)
			*good = judge(argv[1], way, kernel, &tally) && *good;
	}
	return err;
}

int main(int argc, char **argv)
{
	static struct data data;
	bool good = true;

	if (argc < 4) {
		fprintf(stderr, "usage: %s BUILD perf|timer|step|cost SECONDS [KERNEL...]\n", argv[0]);
		return 2;
	}
	data_create(&data);
	for (unsigned i = 0; i < kernel_count; i++)
		if (wanted(&kernels[i], argc, argv) && check_kernel(argv, &kernels[i], &data, &good))
			return 77;
	return good ? 0 : 1;
}
