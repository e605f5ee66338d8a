/* The launchers of parallel jobs (mpirun, srun, ...), and by which variables of the environment each tells a rank who it is:
 * one table for all who ask, of this process or of another one. */
#ifndef NSCHED_LAUNCHERS_H
#define NSCHED_LAUNCHERS_H

/* Whose MPI the ranks may be of. */
enum launchers_family { LAUNCHERS_OPEN_MPI = 1, LAUNCHERS_MPICH = 2, LAUNCHERS_EITHER = LAUNCHERS_OPEN_MPI | LAUNCHERS_MPICH };

/* Names of variables; NULL: it does not tell. */
struct launcher {
	const char *name;             /* for people */
	enum launchers_family family;
	const char *rank, *ranks;     /* in the job */
	const char *local_rank, *local_ranks; /* on the machine */
	const char *only_with;        /* without this one the others are another launcher's, or mean nothing */
	const char *job[2];           /* what the job is called */
	const char *bound;            /* is set where the launcher bound the ranks, */
	const char *asked[3];         /* and one of these where it was asked to */
};

/* The value of a variable in an environment of the caller's; NULL if it is not there. */
typedef const char *launchers_get(const void *environment, const char *variable);

/* The launcher that told the rank in the job, or the one that told the rank on the machine; NULL: none did. Several may be at
 * work, one inside another: the innermost. */
const struct launcher *launchers_of_rank(launchers_get *get, const void *environment);
const struct launcher *launchers_of_local_rank(launchers_get *get, const void *environment);

#endif
