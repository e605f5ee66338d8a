/* Small OpenMP programs, one for each argument, that print what they computed: it must be the same with and
 * without a tool. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 100000 };

/* Not inlined: its callers would keep the thread number that the runtime forgets in a hard pause. */
__attribute__((noinline)) static long sum(int threads)
{
	long total = 0;

#pragma omp parallel for reduction(+ : total) num_threads(threads)
	for (long i = 0; i < N; i++)
		total += i % 7;
	return total;
}

static void plain(void)
{
	for (int i = 0; i < 50; i++)
		printf("%ld\n", sum(2 + i % 3));
}

static void schedules(void)
{
	long total = 0;

#pragma omp parallel num_threads(3) reduction(+ : total)
	{
#pragma omp for schedule(dynamic, 7)
		for (long i = 0; i < N; i++)
			total += i;
#pragma omp barrier
#pragma omp for schedule(guided)
		for (long i = 0; i < N; i++)
			total += i % 3;
#pragma omp single
		total += 1;
#pragma omp sections
		{
#pragma omp section
			total += 2;
#pragma omp section
			total += 3;
		}
	}
	printf("%ld\n", total);
}

static void nested(void)
{
	long total = 0;

	omp_set_max_active_levels(3);
	for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(2) reduction(+ : total)
		{
			total += sum(2);
#pragma omp parallel if (0)
			total += sum(1);
		}
	}
	printf("%ld\n", total);
}

static void serial(void)
{
	long total = 0;

	for (int i = 0; i < 20; i++) {
#pragma omp parallel if (0)
		total += i;
	}
	printf("%ld\n", total + sum(1));
}

static void none(void)
{
	printf("%d\n", omp_in_parallel());
}

static long fibonacci(int n)
{
	long x, y;

	if (n < 2)
		return n;
#pragma omp task shared(x)
	x = fibonacci(n - 1);
#pragma omp task shared(y)
	y = fibonacci(n - 2);
#pragma omp taskwait
	return x + y;
}

static void tasks(void)
{
	long result = 0;

#pragma omp parallel num_threads(4)
#pragma omp single
	result = fibonacci(15);
	printf("%ld\n", result);
}

static void *root(void *argument)
{
	for (int i = 0; i < 20; i++)
		*(long *)argument += sum(2);
	return NULL;
}

static void roots(void)
{
	long totals[3] = { 0 };
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, root, &totals[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld %ld\n", totals[0], totals[1], totals[2]);
}

/* A child that uses OpenMP, one that only ends, and the parent goes on. */
static void forks(void)
{
	int status = 0;
	long before = sum(2);

	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid == 0)
			exit(i == 0 ? sum(2) != before : 0);
		waitpid(pid, &status, 0);
		printf("child %d\n", status);
	}
	printf("%ld %ld\n", before, sum(2));
}

static void exit_in_region(void)
{
	sum(3);
#pragma omp parallel num_threads(3)
	if (omp_get_thread_num() == 1) {
		printf("leaving\n");
		exit(0);
	} else {
		pause();
	}
}

static void quick(void)
{
	printf("%ld\n", sum(2));
	fflush(stdout);
	_exit(0);
}

#ifdef __clang__
static void teams(void)
{
	long total = 0;

#pragma omp teams num_teams(2) thread_limit(2) reduction(+ : total)
	{
		total += 1;
#pragma omp parallel
		{
#pragma omp master
			total += 10;
		}
	}
	printf("%ld %ld\n", total, sum(2));
}

/* Started before any other thread is there: LLVM 14 fails an assertion of its own where pooled workers
 * become helpers (also without a tool). */
static void helpers(void)
{
	int x = 0;

#pragma omp target nowait map(tofrom : x)
	x = 1;
#pragma omp taskwait
	printf("%d\n", x);
}

static void paused(void)
{
	long before = sum(2);

	omp_pause_resource_all(omp_pause_hard);
	printf("%ld %ld\n", before, sum(2));
}
#endif

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "plain", plain }, { "schedules", schedules }, { "nested", nested }, { "serial", serial },
	{ "none", none }, { "tasks", tasks }, { "roots", roots }, { "forks", forks },
	{ "exit_in_region", exit_in_region }, { "quick", quick },
#ifdef __clang__
	{ "teams", teams }, { "helpers", helpers }, { "paused", paused },
#endif
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc == 2 && strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run();
			return 0;
		}
	return 2;
}
