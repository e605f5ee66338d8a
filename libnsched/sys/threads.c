#include "sys/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fields of proc(5)'s stat, counted behind the name, which may hold anything: state is 3. */
enum { FIELD_UTIME = 14, FIELD_STIME = 15, FIELD_CPU = 39, FIELD_AFTER_NAME = 3, STAT_BYTES = 1024, COMM_BYTES = 64 };

int threads_scan(threads_found *found, void *arg)
{
	DIR *dir = opendir("/proc/self/task");
	if (!dir) return -errno;
	int n = 0;
	for (struct dirent *d; (d = readdir(dir));) {
		char *end;
		long tid = strtol(d->d_name, &end, 10);
		if (tid <= 0 || *end) continue;
		found(arg, (pid_t)tid);
		n++;
	}
	closedir(dir);
	return n;
}

/* The text of /proc/self/task/TID/FILE, as much as there is room for: its bytes, or -errno. */
static int read_of(pid_t tid, const char *file, char *text, size_t room)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) return -errno;
	ssize_t n = read(fd, text, room - 1);
	int ret = n < 0 ? -errno : (int)n;
	close(fd);
	if (ret >= 0) text[ret] = 0;
	return ret;
}

struct named {
	const char *name;
	pid_t first;
};

static void look_at_name(void *arg, pid_t tid)
{
	struct named *named = arg;
	char text[COMM_BYTES];
	if (read_of(tid, "comm", text, sizeof text) <= 0) return;
	text[strcspn(text, "\n")] = 0;
	if (strcmp(text, named->name) == 0 && (!named->first || tid < named->first)) named->first = tid;
}

pid_t threads_first_named(const char *name)
{
	struct named named = { name, 0 };
	threads_scan(look_at_name, &named);
	return named.first;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int threads_parse_stat(const char *text, struct thread_times *times)
{
	const char *p = strrchr(text, ')');
	if (!p) return -EINVAL;
	memset(times, 0, sizeof *times);
	p++;
	for (int field = FIELD_AFTER_NAME; field <= FIELD_CPU; field++) {
		if (*p++ != ' ' || !*p) return -EINVAL;
		const char *end = p;
		uint64_t value = 0;
		/* this is done for each thread in each step: the fields between are passed over */
		for (; is_digit(*end) && (field == FIELD_UTIME || field == FIELD_STIME || field == FIELD_CPU); end++) value = 10 * value + (uint64_t)(*end - '0');
		if (field == FIELD_CPU && end == p) return -EINVAL;
		if (field == FIELD_CPU) times->cpu_os = (unsigned)value;
		else times->ticks += value;
		for (p = end; *p && *p != ' ' && *p != '\n';) p++;
	}
	return 0;
}

int threads_times(pid_t tid, struct thread_times *times)
{
	char text[STAT_BYTES];
	int ret = read_of(tid, "stat", text, sizeof text);
	return ret < 0 ? ret : threads_parse_stat(text, times);
}

char threads_state(pid_t tid)
{
	char text[STAT_BYTES];
	if (read_of(tid, "stat", text, sizeof text) <= 0) return 0;
	const char *name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' ? name_end[2] : 0;
}
