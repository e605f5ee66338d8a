/* The public calls as a program has them, on a machine with one NUMA node: all work, and nothing happens. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <nsched.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 16, ODD_ERRNO = EXDEV };

static char memory[BYTES], folder[64];

static unsigned threads_of_process(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned n = 0;
	ck_assert_ptr_nonnull(dir);
	for (struct dirent *d; (d = readdir(dir));) n += d->d_name[0] != '.';
	closedir(dir);
	return n;
}

static nsched_t *opened(void)
{
	nsched_t *handle = NULL;
	ck_assert_int_eq(nsched_open(NULL, &handle), 0);
	ck_assert_ptr_nonnull(handle);
	return handle;
}

static const char *path(const char *name)
{
	static char text[128];
	snprintf(text, sizeof text, "%s/%s", folder, name);
	return text;
}

static char *contents(const char *file)
{
	static char text[65536];
	FILE *in = fopen(file, "re");
	ck_assert_msg(in != NULL, "there is no %s", file);
	text[fread(text, 1, sizeof text - 1, in)] = 0;
	fclose(in);
	return text;
}

START_TEST(version)
{
	ck_assert_int_eq(nsched_version(), NSCHED_VERSION);
}
END_TEST

START_TEST(worthwhile)
{
	nsched_error_t why = { "" };
	ck_assert_int_eq(nsched_worthwhile(&why), 0);
	ck_assert_ptr_nonnull(strstr(why.text, "one NUMA node"));
	ck_assert_int_eq(nsched_worthwhile(NULL), 0);
}
END_TEST

static unsigned threads_now(void)
{
	unsigned n = 0;
	DIR *dir = opendir("/proc/self/task");
	ck_assert_ptr_nonnull(dir);
	for (struct dirent *d; (d = readdir(dir));) n += d->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* The states are this machine's and kernel's; that each has its reason, or none, is not. */
START_TEST(probe)
{
	enum { MOST = 32 };
	nsched_source_t source[MOST];
	nsched_source_t first;
	unsigned threads = threads_now();   /* a sanitizer may have one of its own */
	errno = ENOTTY;
	int n = nsched_probe(source, sizeof *source, MOST);
	ck_assert_int_eq(errno, ENOTTY);
	ck_assert_int_ge(n, 3);
	ck_assert_int_le(n, MOST);
	for (int i = 0; i < n; i++) {
		ck_assert(source[i].name[0]);
		ck_assert_int_le(source[i].error, 0);
		ck_assert_msg(!source[i].error == !source[i].why[0], "%s: %d, \"%s\"", source[i].name, source[i].error, source[i].why);
	}
	ck_assert_int_eq(nsched_probe(&first, sizeof first, 1), n);
	ck_assert_str_eq(first.name, source[0].name);
	ck_assert_int_eq(nsched_probe(&first, sizeof first, 0), n);
	ck_assert_int_eq(nsched_probe(NULL, sizeof first, 1), -EINVAL);
	ck_assert_int_eq(nsched_probe(&first, sizeof first - 1, 1), -EINVAL);
	ck_assert_uint_eq(threads_now(), threads);
	nsched_t *handle;
	ck_assert_int_eq(nsched_open(NULL, &handle), 0);
	ck_assert_int_eq(nsched_probe(source, sizeof *source, MOST), -EBUSY);
	ck_assert_int_eq(nsched_close(handle), 0);
	ck_assert_int_eq(nsched_probe(source, sizeof *source, 0), n);
}
END_TEST

/* Every call, with errno as it was, and no thread beside this one. */
START_TEST(idle)
{
	nsched_t *handle;
	nsched_thread_t *thread = NULL, *again = NULL;
	nsched_stats_t stats = { .size = sizeof stats };
	unsigned threads = threads_of_process();
	errno = ODD_ERRNO;
	ck_assert_int_eq(nsched_open(NULL, &handle), 0);
	ck_assert_int_eq(nsched_start(handle), 0);
	ck_assert_int_eq(nsched_start(handle), 0);
	ck_assert_int_eq(nsched_thread_register(handle, &thread), 0);
	ck_assert_int_eq(nsched_thread_register(handle, &again), 0);
	ck_assert(thread && thread == again);
	ck_assert_int_eq(nsched_mem_attach(handle, "memory", memory, BYTES), 0);
	ck_assert_int_eq(nsched_mem_hint(handle, thread, memory + 4096, 8192, 1000000), 0);
	for (int i = 0; i < 100; i++) {
		nsched_region_begin(thread, folder);
		ck_assert_int_eq(nsched_thread_place(thread), 0);
		nsched_region_end(thread);
	}
	ck_assert_int_eq(nsched_step(handle), 0);
	ck_assert_int_eq(nsched_stats(handle, &stats), 0);
	ck_assert_int_eq(nsched_mem_hint(handle, thread, memory + 4096, 8192, 0), 0);
	ck_assert_int_eq(nsched_mem_detach(handle, memory), 0);
	ck_assert_int_eq(nsched_worthwhile(NULL), 0);
	ck_assert_int_eq(errno, ODD_ERRNO);
	ck_assert_uint_eq(threads_of_process(), threads);
	nsched_thread_unregister(thread);
	ck_assert_int_eq(nsched_close(handle), 0);
	ck_assert_int_eq(errno, ODD_ERRNO);
	ck_assert(stats.active == 0 && stats.nodes == 1 && stats.steps == 0 && stats.thread_moves == 0 && stats.moved_bytes == 0);
	ck_assert(stats.local_permille == 1001 && stats.failed_moves == 0 && stats.reverts == 0);
}
END_TEST

