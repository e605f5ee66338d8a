/* What recording does to files, and to whom: the file is never somebody else's, and whatever goes wrong ends the recording alone. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "made.h"
#include "player.h"
#include "scene.h"

static char file[64];

static const char *name_file(void)
{
	snprintf(file, sizeof file, "test_record.%ld.nsr", (long)getpid());
	return file;
}

static void put_file(const char *text)
{
	FILE *out = fopen(name_file(), "w");
	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	ck_assert_int_eq(fclose(out), 0);
}

static off_t size_of(const char *name)
{
	struct stat st;
	ck_assert_int_eq(stat(name, &st), 0);
	return st.st_size;
}

/* ---- the file ----------------------------------------------------------------------------------------------------- */

/* What is there, whether it is to be overwritten all the same, and what comes of it. */
static const struct there_case { const char *text; bool over; int error; } there_cases[] = {
	{ NULL, false, 0 }, { "", false, 0 }, { "nsched record 1\n...", false, 0 }, { "nsched record 9\n...", false, 0 },
	{ "the work of years", false, -EEXIST }, { "nsched rec", false, -EEXIST }, { "the work of years", true, 0 },
};

START_TEST(there)
{
	const struct there_case *c = &there_cases[_i];
	char why[RECORD_FILE_WHY] = "";
	struct record_file *f;
	unlink(name_file());
	if (c->text) put_file(c->text);
	ck_assert_int_eq(record_file_open(file, c->over, &f, why), c->error);
	ck_assert((why[0] != 0) == (c->error != 0));
	if (c->error) {
		ck_assert_int_eq(size_of(file), (off_t)strlen(c->text));
		ck_assert_ptr_nonnull(strstr(why, "record_over=1"));
	} else {
		ck_assert_int_eq(record_file_write(f, "abc", 3), 0);
		ck_assert_int_eq(record_file_end(f), 0);
		record_file_close(f);
		ck_assert_int_gt(size_of(file), 16);
	}
	unlink(file);
}
END_TEST

START_TEST(nowhere)
{
	char why[RECORD_FILE_WHY] = "";
	struct record_file *f;
	ck_assert_int_eq(record_file_open("no/such/folder/x", false, &f, why), -ENOENT);
	ck_assert_str_eq(why, strerror(ENOENT));
	ck_assert_int_eq(record_file_open(".", false, &f, why), -EISDIR);
	if (!access("/dev/full", W_OK)) ck_assert_int_eq(record_file_open("/dev/full", true, &f, why), -ENOSPC);
	ck_assert_int_eq(mkfifo(name_file(), 0600), 0);    /* nobody reads it: no waiting */
	ck_assert_int_eq(record_file_open(file, false, &f, why), -ENXIO);
	unlink(file);
}
END_TEST

/* Two that record into one file: the second is refused, and the first one's is whole. */
START_TEST(taken)
{
	char why[RECORD_FILE_WHY] = "";
	struct record_file *f, *g;
	unlink(name_file());
	ck_assert_int_eq(record_file_open(file, false, &f, why), 0);
	ck_assert_int_eq(record_file_open(file, true, &g, why), -EBUSY);
	ck_assert_ptr_nonnull(strstr(why, "another process"));
	record_file_close(f);
	ck_assert_int_eq(record_file_open(file, false, &g, why), 0);
	record_file_close(g);
	unlink(file);
}
END_TEST

/* ---- the recording ------------------------------------------------------------------------------------------------- */

static struct scene *begin(const char *name, bool over)
{
	struct scene *s = scene_made(4, 2, 8, 512);
	s->record = name;
	s->config.record_over = over;
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	return s;
}

