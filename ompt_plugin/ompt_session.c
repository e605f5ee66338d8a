#include "ompt_session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "sys/quiet.h"

_Atomic uint32_t session_state;

/* Protects all of `session`, and keeps threads from registering while it is taken down. Not held while
 * closing: that waits for the helper thread and writes a report. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	nsched_config_t *config; /* kept while armed or open: a forked child opens with it too */
	nsched_t *handle;        /* NULL: not open */
	pid_t owner;             /* who armed or opened: a child inherits all this, but not the right to close it */
	uint32_t openings;       /* so far; never goes back, so that no two openings have one number */
	bool forks_watched;
} session;

void session_complain(const char *what, const char *more)
{
	char line[sizeof(nsched_error_t) + 64];
	int length = snprintf(line, sizeof(line), "nsched: %s%s", what, more), saved = errno;

	if (length > (int)sizeof(line) - 2)
		length = (int)sizeof(line) - 2;
	line[length++] = '\n';
	quiet_line(STDERR_FILENO, line, (size_t)length);
	errno = saved;
}

nsched_config_t *session_options(void)
{
	nsched_config_t *config = NULL;
	nsched_error_t error = { "" };

	if (nsched_config_create(&config) < 0)
		return NULL;
	if (nsched_config_environment(config, &error) < 0)
		session_complain(error.text, " (ignored)");
	return config;
}

bool session_wants_report(const nsched_config_t *config)
{
	char file[2]; /* its length is enough; a longer one is refused with -ENOSPC */
	int length = config == NULL ? 0 : nsched_config_get(config, "report", file, sizeof(file));

	return length > 0 || length == -ENOSPC;
}

void session_report_only(const nsched_config_t *config)
{
	nsched_t *handle = NULL;

	if (nsched_open(config, &handle) == 0)
		nsched_close(handle);
}

/* In the child of a fork: the parent's scheduler is void here, and so are its thread pointers (they
 * carry an opening's number). A lock that another thread held would never be released. */
static void forked(void)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	lock = fresh;
	session.handle = NULL;
	if (session_now() != SESSION_OFF)
		atomic_store(&session_state, SESSION_ARMED);
}

void session_arm(nsched_config_t *config)
{
	pthread_mutex_lock(&lock);
	session.config = config;
	session.owner = getpid();
	if (!session.forks_watched)
		session.forks_watched = pthread_atfork(NULL, NULL, forked) == 0;
	atomic_store(&session_state, SESSION_ARMED);
	pthread_mutex_unlock(&lock);
}

void session_begin(void)
{
	int saved = errno;

	if (pthread_mutex_trylock(&lock) != 0)
		return; /* (its answer is not in errno) */
	if (session_now() == SESSION_ARMED) {
		if (nsched_open(session.config, &session.handle) == 0) {
			/* Without its helper thread the scheduler still keeps count and reports why. */
			(void)!nsched_start(session.handle);
			session.owner = getpid();
			atomic_store(&session_state, SESSION_OPEN + session.openings++);
		} else {
			session.handle = NULL;
			atomic_store(&session_state, SESSION_OFF);
		}
	}
	pthread_mutex_unlock(&lock);
	errno = saved;
}

nsched_thread_t *session_register(uint32_t state)
{
	nsched_thread_t *thread = NULL;
	int saved = errno;

	pthread_mutex_lock(&lock);
	if (session_now() == state && nsched_thread_register(session.handle, &thread) < 0)
		thread = NULL;
	pthread_mutex_unlock(&lock);
	errno = saved;
	return thread;
}

void session_unregister(uint32_t state, nsched_thread_t *thread)
{
	int saved = errno;

	pthread_mutex_lock(&lock);
	if (session_now() == state)
		nsched_thread_unregister(thread);
	pthread_mutex_unlock(&lock);
	errno = saved;
}

void session_end(void)
{
	pthread_mutex_lock(&lock);

	nsched_config_t *config = session.config;
	nsched_t *handle = session.handle;
	bool owner = session.owner == getpid();

	atomic_store(&session_state, SESSION_OFF);
	session.config = NULL;
	session.handle = NULL;
	pthread_mutex_unlock(&lock);

	if (owner && handle != NULL)
		nsched_close(handle);
	else if (owner && session_wants_report(config))
		session_report_only(config); /* there was no region: the report says that nothing was done */
	nsched_config_destroy(config);
}
