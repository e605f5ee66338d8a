/* What an empty parallel region costs, by variant of tool.
 *
 *   ompt_empty                                    nanoseconds a region, parallel and serialized, and a barrier: the least of
 *                                                 many batches, after $SETTLE_S seconds (0) of regions that are not counted
 *   ompt_empty ROUNDS NAME=VARIABLE=VALUE,... ... runs itself with each variant's environment in turn, ROUNDS
 *                                                 times, and prints the least of each: a disturbance of the machine
 *                                                 meets all variants alike, and minima are what repeats. */
#include <float.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 200, REGIONS = 100, VARIANTS = 16, THREADS = 2 };

struct figures {
	double parallel_ns, serialized_ns, barrier_ns;
};

/* ---- one run ------------------------------------------------------------------------------------------ */

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double batch_ns(int parallel)
{
	double begin = now_ns();

	for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel if (parallel) num_threads(THREADS)
		__asm__ volatile("" ::: "memory");
	}
	return (now_ns() - begin) / REGIONS;
}

static double parallel_ns(void)
{
	return batch_ns(1);
}

static double serialized_ns(void)
{
	return batch_ns(0);
}

static double barrier_ns(void)
{
	double ns = 0;

#pragma omp parallel num_threads(THREADS)
	{
		double begin = now_ns();

		for (int i = 0; i < REGIONS; i++) {
#pragma omp barrier
		}
#pragma omp master
		ns = (now_ns() - begin) / REGIONS;
	}
	return ns;
}

static double least_ns(double (*batch)(void))
{
	double least = DBL_MAX;

	for (int i = 0; i < BATCHES; i++) {
		double ns = batch();

		least = ns < least ? ns : least;
	}
	return least;
}

/* What a tool does in the first seconds is done: it has made its plans and bound its threads. */
static void settle(void)
{
	const char *text = getenv("SETTLE_S");
	double end = now_ns() + 1e9 * (text == NULL ? 0 : atof(text));

	do
		batch_ns(1); /* threads are made */
	while (now_ns() < end);
}

/* ---- all variants, in turn -------------------------------------------------------------------------------- */

static void set_variant(char *assignments)
{
	char *word;

	while ((word = strsep(&assignments, ",")) != NULL)
		if (*word != '\0')
			putenv(word);
}

static struct figures run(const char *program, const char *variant)
{
	struct figures figures = { DBL_MAX, DBL_MAX, DBL_MAX };
	char text[128] = "";
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		exit(99);
	if (pid == 0) {
		dup2(ends[1], 1);
		set_variant(strdup(strchr(variant, '=') + 1));
		execl(program, program, (char *)NULL);
		_exit(99);
	}
	close(ends[1]);

	ssize_t length = read(ends[0], text, sizeof(text) - 1);

	close(ends[0]);
	waitpid(pid, NULL, 0);
	if (length <= 0 || sscanf(text, "%lf %lf %lf", &figures.parallel_ns, &figures.serialized_ns, &figures.barrier_ns) != 3) {
		fprintf(stderr, "%s did not run\n", variant);
		exit(99);
	}
	return figures;
}

static int compare(const char *program, int rounds, int variants, char **variant)
{
	struct figures least[VARIANTS];

	for (int i = 0; i < variants; i++)
		least[i] = (struct figures){ DBL_MAX, DBL_MAX, DBL_MAX };
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < variants; i++) {
			struct figures now = run(program, variant[i]);

			if (now.parallel_ns < least[i].parallel_ns)
				least[i].parallel_ns = now.parallel_ns;
			if (now.serialized_ns < least[i].serialized_ns)
				least[i].serialized_ns = now.serialized_ns;
			if (now.barrier_ns < least[i].barrier_ns)
				least[i].barrier_ns = now.barrier_ns;
		}
	}
	for (int i = 0; i < variants; i++)
		printf("%.*s %.1f %.1f %.1f\n", (int)strcspn(variant[i], "="), variant[i], least[i].parallel_ns,
		       least[i].serialized_ns, least[i].barrier_ns);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return compare(argv[0], atoi(argv[1]), argc - 2 < VARIANTS ? argc - 2 : VARIANTS, argv + 2);
	settle();
	printf("%.1f %.1f %.1f\n", least_ns(parallel_ns), least_ns(serialized_ns), least_ns(barrier_ns));
	return 0;
}
