/* A program that knows who touches what, and says so (tests/live/sources): threads, each on a CPU of its own, work on
 * their parts of arrays that the first one has filled, while nsched watches and moves nothing.
 *
 *   owners triad|stencil|csr THREADS KIB SECONDS FOLDER
 *
 * At the end, while all still work, FOLDER gets KERNEL.situation, what nsched has seen, and KERNEL.truth:
 *   touch TID ADDRESS BYTES LINES     cache lines that the thread touches there in a pass, evenly
 *   page ADDRESS COUNT NODE           where pages lie
 * KERNEL.json is the report, by NSCHED_REPORT. */
#define _GNU_SOURCE
#include <nsched.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	THREADS_MOST = 64,
	LINE = 64,
	PAGE = 4096,
	SIDE = 1024,       /* doubles in a row of the stencil */
	ROW = 8,           /* numbers in a row of the matrix */
	FAR_EVERY = 16,    /* each so-manieth lies anywhere in the vector, the others near the diagonal */
	NEAR = 32,
	ARRAYS_MOST = 8,
	PATH_MOST = 512,
};

struct kernel {
	const char *name;
	void (*make)(size_t kib);
	void (*pass)(unsigned t);
	void (*tell)(unsigned t, FILE *out);
};

static struct {
	const struct kernel *kernel;
	unsigned threads;
	nsched_t *nsched;
	pthread_barrier_t pass;
	atomic_bool stop;
	int tid[THREADS_MOST];
	struct { char *at; size_t bytes; } array[ARRAYS_MOST];
	unsigned arrays;
	size_t n;              /* elements or rows */
	double *a, *b, *c;
	unsigned *column;
} work;

static void fail(const char *what)
{
	perror(what);
	exit(99);
}

static void *make_array(size_t bytes)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	work.array[work.arrays].at = at;
	work.array[work.arrays++].bytes = bytes;
	return at;
}

static size_t part(size_t n, unsigned t)
{
	return n * t / work.threads;
}

static void tell(FILE *out, unsigned t, const void *at, size_t bytes, double lines)
{
	fprintf(out, "touch %d %lx %zu %.1f\n", work.tid[t], (unsigned long)(uintptr_t)at, bytes, lines);
}

/* A part of an array that the thread goes through from end to end. */
static void tell_all(FILE *out, unsigned t, const void *at, size_t bytes)
{
	tell(out, t, at, bytes, (double)bytes / LINE);
}

/* ---- a = b + s * c ------------------------------------------------------------------------------------------ */

static void triad_make(size_t kib)
{
	work.n = kib * 1024 / 3 / sizeof(double);
	work.a = make_array(work.n * sizeof(double));
	work.b = make_array(work.n * sizeof(double));
	work.c = make_array(work.n * sizeof(double));
	for (size_t i = 0; i < work.n; i++) {
		work.a[i] = 0;
		work.b[i] = 1;
		work.c[i] = 2;
	}
}

static void triad_pass(unsigned t)
{
	double *restrict a = work.a, *restrict b = work.b, *restrict c = work.c;

	for (size_t i = part(work.n, t); i < part(work.n, t + 1); i++)
		a[i] = b[i] + 0.5 * c[i];
}

static void triad_tell(unsigned t, FILE *out)
{
	size_t first = part(work.n, t), bytes = (part(work.n, t + 1) - first) * sizeof(double);

	tell_all(out, t, work.a + first, bytes);
	tell_all(out, t, work.b + first, bytes);
	tell_all(out, t, work.c + first, bytes);
}

/* ---- five points -------------------------------------------------------------------------------------------- */

static void stencil_make(size_t kib)
{
	work.n = kib * 1024 / 2 / (SIDE * sizeof(double));
	work.a = make_array(work.n * SIDE * sizeof(double));
	work.b = make_array(work.n * SIDE * sizeof(double));
	for (size_t i = 0; i < work.n * SIDE; i++)
		work.a[i] = work.b[i] = 1;
}

static void stencil_pass(unsigned t)
{
	size_t first = part(work.n, t), end = part(work.n, t + 1);
	double *restrict to = work.b, *restrict from = work.a;

	for (size_t i = first ? first : 1; i < end && i + 1 < work.n; i++)
		for (size_t j = i * SIDE + 1; j + 1 < (i + 1) * SIDE; j++)
			to[j] = 0.2 * (from[j] + from[j - 1] + from[j + 1] + from[j - SIDE] + from[j + SIDE]);
}

static void stencil_tell(unsigned t, FILE *out)
{
	size_t first = part(work.n, t), end = part(work.n, t + 1), row = SIDE * sizeof(double);
	size_t above = first ? first - 1 : 0, below = end < work.n ? end + 1 : end;

	tell_all(out, t, work.a + above * SIDE, (below - above) * row);
	tell_all(out, t, work.b + first * SIDE, (end - first) * row);
}

/* ---- a sparse matrix times a vector --------------------------------------------------------------------------- */

static size_t column_of(size_t row, size_t number)
{
	uint64_t mixed = row * 0x9e3779b97f4a7c15u ^ number * 0xc2b2ae3d27d4eb4fu;

	mixed ^= mixed >> 29;
	if ((row * ROW + number) % FAR_EVERY == 0)
		return mixed % work.n;
	return (row + work.n + mixed % (2 * NEAR) - NEAR) % work.n;
}

