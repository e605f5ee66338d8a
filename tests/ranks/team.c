/* Processes of several threads, each thread with memory of its own that the process's first thread has touched:
 * the ranks of an MPI job (WITH_MPI: threads of OpenMP), or processes that fork (pthreads).
 *
 * usage: team SECONDS MIB THREADS [PROCESSES]      MIB for each thread; PROCESSES where there is no MPI
 *
 * Each prints one line at its end: process 2: node 1, threads 2, pages 1024, local 1024; the node is -1 where
 * its threads are on several. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_MPI
#include <mpi.h>
#include <omp.h>
#else
#include <pthread.h>
#endif

enum { PAGE = 4096, MOST = 64, BATCH = 512, STRIDE = 64 };

struct part {
	char *memory;
	size_t bytes;
	double end_s;
	int node;
	long pages, local;
	unsigned long sum;
};

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void count_pages(struct part *part)
{
	unsigned cpu, node;
	if (syscall(SYS_getcpu, &cpu, &node, NULL)) return;
	part->node = (int)node;
	for (size_t at = 0; at < part->bytes; at += (size_t)BATCH * PAGE) {
		void *page[BATCH];
		int status[BATCH];
		unsigned long n = 0;
		for (; n < BATCH && at + n * PAGE < part->bytes; n++) page[n] = part->memory + at + n * PAGE;
		if (syscall(SYS_move_pages, 0, n, page, NULL, status, 0)) return;
		for (unsigned long i = 0; i < n; i++) part->local += status[i] == part->node;
		part->pages += (long)n;
	}
}

static void *work(void *arg)
{
	struct part *part = arg;
	while (now_s() < part->end_s)
		for (size_t at = 0; at < part->bytes; at += STRIDE) part->sum += (unsigned long)part->memory[at]++;
	count_pages(part);
	return NULL;
}

static void run_threads(struct part *part, int threads)
{
#ifdef WITH_MPI
#pragma omp parallel num_threads(threads)
	work(&part[omp_get_thread_num()]);
#else
	pthread_t thread[MOST];
	for (int t = 1; t < threads; t++)
		if (pthread_create(&thread[t], NULL, work, &part[t])) exit(3);
	work(&part[0]);
	for (int t = 1; t < threads; t++) pthread_join(thread[t], NULL);
#endif
}

static void process(int number, double seconds, size_t mib, int threads)
{
	static struct part part[MOST];
	long pages = 0, local = 0;
	int node;
	double end_s = now_s() + seconds;
	for (int t = 0; t < threads; t++) {
		part[t] = (struct part){ .bytes = mib << 20, .end_s = end_s, .node = -1 };
		part[t].memory = mmap(NULL, part[t].bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (part[t].memory == MAP_FAILED) exit(3);
		memset(part[t].memory, 1, part[t].bytes);
	}
	run_threads(part, threads);
	node = part[0].node;
	for (int t = 0; t < threads; t++) {
		if (part[t].node != node) node = -1;
		pages += part[t].pages;
		local += part[t].local;
	}
	printf("process %d: node %d, threads %d, pages %ld, local %ld\n", number, node, threads, pages, local);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	size_t mib = argc > 2 ? (size_t)atol(argv[2]) : 1;
	int threads = argc > 3 ? atoi(argv[3]) : 2, number = 0, failed = 0;
	if (threads < 1 || threads > MOST) return 2;
#ifdef WITH_MPI
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &number);
	process(number, seconds, mib, threads);
	MPI_Finalize();
#else
	int processes = argc > 4 ? atoi(argv[4]) : 1;
	for (; number < processes; number++) {
		pid_t pid = fork();
		if (pid < 0) return 3;
		if (pid == 0) {
			process(number, seconds, mib, threads);
			exit(0);
		}
	}
	for (int status; wait(&status) > 0;) failed |= status != 0;
#endif
	return failed;
}
