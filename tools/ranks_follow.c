#define _GNU_SOURCE
#include "ranks_follow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "command.h"
#include "environment.h"
#include "libnsched/sys/cpulist.h"

/* "0-3, 4-7": what the ranks get, as many as there is room for */
static const char *list_shares(const struct follow *m, char *text, size_t bytes)
{
	struct cpu_mask share;
	char list[64];
	size_t length = 0;

	for (unsigned r = 0; r < m->ranks; r++) {
		ranks_share(m->decision, m->machine, r, &share);
		int more = snprintf(text + length, bytes - length, "%s%s", r > 0 ? ", " : "", cpulist_print(&share, list, sizeof(list)));

		if (length + (size_t)more + sizeof(" ...") > bytes) {
			snprintf(text + length, bytes - length, " ...");
			break;
		}
		length += (size_t)more;
	}
	return text;
}

/* One line for the job, by the first rank of the machine. */
static void say_jam(const struct follow *m)
{
	char shares[256];
	unsigned cpus = cpulist_count(&m->first->launch);
	const char *plural = m->ranks == 1 ? "" : "s", *were = m->ranks == 1 ? "was" : "were", *one = cpus == 1 ? "CPU" : "CPUs";

	if (!m->decision->jammed || m->job->local_rank != 0)
		return;
	if (!m->decision->widened)
		complain("%u rank%s %s bound to %u %s%s for several threads, which may be meant; --widen gives them all that %s may use",
		         m->ranks, plural, were, cpus, one, m->ranks == 1 ? "" : " each", m->job->launcher);
	else if (m->decision->verdict == SHARE_GIVEN)
		complain("%u rank%s %s bound to %u %s%s for several threads, %s; the CPUs are now %s",
		         m->ranks, plural, were, cpus, one, m->ranks == 1 ? "" : " each",
		         m->job->default_bound ? "by the launcher's default" : "and are to be widened", list_shares(m, shares, sizeof(shares)));
}

/* More ranks than CPUs: they take turns. Runtimes would start a thread for each CPU in each of them,
 * and Open MPI's ranks would wait for each other without giving up the CPU. */
static void make_room(const struct follow *m)
{
	environment_default("OMP_NUM_THREADS", "1");
	if (strcmp(m->job->launcher, "Open MPI") == 0)
		environment_default("OMPI_MCA_mpi_yield_when_idle", "1");
}

static void take_share(const struct follow *m)
{
	struct cpu_mask share;
	char list[256];
	int verdict = m->decision->verdict;

	ranks_share(m->decision, m->machine, (unsigned)m->job->local_rank, &share);
	if (verdict == SHARE_CROWDED || (verdict == SHARE_GIVEN && cpulist_count(&share) == 0)) {
		make_room(m);
		return;
	}
	if (verdict != SHARE_GIVEN || mask_equal(&share, m->launch))
		return;
	if (syscall(SYS_sched_setaffinity, 0, sizeof(share), &share) < 0)
		complain("rank %d could not be given CPUs %s: %s", m->job->rank, cpulist_print(&share, list, sizeof(list)), strerror(errno));
	else if (m->config->verbose)
		complain("rank %d, %d of %u on this machine: CPUs %s", m->job->rank, m->job->local_rank, m->ranks,
		         cpulist_print(&share, list, sizeof(list)));
}

void ranks_follow(const struct follow *m)
{
	say_jam(m);
	take_share(m);
}
