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

enum { ELEMENTS = 2 << 20 }; /* 16 MiB of doubles: far beyond an L2 cache */

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
		if (!err) {
			*good = tally_judge(argv[1], "heads", kernel, &tally) && *good;
			*good = tally_judge(argv[1], "steps", kernel, &all) && *good;
		}
	} else {
		err = sample_kernel(way, kernel, data, atof(argv[3]), &tally);
		if (!err)
			*good = tally_judge(argv[1], way, kernel, &tally) && *good;
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
	data_create(&data, ELEMENTS, 0);
	for (unsigned i = 0; i < kernel_count; i++)
		if (wanted(&kernels[i], argc, argv) && check_kernel(argv, &kernels[i], &data, &good))
			return 77;
	return good ? 0 : 1;
}
