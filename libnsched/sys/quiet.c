#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sigtimedwait; the plugins are built without */
#endif
#include "sys/quiet.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static const int raised[] = { SIGPIPE, SIGXFSZ };

void quiet_begin(struct quiet *quiet)
{
	sigset_t ours, pending;
	int saved = errno;

	sigemptyset(&pending);
	sigpending(&pending);
	sigemptyset(&ours);
	for (unsigned i = 0; i < sizeof(raised) / sizeof(*raised); i++) {
		sigaddset(&ours, raised[i]);
		quiet->pending[i] = sigismember(&pending, raised[i]) == 1;
	}
	pthread_sigmask(SIG_BLOCK, &ours, &quiet->before);
	errno = saved;
}

void quiet_end(struct quiet *quiet)
{
	static const struct timespec now = { 0, 0 };
	int saved = errno;

	for (unsigned i = 0; i < sizeof(raised) / sizeof(*raised); i++) {
		sigset_t one;

		sigemptyset(&one);
		sigaddset(&one, raised[i]);
		while (!quiet->pending[i] && sigtimedwait(&one, NULL, &now) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
	errno = saved;
}

void quiet_line(int fd, const char *line, size_t bytes)
{
	struct quiet quiet;
	int saved = errno;

	quiet_begin(&quiet);
	if (write(fd, line, bytes) < 0) { }
	quiet_end(&quiet);
	errno = saved;
}