static void csr_make(size_t kib)
{
	work.n = kib * 1024 / (ROW * 12 + 2 * 8);
	work.a = make_array(work.n * ROW * sizeof(double));
	work.column = make_array(work.n * ROW * sizeof(unsigned));
	work.b = make_array(work.n * sizeof(double));
	work.c = make_array(work.n * sizeof(double));
	for (size_t row = 0; row < work.n; row++) {
		work.b[row] = 1;
		work.c[row] = 0;
		for (size_t k = 0; k < ROW; k++) {
			work.a[row * ROW + k] = 0.5;
			work.column[row * ROW + k] = (unsigned)column_of(row, k);
		}
	}
}

static void csr_pass(unsigned t)
{
	const double *x = work.b;

	for (size_t row = part(work.n, t); row < part(work.n, t + 1); row++) {
		double sum = 0;

		for (size_t k = row * ROW; k < (row + 1) * ROW; k++)
			sum += work.a[k] * x[work.column[k]];
		work.c[row] = sum;
	}
}

static void csr_tell(unsigned t, FILE *out)
{
	size_t first = part(work.n, t), rows = part(work.n, t + 1) - first;

	tell_all(out, t, work.a + first * ROW, rows * ROW * sizeof(double));
	tell_all(out, t, work.column + first * ROW, rows * ROW * sizeof(unsigned));
	tell_all(out, t, work.c + first, rows * sizeof(double));
	tell_all(out, t, work.b + first, rows * sizeof(double));                                     /* near */
	tell(out, t, work.b, work.n * sizeof(double), (double)(rows * ROW) / FAR_EVERY);  /* far */
}

static const struct kernel kernels[] = {
	{ "triad", triad_make, triad_pass, triad_tell },
	{ "stencil", stencil_make, stencil_pass, stencil_tell },
	{ "csr", csr_make, csr_pass, csr_tell },
};

/* ---- threads -------------------------------------------------------------------------------------------------- */

static void sit_on(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static void *worker(void *arg)
{
	unsigned t = (unsigned)(size_t)arg;
	nsched_thread_t *thread = NULL;

	sit_on(t);
	work.tid[t] = (int)syscall(SYS_gettid);
	if (nsched_thread_register(work.nsched, &thread))
		fail("nsched_thread_register");
	pthread_barrier_wait(&work.pass);
	while (!work.stop) /* nobody waits for the others: a thread that waits is seen less */
		work.kernel->pass(t);
	nsched_thread_unregister(thread);
	return NULL;
}

static void tell_pages(FILE *out)
{
	for (unsigned k = 0; k < work.arrays; k++)
		for (size_t at = 0; at < work.array[k].bytes; at += PAGE) {
			void *page = work.array[k].at + at;
			int node = -1;

			if (syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0) == 0 && node >= 0)
				fprintf(out, "page %lx 1 %d\n", (unsigned long)(uintptr_t)page, node);
		}
}

static void tell_truth(const char *folder)
{
	char name[PATH_MOST];
	FILE *out;

	snprintf(name, sizeof(name), "%s/%s.situation", folder, work.kernel->name);
	if (nsched_report(work.nsched, name))
		fail(name);
	snprintf(name, sizeof(name), "%s/%s.truth", folder, work.kernel->name);
	out = fopen(name, "w");
	if (!out)
		fail(name);
	for (unsigned t = 0; t < work.threads; t++)
		work.kernel->tell(t, out);
	tell_pages(out);
	if (fclose(out))
		fail(name);
}

static void run(unsigned seconds, const char *folder)
{
	pthread_t thread[THREADS_MOST];

	pthread_barrier_init(&work.pass, NULL, work.threads + 1);
	if (nsched_open(NULL, &work.nsched) || nsched_start(work.nsched))
		fail("nsched_open");
	for (unsigned t = 0; t < work.threads; t++)
		if (pthread_create(&thread[t], NULL, worker, (void *)(size_t)t))
			fail("pthread_create");
	pthread_barrier_wait(&work.pass);
	sleep(seconds);
	tell_truth(folder);
	work.stop = true;
	for (unsigned t = 0; t < work.threads; t++)
		pthread_join(thread[t], NULL);
	nsched_close(work.nsched);
}

int main(int argc, char **argv)
{
	unsigned long threads = argc == 6 ? strtoul(argv[2], NULL, 10) : 0;

	for (unsigned i = 0; i < sizeof(kernels) / sizeof(*kernels) && threads >= 1 && threads <= THREADS_MOST; i++)
		if (strcmp(argv[1], kernels[i].name) == 0)
			work.kernel = &kernels[i];
	if (!work.kernel) {
		fprintf(stderr, "usage: owners triad|stencil|csr THREADS KIB SECONDS FOLDER\n");
		return 2;
	}
	work.threads = (unsigned)threads;
	work.kernel->make(strtoul(argv[3], NULL, 10));
	run((unsigned)strtoul(argv[4], NULL, 10), argv[5]);
	return 0;
}
