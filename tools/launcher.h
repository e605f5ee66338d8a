/* What the launcher of an MPI job (mpirun, mpiexec, srun, ...) told this rank, by its environment. */
#ifndef NSCHED_LAUNCHER_H
#define NSCHED_LAUNCHER_H

#include <sys/types.h>

enum { LAUNCHER_JOB_BYTES = 256 };

struct launcher_job {
	const char *launcher;         /* its name for people; NULL: no launcher */
	const char *rank_text;        /* the rank in the job, as it was told; NULL: not told */
	unsigned families;            /* enum launchers_family: whose MPI its ranks may be of */
	int rank, ranks;              /* in the job; ranks 0: not told */
	int local_rank, local_ranks;  /* on this machine; local_ranks 0: not told, local_rank -1: not told */
	int default_bound;            /* 1: the launcher itself chose to bind the ranks, and nobody asked it to */
	char job[LAUNCHER_JOB_BYTES]; /* what it calls the job, "" if it does not */
	pid_t pid;                    /* the process that started the ranks of this machine */
};

/* Several launchers may be at work, one inside another: it is the innermost that counts, and each word
 * is taken only where it means this process (Slurm's batch script has the words of a rank, but is none). */
void launcher_find(struct launcher_job *job);

/* The `node`-th number of Slurm's "2(x3),1": 2, 2, 2, 1. 0 where there is none, or it is no such list. */
int launcher_slurm_tasks(const char *list, unsigned node);

#endif
