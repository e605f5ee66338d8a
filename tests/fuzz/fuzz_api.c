/* Sequences of calls of the public API, a byte each, with another byte for what is to be chosen: from the contracts, every call may follow
 * every other one, as long as what was closed is not used. It answers as the header says, keeps errno, and crashes nothing. The
 * machine of two nodes is made up (tests/stubs/two_nodes.c is linked in), so that there is something to do. */
#include "fuzz.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nsched.h"

enum { MEMORY = 1 << 16, MOST_OPEN = 3, NAMES = 6, STARTS = 2 };

static char memory[MEMORY];

static struct {
	nsched_t *handle;
	unsigned opens, starts, steps;
	nsched_thread_t *thread;
	bool source;
} now;

static void hold(bool kept)
{
	if (!kept) abort();
}

static size_t sent(void *context, int32_t from, nsched_exchange_t *peers, size_t most)
{
	(void)context;
	if (from > 1 || !most) return 0;
	peers[0] = (nsched_exchange_t){ .rank = 1, .bytes = 100, .messages = 2 };
	return 1;
}

static void opened(uint8_t choice)
{
	static const char *const names[NAMES][2] = { { "policy", "autonuma" }, { "dry_run", "1" }, { "threads", "all" }, { "sampler", "timer" },
	                                             { "bind", "none" }, { "max_chunks", "64" } };
	nsched_config_t *config = NULL;
	nsched_error_t error;
	if (now.opens == MOST_OPEN) return;
	hold(!nsched_config_create(&config));
	hold(!nsched_config_set(config, "interval_ms", "10", &error));
	if (choice) hold(!nsched_config_set(config, names[choice % NAMES][0], names[choice % NAMES][1], &error));
	nsched_t *handle = NULL;
	int ret = nsched_open(choice % 5 ? config : NULL, &handle);
	nsched_config_destroy(config);
	hold(!ret && handle && (!now.handle || handle == now.handle));
	now.handle = handle;
	now.opens++;
}

static void closed(void)
{
	if (now.opens == 1) {   /* threads and ranges go with the last one */
		nsched_thread_unregister(now.thread);
		now.thread = NULL;
		if (now.source) hold(!nsched_exchange_source(now.handle, NULL));
		now.source = false;
	}
	hold(!nsched_close(now.handle));
	if (--now.opens) return;
	hold(nsched_close(now.handle) == -EINVAL);
	memset(&now, 0, sizeof now);
}

/* gcc says so by a name, clang by a feature. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_THREAD__ || __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#else
#define UNDER_THREAD_SANITIZER 0
#endif

/* Not under the thread sanitizer: a child of one of several threads hangs there in dlopen, on a lock that is the sanitizer's own (LibIgnore). */
static void forked(void)
{
#if !UNDER_THREAD_SANITIZER
	int status;
	pid_t child = fork();
	if (!child) {
		nsched_t *own = NULL;
		if (now.handle && nsched_close(now.handle) != -EINVAL) _exit(1);
		if (nsched_open(NULL, &own) || nsched_step(own) < 0 || nsched_close(own)) _exit(2);
		_exit(0);
	}
	hold(child < 0 || (waitpid(child, &status, 0) == child && status == 0));
#else
	static bool told;
	if (!told) fprintf(stderr, "fuzz_api: the forks are left out under the thread sanitizer\n");
	told = true;
#endif
}

static void told(uint8_t choice)
{
	nsched_exchange_source_t source = { .size = sizeof source, .library = "a library", .rank = 0, .ranks = 2, .sent = sent };
	nsched_stats_t stats = { .size = choice % 3 ? sizeof stats : 0 };
	int ret;
	switch (choice % 4) {
	case 0:
		ret = nsched_exchange_source(now.handle, &source);
		hold(ret == (now.source ? -EEXIST : 0));
		now.source = true;
		break;
	case 1: hold(nsched_stats(now.handle, &stats) == (choice % 3 ? 0 : -EINVAL)); break;
	case 2: hold(nsched_report(now.handle, choice % 8 > 4 ? "/dev/null" : "/nowhere/x") <= 0); break;
	default: hold(!nsched_masks_changed(now.handle)); break;
	}
}

static void remembered(uint8_t choice)
{
	char *at = memory + choice * 256;
	size_t bytes = (size_t)(choice % 16) * 1024;
	int ret;
	switch (choice % 3) {
	case 0:
		ret = nsched_mem_attach(now.handle, "a name that is longer than the 31 characters kept", at, bytes);
		hold(bytes ? !ret || ret == -EEXIST : ret == -EINVAL);
		break;
	case 1: ret = nsched_mem_detach(now.handle, at); hold(!ret || ret == -ENOENT); break;
	default:
		ret = nsched_mem_hint(now.handle, now.thread, at, bytes, choice * UINT64_C(1000000));
		hold(!now.thread || !bytes ? ret == -EINVAL : !ret || ret == -ENOENT || ret == -ENOSPC);
		break;
	}
}

static void threaded(uint8_t choice)
{
	switch (choice % 8) {
	case 0: hold(!nsched_thread_register(now.handle, &now.thread) && now.thread); break;
	case 1: nsched_thread_unregister(now.thread); now.thread = NULL; break;
	case 2: hold(nsched_thread_place(now.thread) >= 0); break;
	case 3: nsched_region_begin(now.thread, memory + choice); break;
	case 4: nsched_region_end(now.thread); break;
	case 5: nsched_loop_chunk(now.thread, choice); break;
	case 6: nsched_mem_touch(now.thread, memory + choice); break;
	default: nsched_exec_begin(); nsched_exec_end(); break;
	}
}

static void one_call(uint8_t what, uint8_t choice)
{
	errno = ENOTTY;
	switch (what % 8) {
	case 0: opened(choice); break;
	case 1: if (now.opens) closed(); break;
	case 2: if (now.opens && now.starts++ < STARTS) hold(!nsched_start(now.handle)); break;
	case 3: if (now.opens && now.steps++ < 8) hold(nsched_step(now.handle) >= -EBUSY); break;
	case 4: if (now.opens) threaded(choice); break;
	case 5: if (now.opens) remembered(choice); break;
	case 6: if (now.opens) told(choice); break;
	default:
		if (choice == 77) forked();
		else hold(nsched_worthwhile(NULL) >= 0 && nsched_version() == NSCHED_VERSION && nsched_stats(NULL, NULL) == -EINVAL && nsched_open(NULL, NULL) == -EINVAL);
		break;
	}
	if (what % 8 != 7 && what % 8 != 0) hold(errno == ENOTTY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	if (!ready) {
		setenv("HWLOC_SYNTHETIC", "node:2 core:1 pu:1", 1);
		setenv("HWLOC_THISSYSTEM", "1", 1);
		ready = true;
	}
	for (size_t i = 0; i + 1 < size && i < 200; i += 2) one_call(data[i], data[i + 1]);
	while (now.opens) closed();
	return 0;
}
