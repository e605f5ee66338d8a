/* Ways in which a rank may live and end, told by the first argument. */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int me, ranks, out = 1, in;

static void start(void)
{
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static void around(void)
{
	MPI_Sendrecv(&out, 1, MPI_INT, (me + 1) % ranks, 0, &in, 1, MPI_INT, (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
	             MPI_STATUS_IGNORE);
}

/* An error handler that does not return to the call. */
static jmp_buf away;

static void jump(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	longjmp(away, 1);
}

static void leave_a_call(void)
{
	MPI_Errhandler handler;

	MPI_Comm_create_errhandler(jump, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	if (setjmp(away) == 0)
		MPI_Send(&out, 1, MPI_INT, 5, 0, MPI_COMM_SELF); /* there is no rank 5 */
}

/* Another process, that is none of the job's ranks. */
static void spawn(const char *self)
{
	char *arguments[] = { "child", NULL };
	MPI_Comm child;

	MPI_Comm_spawn(self, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
	if (me == 0)
		MPI_Send(&out, 1, MPI_INT, 0, 0, child);
	MPI_Comm_disconnect(&child);
}

static int be_child(void)
{
	MPI_Comm parent;

	MPI_Init(NULL, NULL);
	MPI_Comm_get_parent(&parent);
	MPI_Recv(&in, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
	MPI_Comm_disconnect(&parent);
	MPI_Finalize();
	return 0;
}

/* A child that ends as a program does, with everything that was to be done at the end. */
static void fork_child(void)
{
	pid_t child = fork();

	if (child == 0)
		exit(0);
	waitpid(child, NULL, 0);
}

#if MPI_VERSION >= 4
static void session(void)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "nsched", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &ranks);
	MPI_Sendrecv(&out, 1, MPI_INT, (me + 1) % ranks, 0, &in, 1, MPI_INT, (me + ranks - 1) % ranks, 0, comm, MPI_STATUS_IGNORE);
	MPI_Comm_free(&comm);
	MPI_Group_free(&group);
	MPI_Session_finalize(&session);
}
#endif

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int initialized;

	if (strcmp(way, "never") == 0)
		return 4;
	if (strcmp(way, "child") == 0)
		return be_child();
#if MPI_VERSION >= 4
	if (strcmp(way, "session") == 0) {
		session();
		return 0;
	}
#endif
	start();
	around();
	printf("rank %d got %d\n", me, in);
	fflush(stdout);
	if (strcmp(way, "quit") == 0)
		exit(3); /* without MPI_Finalize */
	if (strcmp(way, "abort") == 0 && me == ranks - 1)
		MPI_Abort(MPI_COMM_WORLD, 6);
	if (strcmp(way, "kill") == 0 && me == ranks - 1)
		raise(SIGKILL);
	if (strcmp(way, "abort") == 0 || strcmp(way, "kill") == 0)
		for (;;)
			pause();
	if (strcmp(way, "spawn") == 0)
		spawn(argv[0]);
	if (strcmp(way, "fork") == 0)
		fork_child();
	if (strcmp(way, "jump") == 0)
		leave_a_call();
	MPI_Barrier(MPI_COMM_WORLD); /* not from deeper down than the call that was left: that could count as one within it */
	around();
	MPI_Finalize();
	MPI_Initialized(&initialized);
	return !initialized;
}
