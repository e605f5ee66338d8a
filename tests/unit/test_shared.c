/* Segments of message libraries: which mappings are some, and what letting go of one does. */
#include "sys/shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made.h"

static const struct {
	const char *line;
	bool is;
	uint64_t start, end, offset, ino;
	int32_t maker;
} lines[] = {
	{ "7f10a0000000-7f10a0400000 rw-s 00000000 00:1a 77                         /dev/shm/vader_segment.node1.1000.3a2c0001.5\n", true,
	  0x7f10a0000000, 0x7f10a0400000, 0, 77, 5 },
	{ "7f10a0000000-7f10a0400000 rw-s 00003000 00:1a 77                         /dev/shm/sm_segment.node1.1000.3a2c0001.12\n", true,
	  0x7f10a0000000, 0x7f10a0400000, 0x3000, 77, 12 },
	{ "7f10a0000000-7f10a0400000 rw-s 00000000 00:1a 77      /tmp/ompi.n/vader_segment.n.0.1.0 (deleted)\n", true,
	  0x7f10a0000000, 0x7f10a0400000, 0, 77, 0 },
	/* private, of nobody in particular, or something else */
	{ "7f10a0000000-7f10a0400000 rw-p 00000000 00:1a 77                         /dev/shm/vader_segment.node1.1000.3a2c0001.5\n", false, 0, 0, 0, 0, 0 },
	{ "7f10a0000000-7f10a0400000 rw-s 00000000 00:1a 77                         /dev/shm/vader_segment.node1.1000.3a2c0001.x\n", false, 0, 0, 0, 0, 0 },
	{ "7f10a0000000-7f10a0400000 rw-s 00000000 00:1a 77                         /dev/shm/vader_segment.node1.1000.3a2c0001.\n", false, 0, 0, 0, 0, 0 },
	{ "7f10a0000000-7f10a0400000 rw-s 00000000 00:1a 77                         /dev/shm/vader_segment.a.99999999999999\n", false, 0, 0, 0, 0, 0 },
	{ "7f10a0000000-7f10a0400000 rw-s 00000000 00:1a 77                         /dev/shm/mpich_shar_tmpAbCdEf\n", false, 0, 0, 0, 0, 0 },
	{ "7f10a0000000-7f10a0400000 rw-s 00000000 00:01 77                         /dev/zero (deleted)\n", false, 0, 0, 0, 0, 0 },
	{ "7f10a0000000-7f10a0400000 rw-p 00000000 00:00 0 \n", false, 0, 0, 0, 0, 0 },
	{ "7f10a0000000-7f10a0000000 rw-s 00000000 00:1a 77                         /dev/shm/vader_segment.n.0.1.5\n", false, 0, 0, 0, 0, 0 },
	{ "", false, 0, 0, 0, 0, 0 }, { "nonsense", false, 0, 0, 0, 0, 0 },
};

START_TEST(parsed)
{
	struct shared_segment s;
	ck_assert_int_eq(shared_parse(lines[_i].line, &s), lines[_i].is);
	if (!lines[_i].is) return;
	ck_assert_uint_eq(s.start, lines[_i].start);
	ck_assert_uint_eq(s.end, lines[_i].end);
	ck_assert_uint_eq(s.offset, lines[_i].offset);
	ck_assert_uint_eq(s.ino, lines[_i].ino);
	ck_assert_int_eq(s.maker, lines[_i].maker);
}
END_TEST

enum { PAGES = 8 };

/* Bits 63 and 56 of /proc/self/pagemap: the page is there, and nobody else has it mapped. */
static bool is_ours_alone(const char *page)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	long size = sysconf(_SC_PAGESIZE);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &entry, sizeof entry, (off_t)((uintptr_t)page / (uintptr_t)size * sizeof entry)), sizeof entry);
	close(fd);
	ck_assert(entry >> 63 & 1);
	return entry >> 56 & 1;
}

/* Another process that maps the segment, too: lets go of its pages 2 to 5 when it is told to, then looks at what is in them. */
static int other(const char *name, int hear, int tell)
{
	struct shared_segment list[4];
	long size = sysconf(_SC_PAGESIZE);
	char word;
	int fd = open(name, O_RDWR | O_CLOEXEC), sum = 0;
	volatile char *memory = mmap(NULL, (size_t)(PAGES * size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) return 1;
	for (int i = 0; i < PAGES; i++) sum += memory[i * size];
	memory[3 * size + 1] = 'w';   /* dirty, and not to be lost */
	if (write(tell, "", 1) != 1 || read(hear, &word, 1) != 1) return 2;
	unsigned n = shared_list(list, 4);
	if (n != 2 || list[0].maker != 3) return 3;   /* of the parent's, inherited, and our own */
	for (unsigned i = 0; i < n; i++)
		if (!shared_let_go(&list[i], (uint64_t)(2 * size), (uint64_t)(4 * size))) return 4;
	if (write(tell, "", 1) != 1 || read(hear, &word, 1) != 1) return 5;
	for (int i = 0; i < PAGES; i++)
		if (memory[i * size] != (char)('a' + i)) return 6;
	return sum && memory[3 * size + 1] == 'w' ? 0 : 7;
}

START_TEST(pages_are_let_go_of)
{
	char name[64];
	long size = sysconf(_SC_PAGESIZE);
	int to[2], from[2], status;
	char word;
	snprintf(name, sizeof name, "/dev/shm/vader_segment.test.%ld.1.3", (long)getpid());
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, PAGES * size), 0);
	char *memory = mmap(NULL, (size_t)(PAGES * size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(memory != MAP_FAILED);
	for (int i = 0; i < PAGES; i++) memory[i * size] = (char)('a' + i);
	ck_assert_int_eq(pipe(to), 0);
	ck_assert_int_eq(pipe(from), 0);
	pid_t pid = fork();
	if (!pid) _exit(other(name, to[0], from[1]));
	ck_assert_int_eq(read(from[0], &word, 1), 1);
	for (int i = 0; i < PAGES; i++) ck_assert(!is_ours_alone(memory + i * size));
	ck_assert_int_eq(write(to[1], "", 1), 1);
	ck_assert_int_eq(read(from[0], &word, 1), 1);
	for (int i = 0; i < PAGES; i++) ck_assert_int_eq(is_ours_alone(memory + i * size), i >= 2 && i < 6);
	ck_assert_int_eq(write(to[1], "", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	unlink(name);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other one says %d", WEXITSTATUS(status));
	ck_assert_int_eq(memory[3 * size + 1], 'w');
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, parsed, lines);
	tcase_add_test(tcase, pages_are_let_go_of);
}

int main(void)
{
	return made_main("shared", add);
}
