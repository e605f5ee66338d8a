/* How to get what was refused: the exact sysctl, capability or container flag. */
#include "doctor.h"

#include <errno.h>
#include <string.h>

enum {
	CAPABILITY_ADMIN = 21, CAPABILITY_PERFMON = 38, /* numbers of linux/capability.h; the second is of Linux 5.8 */
	PARANOID_MOST = 2,                              /* above it an ordinary user gets no event */
	SECCOMP_FILTER = 2,
};

static bool has(const struct doctor_limits *own, int capability)
{
	return own->capabilities >> capability & 1;
}

static bool may_perf(const struct doctor_limits *own)
{
	return has(own, CAPABILITY_PERFMON) || has(own, CAPABILITY_ADMIN);
}

static const char *perf_remedy(const struct doctor_limits *own, const struct doctor_machine *machine)
{
	if (own->seccomp == SECCOMP_FILTER && !may_perf(own))
		return "container: docker or podman run --cap-add PERFMON; Kubernetes: capabilities: add: [PERFMON]";
	if (own->seccomp == SECCOMP_FILTER)
		return "container: its seccomp profile must allow perf_event_open (--security-opt seccomp=FILE)";
	if (machine->perf_paranoid_known && machine->perf_paranoid > PARANOID_MOST && !may_perf(own))
		return "root: sysctl -w kernel.perf_event_paranoid=2 (to stay: /etc/sysctl.d), or CAP_PERFMON";
	return "root: sysctl -w kernel.perf_event_mlock_kb=8192 (ring memory), or a security module forbids it";
}

/* Counting for the whole machine only tells more: nothing that nsched does needs it. */
static const char *count_remedy(const struct doctor_limits *own, const struct doctor_machine *machine)
{
	if (own->seccomp == SECCOMP_FILTER)
		return perf_remedy(own, machine);
	if (machine->perf_paranoid_known && machine->perf_paranoid > 0 && !may_perf(own))
		return "if wanted: root: sysctl -w kernel.perf_event_paranoid=0, or CAP_PERFMON";
	return "a security module forbids it: ask the administrator";
}

static const char *call_remedy(const struct doctor_limits *own)
{
	if (own->seccomp == SECCOMP_FILTER)
		return "container: --security-opt seccomp=FILE that allows it (Docker's own does not), or =unconfined";
	return "a security module or a filter forbids it: ask the administrator";
}

void remedy_for(const char *why, int error, bool is_perf, const struct doctor_limits *own, const struct doctor_machine *machine,
                char remedy[DOCTOR_LINE])
{
	const char *words = "";

	if (error != 0 && strstr(why, "numa_balancing") != NULL)
		words = "root: sysctl -w kernel.numa_balancing=1";
	else if (error == -EACCES || error == -EPERM)
		words = strstr(why, "whole machine") != NULL ? count_remedy(own, machine) : is_perf ? perf_remedy(own, machine) : call_remedy(own);
	else if (error == -EMFILE)
		words = "ulimit -n: more open files";
	snprintf(remedy, DOCTOR_LINE, "%s", words);
}