/* A full disk ends the recording; the session goes on as if there had been none. */
START_TEST(full_disk)
{
	struct rlimit small = { 3000, 3000 };
	unlink(name_file());
	struct scene *s = begin(file, false);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);   /* its signal would end this test */
	ck_assert_int_ge(scene_steps(s, 60), 1);
	ck_assert_str_eq(s->recorder.why, strerror(EFBIG));
	ck_assert_int_eq(size_of(file), 3000);
	unlink(file);
	ck_assert_ptr_null(s->recorder.file);
	uint64_t moved = s->session.totals.moved_pages;
	ck_assert_uint_gt(moved, 0);
	scene_end(s);
	s = scene_made(4, 2, 8, 512);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 60);
	ck_assert_uint_eq(s->session.totals.moved_pages, moved);
	scene_end(s);
}
END_TEST

/* It ends where the option says. */
START_TEST(limit)
{
	unlink(name_file());
	struct scene *s = begin(file, false);
	s->recorder.most_bytes = 2000;
	scene_steps(s, 200);
	ck_assert_ptr_nonnull(strstr(s->recorder.why, "record_mib"));
	ck_assert_int_le(size_of(file), 8000);
	scene_end(s);
	unlink(file);
}
END_TEST

/* After a second what was seen is in the file, whatever becomes of the program. */
START_TEST(flushed)
{
	unlink(name_file());
	struct scene *s = begin(file, false);
	scene_steps(s, 15);
	off_t first = size_of(file);
	ck_assert_int_gt(first, 16);
	scene_steps(s, 15);
	ck_assert_int_gt(size_of(file), first);
	scene_end(s);
	ck_assert_uint_eq(recorder_bytes(&s->recorder), (uint64_t)size_of(file));
	unlink(file);
}
END_TEST

static void *place(void *arg)
{
	struct nsched_thread *t = arg;
	for (unsigned i = 0; i < 20000; i++) {
		atomic_store(&t->bound, REGISTRY_NO_NODE);
		(void)registry_place(t);
	}
	return NULL;
}

/* A thread of the program that binds itself comes through the recorder's hands all the time: that writes nothing, and disturbs nothing. */
START_TEST(other_threads)
{
	pthread_t thread;
	unlink(name_file());
	struct scene *s = begin(file, false);
	scene_steps(s, 10);
	struct nsched_thread *t = registry_at(&s->registry, 3);
	atomic_store(&t->wanted, 1);
	size_t n = s->recorder.tape.n;
	ck_assert_int_eq(pthread_create(&thread, NULL, place, t), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_uint_gt(atomic_load(&t->bindings), 0);
	ck_assert_uint_eq(s->recorder.tape.n, n);
	scene_end(s);
	unlink(file);
}
END_TEST

/* Names are left out where that is wanted. */
START_TEST(names)
{
	static struct player player;
	struct tape_reader reader;
	struct replay_file *f;
	for (int with = 0; with < 2; with++) {
		unlink(name_file());
		struct scene *s = scene_made(2, 2, 4, 512);
		s->record = file;
		s->config.record_names = with;
		ck_assert_int_eq(scene_begin(s, true), 0);
		scene_hint(s, 1000000);
		ck_assert_int_ge(scene_steps(s, 1), 0);
		scene_end(s);
		FILE *in = fopen(file, "rbe");
		ck_assert_ptr_nonnull(in);
		ck_assert_int_eq(replay_file_open(in, &reader, &f), 0);
		ck_assert_int_eq(player_open(&player, &reader), 0);
		ck_assert_int_eq(player_step(&player), 1);
		ck_assert_uint_eq(player.ranges.n_ranges, 1);
		ck_assert_str_eq(player.ranges.range->name, with ? "slices" : "");
		player_close(&player);
		replay_file_close(f);
		fclose(in);
	}
	unlink(file);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, there, there_cases);
	tcase_add_test(tcase, nowhere);
	tcase_add_test(tcase, taken);
	tcase_add_test(tcase, full_disk);
	tcase_add_test(tcase, limit);
	tcase_add_test(tcase, flushed);
	tcase_add_test(tcase, other_threads);
	tcase_add_test(tcase, names);
}

int main(void)
{
	return made_main("record", add);
}