/* ---- refusals ----------------------------------------------------------------------------------------------- */

START_TEST(null_arguments)
{
	nsched_t *handle = opened();
	nsched_thread_t *thread;
	nsched_stats_t stats = { .size = sizeof stats };
	ck_assert_int_eq(nsched_thread_register(handle, &thread), 0);
	errno = ODD_ERRNO;
	ck_assert_int_eq(nsched_open(NULL, NULL), -EINVAL);
	ck_assert_int_eq(nsched_close(NULL), -EINVAL);
	ck_assert_int_eq(nsched_start(NULL), -EINVAL);
	ck_assert_int_eq(nsched_step(NULL), -EINVAL);
	ck_assert_int_eq(nsched_thread_register(NULL, &thread), -EINVAL);
	ck_assert_int_eq(nsched_thread_register(handle, NULL), -EINVAL);
	ck_assert_int_eq(nsched_thread_place(NULL), 0);
	nsched_region_begin(NULL, NULL);
	nsched_region_end(NULL);
	nsched_thread_unregister(NULL);
	ck_assert_int_eq(nsched_mem_attach(NULL, "m", memory, BYTES), -EINVAL);
	ck_assert_int_eq(nsched_mem_attach(handle, NULL, memory, BYTES), -EINVAL);
	ck_assert_int_eq(nsched_mem_attach(handle, "m", NULL, BYTES), -EINVAL);
	ck_assert_int_eq(nsched_mem_attach(handle, "m", memory, 0), -EINVAL);
	ck_assert_int_eq(nsched_mem_attach(handle, "m", memory, SIZE_MAX), -EINVAL);
	ck_assert_int_eq(nsched_mem_detach(NULL, memory), -EINVAL);
	ck_assert_int_eq(nsched_mem_detach(handle, NULL), -EINVAL);
	ck_assert_int_eq(nsched_mem_hint(NULL, thread, memory, BYTES, 1), -EINVAL);
	ck_assert_int_eq(nsched_mem_hint(handle, NULL, memory, BYTES, 1), -EINVAL);
	ck_assert_int_eq(nsched_mem_hint(handle, thread, NULL, BYTES, 1), -EINVAL);
	ck_assert_int_eq(nsched_mem_hint(handle, thread, memory, 0, 1), -EINVAL);
	ck_assert_int_eq(nsched_stats(NULL, &stats), -EINVAL);
	ck_assert_int_eq(nsched_stats(handle, NULL), -EINVAL);
	stats.size = sizeof stats - 1;
	ck_assert_int_eq(nsched_stats(handle, &stats), -EINVAL);
	ck_assert_int_eq(nsched_report(NULL, "-"), -EINVAL);
	ck_assert_int_eq(nsched_report(handle, NULL), -EINVAL);
	ck_assert_int_eq(nsched_report(handle, ""), -EINVAL);
	ck_assert_int_eq(errno, ODD_ERRNO);
	nsched_thread_unregister(thread);
	ck_assert_int_eq(nsched_close(handle), 0);
	ck_assert_int_eq(nsched_close(handle), -EINVAL);
	ck_assert_int_eq(errno, ODD_ERRNO);
}
END_TEST

