/* Children and other images: what they find is what they would find without nsched. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

extern char **environ;

static int status_of(pid_t child)
{
	int status = 0;
	if (child < 0 || waitpid(child, &status, 0) != child) return -1;
	return status;
}

static long serial(void)
{
	long sum = 0;
	for (int i = 0; i < 1000000; i++) sum += i % 7;
	return sum;
}

static void fork_and_live(void *arg)
{
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		printf("child: %ld, mask %s\n", serial(), victim_mask_kept() ? "kept" : "changed");
		fflush(stdout);
		_exit(3);
	}
	printf("%s: status %x\n", (const char *)arg, status_of(child));
}

static int forks(void)
{
	work(200);
	fork_and_live((char[]){ "outside" });
	work_with(100, 2, fork_and_live, (char[]){ "inside" });
	work(100);
	return 0;
}

/* The child goes through exit() and its handlers. */
static int fork_exit(void)
{
	work(200);
	fflush(stdout);
	pid_t child = fork();
	if (!child) exit(serial() > 0 ? 4 : 5);
	printf("status %x\n", status_of(child));
	work(100);
	return 0;
}

/* Many, while threads work: none is lost or late. */
static int fork_storm(void)
{
	int ended = 0;
	for (int i = 0; i < 60; i++) {
		work(1);
		pid_t child = fork();
		if (!child) _exit(i);
		ended += status_of(child) == i << 8;
	}
	printf("%d ended\n", ended);
	return 0;
}

static void become(void)
{
	char *const arguments[] = { (char *)(uintptr_t)victim_self, (char[]){ "mask" }, NULL };
	execv(victim_self, arguments);
	_exit(127);
}

static void fork_and_become(void *arg)
{
	(void)arg;
	fflush(stdout);
	pid_t child = fork();
	if (!child) become();
	printf("status %x\n", status_of(child));
}

static int fork_exec(void)
{
	work(200);
	fork_and_become(NULL);
	work_with(100, 1, fork_and_become, NULL);
	work_with(100, 3, fork_and_become, NULL);
	return 0;
}

static void become_here(void *arg)
{
	(void)arg;
	fflush(stdout);
	become();
}

static int exec_here(void)
{
	work(300);
	become();
	return 99;
}

static int exec_worker(void)
{
	work_with(300, 2, become_here, NULL);
	return 99;
}

static void vfork_and_become(void *arg)
{
	char *const arguments[] = { (char *)(uintptr_t)victim_self, (char[]){ "mask" }, NULL };
	(void)arg;
	fflush(stdout);
	pid_t child = vfork();
	if (!child) {
		execve(victim_self, arguments, environ);
		_exit(127);
	}
	printf("status %x\n", status_of(child));
}

static int vforks(void)
{
	work(200);
	vfork_and_become(NULL);
	work_with(100, 3, vfork_and_become, NULL);
	return 0;
}

static void spawn(void *arg)
{
	char *const arguments[] = { (char *)(uintptr_t)victim_self, (char[]){ "mask" }, NULL };
	pid_t child = -1;
	(void)arg;
	fflush(stdout);
	int ret = posix_spawn(&child, victim_self, NULL, NULL, arguments, environ);
	printf("%d status %x\n", ret, status_of(child));
}

static int spawns(void)
{
	work(200);
	spawn(NULL);
	work_with(100, 3, spawn, NULL);
	return 0;
}

static void shell(void *arg)
{
	char command[4096], line[4096] = "";
	(void)arg;
	snprintf(command, sizeof command, "'%s' mask", victim_self);
	fflush(stdout);
	int ret = system(command);
	FILE *pipe = popen(command, "r");
	if (!pipe || !fgets(line, sizeof line, pipe)) printf("no pipe\n");
	printf("%x %x %s", ret, pipe ? pclose(pipe) : -1, line);
}

static int shells(void)
{
	work(200);
	shell(NULL);
	work_with(100, 1, shell, NULL);
	return 0;
}

/* The daemon's word comes through a pipe, as its parent is gone by then; nobody but it keeps the pipe open. */
static int daemons(void)
{
	char line[64] = "";
	int ends[2];
	work(200);
	fflush(stdout);
	if (pipe(ends)) return 98;
	pid_t child = fork();
	if (!child) {
		close(ends[0]);
		if (daemon(1, 1)) _exit(97);
		ssize_t put = write(ends[1], "daemon\n", 7);
		_exit(put != 7);
	}
	close(ends[1]);
	printf("status %x\n", status_of(child));
	for (size_t n = 0; n < sizeof line - 1;) {
		ssize_t got = read(ends[0], line + n, sizeof line - 1 - n);
		if (got <= 0) break;
		n += (size_t)got;
	}
	printf("%s", line);
	return 0;
}

/* This process itself, with all its threads' doings behind it */
static int daemon_self(void)
{
	work(200);
	if (daemon(1, 1)) return 98;
	printf("still here, %ld\n", serial());
	fflush(stdout);
	return 0;
}

const struct victim_case victim_children[] = {
	{ "fork", forks }, { "fork_exit", fork_exit }, { "fork_storm", fork_storm }, { "fork_exec", fork_exec }, { "exec", exec_here },
	{ "exec_worker", exec_worker }, { "vfork", vforks }, { "spawn", spawns }, { "shell", shells }, { "daemon", daemons },
	{ "daemon_self", daemon_self }, { NULL, NULL },
};
