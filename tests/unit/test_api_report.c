/* The public calls as a program has them, on a machine with one NUMA node: reports, and what a rank has sent. */
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "api.h"

static char memory[1];

/* ---- reports ---------------------------------------------------------------------------------------------------- */

START_TEST(report_text)
{
	nsched_t *handle = api_opened();
	ck_assert_int_eq(nsched_report(handle, api_path("report.txt")), 0);
	const char *text = api_contents(api_path("report.txt"));
	ck_assert_ptr_eq(strstr(text, "nsched "), text);
	ck_assert_ptr_nonnull(strstr(text, "idle: one NUMA node"));
	ck_assert_ptr_nonnull(strstr(text, "policy=joint"));
	ck_assert_int_eq(nsched_close(handle), 0);
}
END_TEST

START_TEST(report_json)
{
	json_error_t error;
	nsched_t *handle = api_opened();
	ck_assert_int_eq(nsched_report(handle, api_path("report.json")), 0);
	json_t *report = json_load_file(api_path("report.json"), 0, &error);
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
	nsched_t *handle = api_opened();
	errno = ODD_ERRNO;
	ck_assert_int_eq(nsched_report(handle, "/no/such/folder/report.json"), -ENOENT);
	ck_assert_int_eq(nsched_report(handle, api_folder), -EISDIR);
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
	nsched_t *handle = api_opened();
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

	ck_assert_int_eq(nsched_report(handle, api_path("ranks.json")), 0);
	json_t *report = json_load_file(api_path("ranks.json"), 0, &error);
	ck_assert_msg(report != NULL, "%s", error.text);
	json_t *part = json_object_get(report, "exchange"), *row = json_object_get(part, "sent");
	ck_assert_int_eq(json_integer_value(json_object_get(report, "rank")), 3);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(part, "calls"), "Send")), 5);
	ck_assert_ptr_null(json_object_get(json_object_get(part, "calls"), "Recv"));
	ck_assert_uint_eq(json_array_size(row), PEERS + 1);
	for (size_t i = 0; i <= PEERS; i++) ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(row, i), "rank")), (json_int_t)i - 1);
	json_decref(report);

	ck_assert_int_eq(nsched_report(handle, api_path("ranks.txt")), 0);
	char *text = api_contents(api_path("ranks.txt"));
	ck_assert_ptr_nonnull(strstr(text, "messages, by Some MPI 1.0\n  rank 3 of 150"));
	ck_assert_ptr_nonnull(strstr(text, "in 151 messages to 151 ranks\n    rank 149: 0.142 MiB in 1 messages\n    rank 148:"));
	ck_assert_ptr_nonnull(strstr(text, "calls: Send 5\n"));
	ck_assert_ptr_null(strstr(text, "rank 100:"));   /* the largest only */

	ck_assert_int_eq(nsched_exchange_source(handle, NULL), 0);
	ck_assert_int_eq(nsched_report(handle, api_path("ranks.txt")), 0);
	ck_assert_ptr_null(strstr(api_contents(api_path("ranks.txt")), "Some MPI"));
	ck_assert_int_eq(nsched_close(handle), 0);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, report_text);
	tcase_add_test(tcase, report_json);
	tcase_add_test(tcase, report_elsewhere);
	tcase_add_test(tcase, exchange);
}

int main(void)
{
	return api_main("api_report", add);
}
