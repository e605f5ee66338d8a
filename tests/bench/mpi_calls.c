/* What a wrapped MPI call costs above the same call passed straight to the library. Both are made in this one
 * process, in turns: through the symbol that programs are bound to (the plugin's, if it is preloaded), and
 * through the library's own PMPI function. The least of many rounds counts. Prints how long MPI_Init took,
 * and a line for each kind of call: name, ns straight, ns as bound, each per call.
 * usage: mpi_calls ROUNDS [multiple], as one rank. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 2000 }; /* in a round: long against the clock, short against what disturbs */

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The functions of one way to the library. */
static struct way {
#define EACH(CALL) CALL(Sendrecv) CALL(Isend) CALL(Irecv) CALL(Wait) CALL(Waitall) CALL(Improbe) CALL(Startall) CALL(Allreduce) CALL(Bcast)
#define CALL(name) __typeof__(&MPI_##name) name;
	EACH(CALL)
#undef CALL
} bound, straight;

static int out, in;
static MPI_Request prepared[2];

static void sendrecv(const struct way *way)
{
	way->Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void isend_irecv(const struct way *way)
{
	MPI_Request request[2];

	way->Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request[0]);
	way->Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request[1]);
	way->Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void improbe(const struct way *way)
{
	MPI_Message message;
	int flag;

	way->Improbe(0, 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
}

static void startall(const struct way *way)
{
	way->Startall(2, prepared);
	way->Waitall(2, prepared, MPI_STATUSES_IGNORE);
}

static void allreduce(const struct way *way)
{
	way->Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void bcast(const struct way *way)
{
	way->Bcast(&out, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static const struct kind {
	const char *name;
	void (*call)(const struct way *way);
	int wrapped; /* calls in it that are */
} kinds[] = {
	{ "Sendrecv", sendrecv, 1 }, { "Isend/Irecv", isend_irecv, 3 }, { "Improbe", improbe, 1 },
	{ "Startall", startall, 2 }, { "Allreduce", allreduce, 1 },     { "Bcast", bcast, 1 },
};

static double once(const struct kind *kind, const struct way *way)
{
	double began = now_ns();

	for (int i = 0; i < CALLS; i++)
		kind->call(way);
	return (now_ns() - began) / CALLS / kind->wrapped;
}

static void measure(const struct kind *kind, int rounds)
{
	double least_straight = 1e99, least_bound = 1e99;

	for (int i = 0; i < rounds; i++) {
		double a = once(kind, &straight), b = once(kind, &bound);

		least_straight = a < least_straight ? a : least_straight;
		least_bound = b < least_bound ? b : least_bound;
	}
	printf("%s %.2f %.2f\n", kind->name, least_straight, least_bound);
}

static int is_library(struct dl_phdr_info *object, size_t bytes, void *found)
{
	(void)bytes;
	if (strstr(object->dlpi_name, "/libmpi.so") == NULL && strstr(object->dlpi_name, "/libmpich.so") == NULL)
		return 0;
	*(void **)found = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	return *(void **)found != NULL;
}

static void find_ways(void)
{
	void *library = NULL;

	if (!dl_iterate_phdr(is_library, &library))
		exit(2);
#define CALL(name)                                                                     \
	bound.name = (__typeof__(bound.name))dlsym(RTLD_DEFAULT, "MPI_" #name);            \
	straight.name = (__typeof__(straight.name))dlsym(library, "PMPI_" #name);          \
	if (bound.name == NULL || straight.name == NULL)                                   \
		exit(2);
	EACH(CALL)
#undef CALL
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, provided;
	double began = now_ns();

	if (argc > 2 && strcmp(argv[2], "multiple") == 0)
		MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	else
		MPI_Init(NULL, NULL);
	printf("MPI_Init 0 %.0f\n", now_ns() - began);
	find_ways();
	MPI_Recv_init(&in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &prepared[0]);
	MPI_Send_init(&out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &prepared[1]);
	for (size_t i = 0; rounds > 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		measure(&kinds[i], rounds);
	MPI_Request_free(&prepared[0]);
	MPI_Request_free(&prepared[1]);
	MPI_Finalize();
	return 0;
}