START_TEST(ranges)
{
	nsched_config_t *config;
	nsched_t *handle;
	nsched_thread_t *thread;
	ck_assert_int_eq(nsched_config_create(&config), 0);
	ck_assert_int_eq(nsched_config_set(config, "max_ranges", "2", NULL), 0);
	ck_assert_int_eq(nsched_config_set(config, "max_hints", "1", NULL), 0);
	ck_assert_int_eq(nsched_open(config, &handle), 0);
	nsched_config_destroy(config);
	ck_assert_int_eq(nsched_thread_register(handle, &thread), 0);
	ck_assert_int_eq(nsched_mem_hint(handle, thread, memory, 1, 1), -ENOENT);
	ck_assert_int_eq(nsched_mem_attach(handle, "a", memory, 100), 0);
	ck_assert_int_eq(nsched_mem_attach(handle, "b", memory + 99, 100), -EEXIST);
	ck_assert_int_eq(nsched_mem_attach(handle, "b", memory + 100, 100), 0);
	ck_assert_int_eq(nsched_mem_attach(handle, "c", memory + 200, 100), -ENOSPC);
	ck_assert_int_eq(nsched_mem_detach(handle, memory + 1), -ENOENT);
	ck_assert_int_eq(nsched_mem_hint(handle, thread, memory + 50, 100, 1), -ENOENT);   /* over both */
	ck_assert_int_eq(nsched_mem_hint(handle, thread, memory, 100, 1), 0);
	ck_assert_int_eq(nsched_mem_hint(handle, thread, memory, 50, 1), -ENOSPC);
	ck_assert_int_eq(nsched_mem_detach(handle, memory), 0);
	ck_assert_int_eq(nsched_mem_hint(handle, thread, memory + 100, 50, 1), 0);
	ck_assert_int_eq(nsched_close(handle), 0);
}
END_TEST

/* A newer program's larger struct is filled as far as this library knows it. */
START_TEST(larger_stats)
{
	struct { nsched_stats_t stats; char more[32]; } s;
	nsched_t *handle = opened();
	memset(&s, 0x5a, sizeof s);
	s.stats.size = sizeof s;
	ck_assert_int_eq(nsched_stats(handle, &s.stats), 0);
	ck_assert_uint_eq(s.stats.size, sizeof s.stats);
	for (unsigned i = 0; i < sizeof s.more; i++) ck_assert_int_eq(s.more[i], 0x5a);
	ck_assert_int_eq(nsched_close(handle), 0);
}
END_TEST

/* ---- opening and closing -------------------------------------------------------------------------------------- */

/* All get the same one; the first one's options count; the last out closes it. */
START_TEST(opened_by_several)
{
	nsched_config_t *config;
	nsched_t *first = opened(), *second;
	ck_assert_int_eq(nsched_config_create(&config), 0);
	ck_assert_int_eq(nsched_config_set(config, "report", path("second.txt"), NULL), 0);
	ck_assert_int_eq(nsched_open(config, &second), 0);
	ck_assert_ptr_eq(first, second);
	ck_assert_int_eq(nsched_close(first), 0);
	ck_assert_int_eq(nsched_step(second), 0);
	ck_assert_int_eq(nsched_close(second), 0);
	ck_assert_int_ne(access(path("second.txt"), F_OK), 0);
	/* and it can be had again, with options of its own */
	ck_assert_int_eq(nsched_open(config, &first), 0);
	nsched_config_destroy(config);
	ck_assert_int_eq(nsched_close(first), 0);
	ck_assert_int_eq(access(path("second.txt"), F_OK), 0);
}
END_TEST

/* What is not right in the environment is told, and the rest holds. */
START_TEST(environment)
{
	setenv("NSCHED_REPORT", path("environment.json"), 1);
	setenv("NSCHED_INTERVAL_MS", "never", 1);
	nsched_t *handle = opened();
	ck_assert_int_eq(nsched_close(handle), 0);
	ck_assert_ptr_nonnull(strstr(contents(path("environment.json")), "\"idle\""));
}
END_TEST

