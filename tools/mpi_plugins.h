/* Which MPI plugin a program gets preloaded. */
#ifndef NSCHED_MPI_PLUGINS_H
#define NSCHED_MPI_PLUGINS_H

/* Puts the plugin of the MPI family that this process was started by into LD_PRELOAD, or those of both
 * families where that is not known yet: `program` starts ranks itself, or the launcher serves both. (The
 * wrong one does no harm, each call goes a step further.) Nothing for programs that are no ranks. The plugins lie
 * beside `library`; they need not be there. 0 or -ENOMEM. */
int mpi_plugins_export(const char *library, const char *program);

#endif
