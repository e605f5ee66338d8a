/* A program that knows nothing of nsched; its first argument says what it does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nsched.h"

static void *work(void *unused)
{
	return unused;
}

static int one_thread(void)
{
	pthread_t thread;

	errno = ENOTTY;
	int result = pthread_create(&thread, NULL, work, NULL);

	if (result != 0 || errno != ENOTTY)
		return 1;
	return pthread_join(thread, NULL);
}

static int threads(const char *count)
{
	for (int i = 0; i < atoi(count); i++) {
		if (one_thread() != 0)
			return 1;
	}
	return 0;
}

/* The child makes a thread (or none), and ends as programs do. */
static int forked(const char *child_threads, const char *parent_threads)
{
	int status;

	fflush(stdout);
	if (threads(parent_threads) != 0)
		return 1;
	pid_t child = fork();

	if (child == 0)
		exit(threads(child_threads));
	return waitpid(child, &status, 0) == child ? status : 1;
}

/* A thread that can't be had says so as ever: no start, the same error. */
static int refused(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, (size_t)1 << 60) != 0)
		return 1;
	return pthread_create(&thread, &attributes, work, NULL) == 0;
}

/* As the OpenMP plugin: opens the core itself before the program has any thread. */
static int opened_before(const char *library)
{
	void *core = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	nsched_t *handle;

	if (core == NULL)
		return 1;
	__typeof__(&nsched_open) open_core = (__typeof__(open_core))dlsym(core, "nsched_open");
	__typeof__(&nsched_start) start_core = (__typeof__(start_core))dlsym(core, "nsched_start");

	return open_core(NULL, &handle) != 0 || start_core(handle) != 0;
}

static int print_environment(char **names)
{
	for (; *names != NULL; names++) {
		const char *value = getenv(*names);

		printf("%s=%s\n", *names, value == NULL ? "(unset)" : value);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "threads") == 0 && argc == 3)
		return threads(argv[2]);
	if (strcmp(what, "fork") == 0 && argc == 4)
		return forked(argv[2], argv[3]);
	if (strcmp(what, "refused") == 0)
		return refused();
	if (strcmp(what, "core") == 0 && argc == 3)
		return opened_before(argv[2]);
	if (strcmp(what, "environment") == 0)
		return print_environment(argv + 2);
	if (strcmp(what, "exit") == 0 && argc == 3)
		return atoi(argv[2]);
	if (strcmp(what, "signal") == 0 && argc == 3)
		return raise(atoi(argv[2]));
	if (strcmp(what, "arguments") == 0) {
		for (int i = 2; i < argc; i++)
			printf("[%s]", argv[i]);
		return printf("\n") < 0;
	}
	if (strcmp(what, "copy") == 0) {
		for (int c; (c = getchar()) != EOF;)
			putchar(c);
		return 0;
	}
	return 99;
}