START_TEST(forked)
{
	nsched_t *handle = opened(), *own;
	nsched_thread_t *thread, *of_child;
	int status;
	ck_assert_int_eq(nsched_thread_register(handle, &thread), 0);
	ck_assert_int_eq(nsched_mem_attach(handle, "m", memory, BYTES), 0);
	pid_t pid = fork();
	if (pid == 0) {
		/* late calls with what the parent had: no harm */
		nsched_thread_place(thread);
		nsched_region_begin(thread, memory);
		nsched_region_end(thread);
		nsched_thread_unregister(thread);
		if (nsched_close(handle) != -EINVAL) _exit(1);
		if (nsched_open(NULL, &own)) _exit(2);
		if (nsched_thread_register(own, &of_child)) _exit(3);
		if (nsched_mem_attach(own, "m", memory, BYTES)) _exit(4);
		if (nsched_step(own)) _exit(5);
		if (nsched_close(own)) _exit(6);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %#x", status);
	ck_assert_int_eq(nsched_mem_attach(handle, "m", memory, BYTES), -EEXIST);
	ck_assert_int_eq(nsched_step(handle), 0);
	ck_assert_int_eq(nsched_close(handle), 0);
}
END_TEST

/* ---- reports ---------------------------------------------------------------------------------------------------- */

START_TEST(report_text)
{
	nsched_t *handle = opened();
	ck_assert_int_eq(nsched_report(handle, path("report.txt")), 0);
	const char *text = contents(path("report.txt"));
	ck_assert_ptr_eq(strstr(text, "nsched "), text);
	ck_assert_ptr_nonnull(strstr(text, "idle: one NUMA node"));
	ck_assert_ptr_nonnull(strstr(text, "policy=joint"));
	ck_assert_int_eq(nsched_close(handle), 0);
}
END_TEST

START_TEST(report_json)
{
	json_error_t error;
	nsched_t *handle = opened();
	ck_assert_int_eq(nsched_report(handle, path("report.json")), 0);
	json_t *report = json_load_file(path("report.json"), 0, &error);
	ck_assert_msg(report != NULL, "%s", error.text);
	ck_assert_str_eq(json_string_value(json_object_get(report, "state")), "idle");
	ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(report, "reason")), "one NUMA node"));
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(report, "options"), "interval_ms")), 100);
	json_decref(report);
	ck_assert_int_eq(nsched_close(handle), 0);
}
END_TEST

START_TEST(report_elsewhere)
{
	nsched_t *handle = opened();
	errno = ODD_ERRNO;
	ck_assert_int_eq(nsched_report(handle, "/no/such/folder/report.json"), -ENOENT);
	ck_assert_int_eq(nsched_report(handle, folder), -EISDIR);
	ck_assert_int_eq(nsched_report(handle, "/dev/full"), -ENOSPC);
	ck_assert_int_eq(nsched_report(handle, "-"), 0);
	ck_assert_int_eq(errno, ODD_ERRNO);
	ck_assert_int_eq(nsched_close(handle), 0);
}
END_TEST

/* ---- what a rank has sent ---------------------------------------------------------------------------------------- */

enum { PEERS = 150 };  /* more than are asked for at a time */

static size_t sent(void *context, int32_t from, nsched_exchange_t *peers, size_t most)
{
	size_t n = 0;
	ck_assert_ptr_eq(context, memory);
	for (int32_t rank = from; rank < PEERS && n < most; rank++)
		peers[n++] = (nsched_exchange_t){ .rank = rank, .bytes = rank < 0 ? 7 : 1000 * (uint64_t)rank, .messages = 1 };
	return n;
}

static size_t calls(void *context, uint32_t from, nsched_call_count_t *counts, size_t most)
{
	(void)context;
	if (from > 1 || most < 2) return 0;
	counts[0] = (nsched_call_count_t){ .name = "Send", .calls = 5 };
	counts[1] = (nsched_call_count_t){ .name = "Recv", .calls = 0 };
	return 2;
}

