/* A whole process to one node: what the kernel's files say, and what the call is told; with files that are missing, cut off or
 * long, and calls that are refused. The files and the call are this test's. */
#include "made.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *fake_open(const char *path, const char *mode);
static long fake_call(long number, ...);

#define fopen fake_open
#define syscall fake_call
#include "../../libnsched/sys/migrate.c"
#undef fopen
#undef syscall

static const char *status_text, *maps_text;   /* NULL: the file can't be opened */
static char *copy;                            /* what the last file reads */

static FILE *fake_open(const char *path, const char *mode)
{
	const char *text = !strcmp(path, "/proc/self/status") ? status_text : !strcmp(path, "/proc/self/numa_maps") ? maps_text : NULL;
	ck_assert_msg(strchr(mode, 'e') != NULL, "%s would be inherited", path);
	if (!text) return NULL;
	free(copy);
	copy = strdup(*text ? text : "\n");   /* fmemopen takes no empty one */
	FILE *file = fmemopen(copy, strlen(copy), "r");
	ck_assert_ptr_nonnull(file);
	return file;
}

static struct { long answer; int error; unsigned calls; struct node_mask from, to; unsigned long bits; } call;

static long fake_call(long number, ...)
{
	va_list args;
	ck_assert_int_eq(number, SYS_migrate_pages);
	va_start(args, number);
	ck_assert_int_eq(va_arg(args, int), 0);
	call.bits = va_arg(args, unsigned long);
	call.from = *va_arg(args, const struct node_mask *);
	call.to = *va_arg(args, const struct node_mask *);
	va_end(args);
	call.calls++;
	errno = call.error;
	return call.error ? -1 : call.answer;
}

static const struct { const char *text; uint64_t bytes; } status_cases[] = {
	{ "Name:\tx\nRssAnon:\t     132 kB\nRssFile:\t 9 kB\n", 132 * 1024 },
	{ "RssAnon:\t0 kB\n", 0 },
	{ "RssAnon: 8388608 kB", UINT64_C(8) << 30 },
	{ "Name:\tRssAnon: 7\nVmRSS:\t9 kB\n", 0 },   /* Linux before 4.5 */
	{ "RssAnon:\n", 0 },
	{ "", 0 },
	{ NULL, 0 },
};

START_TEST(private_bytes)
{
	status_text = status_cases[_i].text;
	ck_assert_uint_eq(migrate_private_bytes(), status_cases[_i].bytes);
}
END_TEST

static const struct { const char *text; bool may; } maps_cases[] = {
	{ "00400000 default file=/bin/x mapped=1\n7f00 default anon=1 dirty=1 N0=1 kernelpagesize_kB=4\n", true },
	{ "00400000 default\n7f00 bind:0 anon=1 N0=1\n7f10 default\n", false },
	{ "00400000 prefer:1 anon=1\n", false },
	{ "00400000 interleave:0-1 anon=1\n", false },
	{ "00400000 local anon=1\n", false },
	{ "00400000 default anon=1\n7f00", false },   /* cut off: not known */
	{ "nonsense\n", false },
	{ "", false },
	{ NULL, false },
};

START_TEST(may)
{
	maps_text = maps_cases[_i].text;
	ck_assert_int_eq(migrate_may(), maps_cases[_i].may);
}
END_TEST

/* A path of several thousand bytes is no next line, wherever it is cut: not even where the rest looks like one. */
START_TEST(long_lines)
{
	enum { PATH_BYTES = 3 * LINE_BYTES };
	char *text = malloc(PATH_BYTES + 256);
	ck_assert_ptr_nonnull(text);
	for (int bad = 0; bad < 2; bad++) {
		int n = sprintf(text, "00400000 default file=/");
		memset(text + n, 'a', PATH_BYTES);
		n += PATH_BYTES;
		memcpy(text + LINE_BYTES - 1, "7f00 bind:0 ", 12);   /* where the second piece begins */
		sprintf(text + n, " mapped=1\n7f10 %s anon=1\n", bad ? "bind:0" : "default");
		maps_text = text;
		ck_assert_int_eq(migrate_may(), !bad);
	}
	maps_text = NULL;
	free(text);
}
END_TEST

static uint64_t has(const struct node_mask *mask, unsigned node)
{
	return mask->word[node / BITS] >> node % BITS & 1;
}

static const struct { unsigned n, from[4], to, named; long answer; int error; long says; } move_cases[] = {
	{ 2, { 0, 1 }, 1, 1, 0, 0, 0 },
	{ 3, { 0, 1, 2 }, 1, 2, 5, 0, 5 },              /* five pages did not go */
	{ 1, { 1 }, 1, 0, 0, 0, 0 },                    /* nothing to take them from */
	{ 0, { 0 }, 3, 0, 0, 0, 0 },
	{ 4, { 63, 64, 1023, 5 }, 64, 3, 0, 0, 0 },     /* the last node that there can be, too */
	{ 2, { 5000, 0 }, 1, 1, 0, 0, 0 },              /* no node at all */
	{ 2, { 0, 1 }, 1, 1, 0, EPERM, -EPERM },        /* a container's filter; a node outside of the cpuset */
	{ 2, { 0, 1 }, 1, 1, 0, EINVAL, -EINVAL },
	{ 2, { 0, 1 }, 1, 1, 0, ENOSYS, -ENOSYS },
};

START_TEST(moves)
{
	memset(&call, 0, sizeof call);
	call.answer = move_cases[_i].answer;
	call.error = move_cases[_i].error;
	ck_assert_int_eq(migrate_all(move_cases[_i].from, move_cases[_i].n, move_cases[_i].to), move_cases[_i].says);
	ck_assert_uint_eq(call.calls, 1);
	ck_assert_uint_eq(call.bits - 1, MASK_NODES);   /* the kernel takes one less than it is told */
	unsigned named = 0, targets = 0;
	for (unsigned node = 0; node < MASK_NODES; node++) {
		named += (unsigned)has(&call.from, node);
		targets += (unsigned)has(&call.to, node);
	}
	ck_assert_uint_eq(named, move_cases[_i].named);
	ck_assert_uint_eq(targets, 1);
	ck_assert_uint_eq(has(&call.to, move_cases[_i].to), 1);
	ck_assert_uint_eq(has(&call.from, move_cases[_i].to), 0);
	for (unsigned i = 0; i < move_cases[_i].n; i++) {
		unsigned node = move_cases[_i].from[i];
		if (node < MASK_NODES) ck_assert_uint_eq(has(&call.from, node), node != move_cases[_i].to);
	}
}
END_TEST

static void teardown(void)
{
	free(copy);
	copy = NULL;
}

static void add_cases(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, NULL, teardown);
	made_loop(tcase, private_bytes, status_cases);
	made_loop(tcase, may, maps_cases);
	tcase_add_test(tcase, long_lines);
	made_loop(tcase, moves, move_cases);
}

int main(void)
{
	return made_main("migrate", add_cases);
}
