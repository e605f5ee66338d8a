/* What a process is allowed: its cgroup's cpuset and quota (version 2, or 1 where that has the controller), its
 * capabilities, and whether a filter of system calls is over it. */
#include "doctor.h"

#include <stdlib.h>
#include <string.h>

#include "libnsched/sys/cpulist.h"

enum { DEPTH = 64 }; /* folders of a cgroup's path that are walked up */

/* Where a controller of version 1, and where version 2 is mounted. */
static const char *const cpuset_folders[] = { "/sys/fs/cgroup/cpuset", "/dev/cpuset" };
static const char *const cpu_folders[] = { "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct" };
static const char *const unified_folders[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

/* The path of the line of /proc/PID/cgroup that has the controller ("cpuset"; "" for version 2's line "0::"). */
static bool cgroup_path(const char *text, const char *controller, char *path, size_t bytes)
{
	for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
		line += *line == '\n';

		const char *list = strchr(line, ':'), *name = list == NULL ? NULL : strchr(list + 1, ':');
		size_t length = strlen(controller);

		if (name == NULL)
			continue;
		for (const char *word = list + 1; word <= name; word += strcspn(word, ",:") + 1) {
			if (strncmp(word, controller, length) == 0 && (word[length] == ',' || word[length] == ':')) {
				snprintf(path, bytes, "%.*s", (int)strcspn(name + 1, "\n"), name + 1);
				return true;
			}
		}
	}
	return false;
}

/* Cuts the last folder off; false at the top. */
static bool go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash == NULL || path[0] == '\0' || path[1] == '\0')
		return false;
	*slash = '\0';
	return true;
}

/* A list from the first folder, from the process's own upwards, that has the file and something in it: version 2 has
 * it only where the controller is on, and in a container the outer path may not be there at all. */
static bool find_list(const struct doctor_files *files, const char *mount, const char *path, const char *file, struct cpu_mask *mask)
{
	char folder[DOCTOR_LINE], line[4096];

	snprintf(folder, sizeof(folder), "%s", path);
	for (int i = 0; i < DEPTH; i++) {
		if (files_line(files, line, sizeof(line), "%s%s/%s", mount, folder, file) && cpulist_parse(line, mask) == 0)
			return true;
		if (!go_up(folder))
			break;
	}
	return files_line(files, line, sizeof(line), "%s/%s", mount, file) && cpulist_parse(line, mask) == 0;
}

static bool find_in(const struct doctor_files *files, const char *const mounts[2], const char *path, const char *file, struct cpu_mask *mask)
{
	return find_list(files, mounts[0], path, file, mask) || find_list(files, mounts[1], path, file, mask);
}

static void look_at_cpuset(struct doctor_limits *limits, const struct doctor_files *files, const char *cgroups)
{
	char path[DOCTOR_LINE];
	bool cpus = false, mems = false;

	if (cgroup_path(cgroups, "cpuset", path, sizeof(path))) {
		cpus = find_in(files, cpuset_folders, path, "cpuset.effective_cpus", &limits->cpus) ||
		       find_in(files, cpuset_folders, path, "cpuset.cpus", &limits->cpus);
		mems = find_in(files, cpuset_folders, path, "cpuset.effective_mems", &limits->mems_os) ||
		       find_in(files, cpuset_folders, path, "cpuset.mems", &limits->mems_os);
	} else if (cgroup_path(cgroups, "", path, sizeof(path))) {
		cpus = find_in(files, unified_folders, path, "cpuset.cpus.effective", &limits->cpus);
		mems = find_in(files, unified_folders, path, "cpuset.mems.effective", &limits->mems_os);
	}
	if (!cpus)
		mask_clear(&limits->cpus);
	if (!mems)
		mask_clear(&limits->mems_os);
	if (cgroup_path(cgroups, "", path, sizeof(path)) || cgroup_path(cgroups, "cpuset", path, sizeof(path)))
		memcpy(limits->cgroup, path, sizeof(path));
	text_clean(limits->cgroup);
}

