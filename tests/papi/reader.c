/* A program of somebody who has PAPI, and two threads; it reads what it is told to by name, as papi_command_line
 * does, and knows nothing of nsched. PAPI is initialized first of all, before any thread.
 * usage: reader SECONDS EVENT... */
#include <papi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 32 << 20, EVENTS = 16 };

static atomic_int stop;

static void *work(void *arg)
{
	char *data = arg;
	while (!atomic_load(&stop))
		for (size_t i = 0; i < BYTES && !atomic_load(&stop); i += 64) data[i]++;
	return NULL;
}

static int fail(const char *what, int ret)
{
	fprintf(stderr, "reader: %s: %s\n", what, PAPI_strerror(ret));
	return 1;
}

int main(int argc, char **argv)
{
	long long value[EVENTS];
	pthread_t thread[2];
	int set = PAPI_NULL, ret;
	if (argc < 3 || argc > EVENTS) return 2;
	ret = PAPI_library_init(PAPI_VER_CURRENT);
	if (ret != PAPI_VER_CURRENT) return fail("init", ret);
	if ((ret = PAPI_create_eventset(&set)) != PAPI_OK) return fail("create", ret);
	for (int i = 2; i < argc; i++)
		if ((ret = PAPI_add_named_event(set, argv[i])) != PAPI_OK) return fail(argv[i], ret);
	if ((ret = PAPI_start(set)) != PAPI_OK) return fail("start", ret);
	for (int i = 0; i < 2; i++) {
		char *data = malloc(BYTES);
		memset(data, 1, BYTES);
		pthread_create(&thread[i], NULL, work, data);
	}
	sleep((unsigned)atoi(argv[1]));
	if ((ret = PAPI_stop(set, value)) != PAPI_OK) return fail("stop", ret);
	for (int i = 2; i < argc; i++) printf("%s %lld\n", argv[i], value[i - 2]);
	atomic_store(&stop, 1);
	for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
	return 0;
}
