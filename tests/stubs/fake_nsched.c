#include "fake_nsched.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nsched.h>

enum { RECORDS = 65536 }; /* later calls are counted only */

struct nsched {
	atomic_int users;
	unsigned fork;
};

struct nsched_config {
	char report[200];
};

struct nsched_thread {
	struct nsched_thread *next; /* kept, so that use after unregister is seen and not fatal */
	pthread_t owner;
	unsigned fork;
	atomic_bool live, in_region;
};

struct fake_answers fake;

static struct {
	atomic_uint used, counts[FAKE_CALLS];
	struct fake_record records[RECORDS];
	_Atomic(const char *) breach;
	_Atomic(struct nsched_thread *) threads;
	struct nsched handle;
	unsigned fork; /* how many forks this process descends from: tells it apart without a system call */
} seen;

/* ---- for the tests ------------------------------------------------------------------------------- */

void fake_reset(void)
{
	fake = (struct fake_answers){ .worthwhile = 1, .record = true };
	atomic_store(&seen.used, 0);
	atomic_store(&seen.breach, NULL);
	for (size_t i = 0; i < FAKE_CALLS; i++)
		atomic_store(&seen.counts[i], 0);
}

static void forked(void)
{
	seen.fork++;
}

__attribute__((constructor)) static void answer_from_environment(void)
{
	const char *worthwhile = getenv("FAKE_WORTHWHILE"), *record = getenv("FAKE_RECORD");

	fake_reset();
	pthread_atfork(NULL, NULL, forked);
	if (worthwhile != NULL)
		fake.worthwhile = atoi(worthwhile);
	if (record != NULL)
		fake.record = atoi(record) != 0;
}

unsigned fake_count(enum fake_call call)
{
	return atomic_load(&seen.counts[call]);
}

const struct fake_record *fake_at(unsigned i)
{
	unsigned used = atomic_load(&seen.used);

	return i < used && i < RECORDS ? &seen.records[i] : NULL;
}

const char *fake_breach(void)
{
	return atomic_load(&seen.breach);
}

/* ---- recording ------------------------------------------------------------------------------------- */

static void record(enum fake_call call, const void *key)
{
	atomic_fetch_add(&seen.counts[call], 1);

	unsigned i = atomic_fetch_add(&seen.used, 1);

	if (i < RECORDS)
		seen.records[i] = (struct fake_record){ .call = call, .thread = pthread_self(), .key = key };
}

static void breach(const char *text)
{
	const char *none = NULL;

	atomic_compare_exchange_strong(&seen.breach, &none, text);
}

static void check_thread(const nsched_thread_t *thread)
{
	if (thread == NULL)
		breach("NULL thread");
	else if (!atomic_load(&thread->live))
		breach("thread used after unregister");
	else if (!pthread_equal(thread->owner, pthread_self()))
		breach("thread of another thread used");
	else if (thread->fork != seen.fork)
		breach("thread used after fork");
}

/* ---- options --------------------------------------------------------------------------------------- */

int nsched_version(void)
{
	return NSCHED_VERSION;
}

int nsched_config_create(nsched_config_t **config)
{
	*config = fake.config_create < 0 ? NULL : calloc(1, sizeof(**config));
	if (*config == NULL)
		return -ENOMEM;
	return 0;
}

void nsched_config_destroy(nsched_config_t *config)
{
	free(config);
}

int nsched_config_environment(nsched_config_t *config, nsched_error_t *error)
{
	const char *report = getenv("NSCHED_REPORT");

	snprintf(config->report, sizeof(config->report), "%s", report == NULL ? "" : report);
	if (fake.config_environment < 0 && error != NULL)
		snprintf(error->text, sizeof(error->text), "a wrong option");
	return fake.config_environment;
}

int nsched_config_get(const nsched_config_t *config, const char *name, char *value, size_t bytes)
{
	const char *text = strcmp(name, "report") == 0 ? config->report : "";

	if (strlen(text) >= bytes)
		return -ENOSPC;
	snprintf(value, bytes, "%s", text);
	return (int)strlen(text);
}

/* ---- the scheduler ---------------------------------------------------------------------------------- */

static char report_file[200];

int nsched_worthwhile(nsched_error_t *why)
{
	(void)why;
	return fake.worthwhile;
}

/* Worse than the contract, for the seldom calls: callers inside a program's callbacks should not rely on it. */
static void spoil_errno(void)
{
	errno = EXDEV;
}

