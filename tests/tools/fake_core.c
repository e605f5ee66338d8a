/* A libnsched.so.0 that does nothing and writes each call, with the process's number relative to the
 * first, into the file $FAKE_LOG: so the preloaded start is tested on machines with one node. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nsched.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t helper;

static void say(const char *call)
{
	const char *name = getenv("FAKE_LOG"), *first = getenv("NSCHED_LAUNCH_PID");
	FILE *log = name == NULL ? NULL : fopen(name, "a");

	if (log != NULL) {
		fprintf(log, "%s %s\n", first != NULL && atoi(first) == getpid() ? "first" : "other", call);
		fclose(log);
	}
	errno = EXDEV;
}

int nsched_config_create(nsched_config_t **config)
{
	say("config_create");
	*config = malloc(1);
	return *config == NULL ? -ENOMEM : 0;
}

int nsched_config_environment(nsched_config_t *config, nsched_error_t *error)
{
	(void)config;
	if (getenv("NSCHED_POLCY") == NULL)
		return 0;
	snprintf(error->text, sizeof(error->text), "no such variable: NSCHED_POLCY");
	return -ENOENT;
}

void nsched_config_destroy(nsched_config_t *config)
{
	free(config);
}

int nsched_open(const nsched_config_t *config, nsched_t **handle)
{
	(void)config;
	pthread_mutex_lock(&lock);
	say("open");
	pthread_mutex_unlock(&lock);
	*handle = (nsched_t *)&lock;
	return getenv("FAKE_OPEN_FAILS") == NULL ? 0 : -ENOMEM;
}

static void *help(void *unused)
{
	return unused;
}

/* As the real one: makes its helper thread with a lock of its own held, which a second nsched_open
 * from inside pthread_create would wait for. */
int nsched_start(nsched_t *handle)
{
	(void)handle;
	say("start");
	pthread_mutex_lock(&lock);
	int result = pthread_create(&helper, NULL, help, NULL);

	pthread_mutex_unlock(&lock);
	return -result;
}

int nsched_close(nsched_t *handle)
{
	(void)handle;
	say("close");
	return 0;
}

int nsched_exchange_source(nsched_t *handle, const nsched_exchange_source_t *source)
{
	char call[64];

	(void)handle;
	snprintf(call, sizeof(call), "source %d of %d", source->rank, source->ranks);
	say(call);
	return 0;
}

int nsched_masks_changed(nsched_t *handle)
{
	(void)handle;
	say("masks_changed");
	return 0;
}