START_TEST(exchange)
{
	nsched_exchange_source_t source = { .size = sizeof source, .library = "Some MPI 1.0", .rank = 3, .ranks = PEERS, .start_ns = 12,
	                                    .context = memory, .sent = sent, .calls = calls };
	nsched_exchange_source_t wrong = source;
	nsched_t *handle = opened();
	json_error_t error;
	errno = ODD_ERRNO;
	ck_assert_int_eq(nsched_exchange_source(NULL, &source), -EINVAL);
	wrong.size = offsetof(nsched_exchange_source_t, hold) - 1;   /* smaller than the first that was published */
	ck_assert_int_eq(nsched_exchange_source(handle, &wrong), -EINVAL);
	wrong.size++;
	wrong.sent = NULL;
	ck_assert_int_eq(nsched_exchange_source(handle, &wrong), -EINVAL);
	source.size = offsetof(nsched_exchange_source_t, hold);      /* as large as that one: without what came later */
	ck_assert_int_eq(nsched_exchange_source(handle, &source), 0);
	source.size = sizeof source;
	ck_assert_int_eq(nsched_exchange_source(handle, &source), -EEXIST);
	ck_assert_int_eq(nsched_masks_changed(NULL), -EINVAL);
	ck_assert_int_eq(nsched_masks_changed(handle), 0);
	ck_assert_int_eq(errno, ODD_ERRNO);

	ck_assert_int_eq(nsched_report(handle, path("ranks.json")), 0);
	json_t *report = json_load_file(path("ranks.json"), 0, &error);
	ck_assert_msg(report != NULL, "%s", error.text);
	json_t *part = json_object_get(report, "exchange"), *row = json_object_get(part, "sent");
	ck_assert_int_eq(json_integer_value(json_object_get(report, "rank")), 3);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(part, "calls"), "Send")), 5);
	ck_assert_ptr_null(json_object_get(json_object_get(part, "calls"), "Recv"));
	ck_assert_uint_eq(json_array_size(row), PEERS + 1);
	for (size_t i = 0; i <= PEERS; i++) ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(row, i), "rank")), (json_int_t)i - 1);
	json_decref(report);

	ck_assert_int_eq(nsched_report(handle, path("ranks.txt")), 0);
	char *text = contents(path("ranks.txt"));
	ck_assert_ptr_nonnull(strstr(text, "messages, by Some MPI 1.0\n  rank 3 of 150"));
	ck_assert_ptr_nonnull(strstr(text, "in 151 messages to 151 ranks\n    rank 149: 0.142 MiB in 1 messages\n    rank 148:"));
	ck_assert_ptr_nonnull(strstr(text, "calls: Send 5\n"));
	ck_assert_ptr_null(strstr(text, "rank 100:"));   /* the largest only */

	ck_assert_int_eq(nsched_exchange_source(handle, NULL), 0);
	ck_assert_int_eq(nsched_report(handle, path("ranks.txt")), 0);
	ck_assert_ptr_null(strstr(contents(path("ranks.txt")), "Some MPI"));
	ck_assert_int_eq(nsched_close(handle), 0);
}
END_TEST

/* ---- from many threads ----------------------------------------------------------------------------------------- */

enum { MANY = 4, ROUNDS = 200 };

static void *user(void *arg)
{
	nsched_t *handle;
	char *slice = memory + ((intptr_t)arg - 1) * (BYTES / MANY);
	for (int i = 0; i < ROUNDS; i++) {
		nsched_thread_t *thread;
		nsched_stats_t stats = { .size = sizeof stats };
		if (nsched_open(NULL, &handle) || nsched_thread_register(handle, &thread)) return arg;
		if (nsched_mem_attach(handle, "slice", slice, BYTES / MANY)) return arg;
		if (nsched_mem_hint(handle, thread, slice, 4096, 1000)) return arg;
		nsched_region_begin(thread, slice);
		nsched_thread_place(thread);
		nsched_region_end(thread);
		int ret = nsched_step(handle);
		if ((ret && ret != -EBUSY) || nsched_stats(handle, &stats) || nsched_mem_detach(handle, slice)) return arg;
		nsched_thread_unregister(thread);
		if (nsched_close(handle)) return arg;
	}
	return NULL;
}

START_TEST(many_threads)
{
	nsched_t *handle = opened();
	pthread_t thread[MANY];
	void *failed;
	for (intptr_t i = 0; i < MANY; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, user, (void *)(i + 1)), 0);
	for (int i = 0; i < MANY; i++) {
		ck_assert_int_eq(pthread_join(thread[i], &failed), 0);
		ck_assert_ptr_null(failed);
	}
	ck_assert_int_eq(nsched_close(handle), 0);
}
END_TEST

int main(void)
{
	nsched_error_t why;
	if (nsched_worthwhile(&why)) {
		printf("this machine has several NUMA nodes: the live tests are for it\n");
		return 77;
	}
	snprintf(folder, sizeof folder, "/tmp/nsched-api.XXXXXX");
	if (!mkdtemp(folder)) return 99;
	Suite *suite = suite_create("api");
	TCase *tcase = tcase_create("one node");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, tcase);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, version);
	tcase_add_test(tcase, worthwhile);
	tcase_add_test(tcase, probe);
	tcase_add_test(tcase, idle);
	tcase_add_test(tcase, null_arguments);
	tcase_add_test(tcase, ranges);
	tcase_add_test(tcase, larger_stats);
	tcase_add_test(tcase, opened_by_several);
	tcase_add_test(tcase, environment);
	tcase_add_test(tcase, forked);
	tcase_add_test(tcase, report_text);
	tcase_add_test(tcase, report_json);
	tcase_add_test(tcase, report_elsewhere);
	tcase_add_test(tcase, exchange);
	tcase_add_test(tcase, many_threads);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	static const char *const files[] = { "second.txt", "environment.json", "report.txt", "report.json" };
	for (unsigned i = 0; i < sizeof files / sizeof *files; i++) unlink(path(files[i]));
	rmdir(folder);
	return failed != 0;
}