int nsched_open(const nsched_config_t *config, nsched_t **handle)
{
	spoil_errno();
	record(FAKE_OPEN, NULL);
	if (fake.open < 0)
		return fake.open;
	if (config != NULL)
		snprintf(report_file, sizeof(report_file), "%s", config->report);
	if (seen.handle.fork != seen.fork) /* a child has none of its parent's */
		atomic_store(&seen.handle.users, 0);
	seen.handle.fork = seen.fork;
	atomic_fetch_add(&seen.handle.users, 1);
	*handle = &seen.handle;
	return 0;
}

int nsched_start(nsched_t *handle)
{
	spoil_errno();
	record(FAKE_START, NULL);
	if (handle != &seen.handle)
		breach("start of no handle");
	return fake.start;
}

static void write_report(void)
{
	FILE *file = strcmp(report_file, "-") == 0 ? stderr : report_file[0] == '\0' ? NULL : fopen(report_file, "w");

	if (file == NULL)
		return;
	fprintf(file, "fake: worthwhile %d open %u start %u register %u unregister %u place %u begin %u end %u breach %s\n",
	        fake.worthwhile, fake_count(FAKE_OPEN), fake_count(FAKE_START), fake_count(FAKE_REGISTER),
	        fake_count(FAKE_UNREGISTER), fake_count(FAKE_PLACE), fake_count(FAKE_REGION_BEGIN),
	        fake_count(FAKE_REGION_END), fake_breach() == NULL ? "none" : fake_breach());
	if (file != stderr)
		fclose(file);
}

int nsched_close(nsched_t *handle)
{
	record(FAKE_CLOSE, NULL);
	if (handle != &seen.handle || handle->fork != seen.fork || atomic_fetch_sub(&handle->users, 1) < 1) {
		breach("close of what is not open in this process");
		return -EINVAL;
	}
	write_report();
	return 0;
}

/* ---- threads ---------------------------------------------------------------------------------------- */

int nsched_thread_register(nsched_t *handle, nsched_thread_t **thread)
{
	spoil_errno();
	record(FAKE_REGISTER, NULL);
	if (handle == NULL || handle->fork != seen.fork || atomic_load(&handle->users) < 1)
		breach("register without an open handle");
	if (fake.thread_register < 0)
		return fake.thread_register;
	*thread = calloc(1, sizeof(**thread));
	if (*thread == NULL)
		return -ENOMEM;
	(*thread)->owner = pthread_self();
	(*thread)->fork = seen.fork;
	atomic_store(&(*thread)->live, true);
	(*thread)->next = atomic_load(&seen.threads);
	while (!atomic_compare_exchange_weak(&seen.threads, &(*thread)->next, *thread))
		continue;
	return 0;
}

void nsched_thread_unregister(nsched_thread_t *thread)
{
	spoil_errno();
	record(FAKE_UNREGISTER, NULL);
	check_thread(thread);
	if (thread != NULL)
		atomic_store(&thread->live, false);
}

int nsched_thread_place(nsched_thread_t *thread)
{
	if (!fake.record)
		return fake.place;
	record(FAKE_PLACE, NULL);
	check_thread(thread);
	return fake.place;
}

void nsched_region_begin(nsched_thread_t *thread, const void *key)
{
	if (!fake.record)
		return;
	record(FAKE_REGION_BEGIN, key);
	check_thread(thread);
	if (thread != NULL)
		atomic_store(&thread->in_region, true);
}

void nsched_region_end(nsched_thread_t *thread)
{
	if (!fake.record)
		return;
	record(FAKE_REGION_END, NULL);
	check_thread(thread);
	if (thread != NULL && !atomic_exchange(&thread->in_region, false))
		breach("region ended that had not begun");
}

void nsched_loop_chunk(nsched_thread_t *thread, uint64_t start)
{
	if (!fake.record)
		return;
	record(FAKE_LOOP_CHUNK, (const void *)(uintptr_t)start);
	check_thread(thread);
	if (thread != NULL && !atomic_load(&thread->in_region))
		breach("chunk outside of a region");
}

void nsched_mem_touch(nsched_thread_t *thread, const void *addr)
{
	if (!fake.record)
		return;
	record(FAKE_MEM_TOUCH, addr);
	check_thread(thread);
	if (addr == NULL)
		breach("touch of no memory");
}
