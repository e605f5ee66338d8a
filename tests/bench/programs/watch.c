/* watch: runs a command inside the machine and takes the machine's counts at equal steps of time, so that one sees how
 * they change while it runs, whatever the command is.
 *
 *     watch [-o FILE] [-l SECONDS] [-T SECONDS] [-m] COMMAND...
 *
 * -l is the step (0.5); -m turns the timing model on once the command has a child, for a command that does not do it itself:
 * what it does before (perf links for seconds of model time) is not what is measured; -T ends the command. FILE gets a line for each step, and one for the end:
 *
 *     lap 3 seconds 1.500 migrated 120
 *     end seconds 9.200 migrated 512 user 70.11 system 1.20 status 0
 *
 * seconds and migrated (pages, of the whole machine, by anyone) count from the start; user and system are CPU seconds of
 * the command and what it waited for. Each lap is also one of the timing model's, in the same order. The exit status is
 * the command's, 128 + n where signal n ended it, 124 where -T did. */
#define _GNU_SOURCE
#include "../../numabox/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILL_AFTER_S = 3, TIMED_OUT = 124 };
#define LOOK_S 0.005 /* between two looks for a child */

static struct {
	FILE *out;
	int vmstat;
	double begin_s;
	unsigned long long migrated;
	bool to_mark;   /* the model is to be turned on, and is not yet */
} watch;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Pages that the kernel has moved between nodes since it started, 0 where it does not tell. */
static unsigned long long migrated(void)
{
	static char text[16384];
	ssize_t length = pread(watch.vmstat, text, sizeof(text) - 1, 0);
	const char *line;

	text[length > 0 ? length : 0] = '\0';
	line = strstr(text, "\npgmigrate_success ");
	return line != NULL ? strtoull(line + strlen("\npgmigrate_success "), NULL, 10) : 0;
}

static void lap(unsigned number)
{
	NUMABOX_LAP();
	fprintf(watch.out, "lap %u seconds %.3f migrated %llu\n", number, now_s() - watch.begin_s, migrated() - watch.migrated);
}

static bool has_child(pid_t pid)
{
	char path[64], c;
	int file;
	bool found;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return true; /* it can't be told: then all is measured */
	found = read(file, &c, 1) == 1;
	close(file);
	return found;
}

/* Whether the command has ended within that time; its status. */
static bool ended_within(pid_t pid, double seconds, const sigset_t *child_ended, int *status)
{
	double until_s = now_s() + seconds, left_s;

	for (;;) {
		pid_t ended = waitpid(pid, status, WNOHANG);

		if (ended == pid || (ended < 0 && errno != EINTR))
			return true;
		left_s = until_s - now_s();
		if (left_s <= 0)
			return false;
		if (watch.to_mark && has_child(pid)) {
			watch.to_mark = false;
			NUMABOX_ON();
		}
		if (watch.to_mark && left_s > LOOK_S)
			left_s = LOOK_S;

		struct timespec left = { (time_t)left_s, (long)(1e9 * (left_s - (double)(time_t)left_s)) };

		sigtimedwait(child_ended, NULL, &left);
	}
}

static int run(pid_t pid, double step_s, double most_s, const sigset_t *child_ended)
{
	int status = 0;
	bool late = false;

	for (unsigned n = 1; !ended_within(pid, watch.begin_s + n * step_s - now_s(), child_ended, &status); n++) {
		lap(n);
		if (most_s > 0 && n * step_s >= most_s) {
			kill(-pid, late && n * step_s >= most_s + KILL_AFTER_S ? SIGKILL : SIGTERM);
			late = true;
		}
	}
	if (late)
		return TIMED_OUT;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void end(int status)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	fprintf(watch.out, "end seconds %.3f migrated %llu user %.2f system %.2f status %d\n", now_s() - watch.begin_s,
	        migrated() - watch.migrated, (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec,
	        (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec, status);
	fclose(watch.out);
}

static pid_t start(char **command, const sigset_t *before)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("watch: fork");
		exit(2);
	}
	if (pid == 0) {
		setpgid(0, 0);
		sigprocmask(SIG_SETMASK, before, NULL);
		execvp(command[0], command);
		fprintf(stderr, "watch: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	setpgid(pid, pid); /* whoever of the two comes first */
	return pid;
}

int main(int argc, char **argv)
{
	double step_s = 0.5, most_s = 0;
	bool mark = false;
	sigset_t child_ended, before;
	int letter, status;

	watch.out = stdout;
	while ((letter = getopt(argc, argv, "+o:l:T:m")) != -1) {
		if (letter == 'o' && (watch.out = fopen(optarg, "we")) == NULL) {
			perror(optarg);
			return 2;
		} else if (letter == 'l') {
			step_s = strtod(optarg, NULL);
		} else if (letter == 'T') {
			most_s = strtod(optarg, NULL);
		} else if (letter == 'm') {
			mark = true;
		} else if (letter == '?') {
			fprintf(stderr, "usage: watch [-o FILE] [-l SECONDS] [-T SECONDS] [-m] COMMAND...\n");
			return 2;
		}
	}
	if (optind >= argc || !(step_s >= 0.01)) {
		fprintf(stderr, "watch: no command, or no step\n");
		return 2;
	}
	sigemptyset(&child_ended);
	sigaddset(&child_ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_ended, &before);
	watch.to_mark = mark;
	watch.vmstat = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
	watch.migrated = migrated();
	watch.begin_s = now_s();
	status = run(start(argv + optind, &before), step_s, most_s, &child_ended);
	if (mark)
		NUMABOX_OFF();
	end(status);
	return status;
}