static void take_quota(struct doctor_limits *limits, long long quota, long long period)
{
	double cpus = quota > 0 && period > 0 ? (double)quota / (double)period : 0;

	if (cpus > 0 && (limits->quota_cpus == 0 || cpus < limits->quota_cpus))
		limits->quota_cpus = cpus;
}

static void look_at_throttled(struct doctor_limits *limits, const struct doctor_files *files, const char *mount, const char *folder)
{
	char *text = files_text(files, NULL, "%s%s/cpu.stat", mount, folder);

	if (text == NULL)
		return;

	long long times = text_number(text, "nr_throttled ", -1);

	if (times > limits->throttled)
		limits->throttled = times;
	free(text);
}

/* The tightest of all folders on the way up counts. */
static void look_at_quotas(struct doctor_limits *limits, const struct doctor_files *files, const char *mount, const char *path)
{
	char folder[DOCTOR_LINE], line[DOCTOR_WORD];

	snprintf(folder, sizeof(folder), "%s", strcmp(path, "/") == 0 ? "" : path);
	for (int i = 0; i < DEPTH; i++) {
		double before = limits->quota_cpus;

		if (files_line(files, line, sizeof(line), "%s%s/cpu.max", mount, folder)) /* "max 100000", "200000 100000" */
			take_quota(limits, text_number(line, NULL, 0), text_number(line, " ", 0));
		else
			take_quota(limits, files_number(files, 0, "%s%s/cpu.cfs_quota_us", mount, folder),
			           files_number(files, 0, "%s%s/cpu.cfs_period_us", mount, folder));
		if (limits->quota_cpus != before)
			look_at_throttled(limits, files, mount, folder);
		if (folder[0] == '\0')
			break;
		if (!go_up(folder))
			folder[0] = '\0';
	}
}

static void look_at_quota(struct doctor_limits *limits, const struct doctor_files *files, const char *cgroups)
{
	char path[DOCTOR_LINE];

	limits->throttled = -1;
	if (cgroup_path(cgroups, "cpu", path, sizeof(path))) {
		look_at_quotas(limits, files, cpu_folders[0], path);
		look_at_quotas(limits, files, cpu_folders[1], path);
	} else if (cgroup_path(cgroups, "", path, sizeof(path))) {
		look_at_quotas(limits, files, unified_folders[0], path);
	}
}

static void look_at_status(struct doctor_limits *limits, const struct doctor_files *files, long pid)
{
	char *text = files_text(files, NULL, "/proc/%ld/status", pid), value[4096];
	struct cpu_mask mems;

	limits->seccomp = -1;
	if (text == NULL)
		return;
	if (text_field(text, "Seccomp", value, sizeof(value)))
		limits->seccomp = (int)text_number(value, NULL, -1);
	if (text_field(text, "CapEff", value, sizeof(value)))
		limits->capabilities = strtoull(value, NULL, 16);
	/* The kernel's last word on the nodes, whatever the cgroup's files say. */
	if (text_field(text, "Mems_allowed_list", value, sizeof(value)) && cpulist_parse(value, &mems) == 0)
		limits->mems_os = mems;
	free(text);
}

void limits_look(struct doctor_limits *limits, struct doctor_files *files, const struct doctor_machine *machine, long pid)
{
	char *cgroups = files_text(files, NULL, "/proc/%ld/cgroup", pid);
	unsigned left = 0;

	memset(limits, 0, sizeof(*limits));
	if (cgroups != NULL) {
		look_at_cpuset(limits, files, cgroups);
		look_at_quota(limits, files, cgroups);
	} else {
		files_gap(files, "cgroup: /proc/%ld/cgroup can't be read", pid);
		limits->throttled = -1;
	}
	free(cgroups);
	look_at_status(limits, files, pid);
	for (unsigned i = 0; i < MACHINE_CPUS / 64; i++) {
		limits->cpus.word[i] &= machine->online.word[i];
		left |= limits->cpus.word[i] != 0;
	}
	if (left == 0)
		limits->cpus = machine->online;
}
