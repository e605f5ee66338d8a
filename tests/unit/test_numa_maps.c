/* numa_maps: its text, whatever a kernel may write, and the real one. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "made.h"
#include "sys/numa_maps.h"

enum { RANGES = 8 };

static const struct text_case {
	const char *text;
	unsigned n;
	uint64_t start;   /* of the last one */
	int node;
} texts[] = {
	{ "7f00 default anon=2 dirty=2 N0=2 kernelpagesize_kB=4\n", 1, 0x7f00, 0 },
	{ "7f00 default anon=2 N3=2", 1, 0x7f00, 3 },
	{ "1000 default N0=1 kernelpagesize_kB=4\n7f00 bind:1 anon=100 N0=10 N1=90 kernelpagesize_kB=4\n", 2, 0x7f00, 1 },
	{ "7f00 default anon=100 N0=11 N1=89 kernelpagesize_kB=4\n", 1, 0x7f00, -ENOENT },
	{ "7f00 default anon=3 N0=1 N1=1 N2=1\n", 1, 0x7f00, -ENOENT },
	{ "7f00 default\n", 1, 0x7f00, -ENOENT },
	{ "7f00 default file=/a/N0=5\\040N1=7 mapped=1 N2=1\n", 1, 0x7f00, 2 },
	{ "7f00 default N1023=1 N=4 Nx=3 N2\n", 1, 0x7f00, 1023 },
	{ "7f00 default N99999999=1\n", 1, 0x7f00, -ENOENT },
	{ "", 0, 0, 0 }, { "\n\n", 0, 0, 0 }, { "N0=1\n", 0, 0, 0 }, { "7f00", 0, 0, 0 },
	{ "7f00 default N0=1\n1000 default N1=1\n", 1, 0x7f00, 0 },   /* not in order: not to be trusted */
	{ "1 a N0=1\n2 a N0=1\n3 a N0=1\n4 a N0=1\n5 a N0=1\n6 a N0=1\n7 a N0=1\n8 a N0=1\n9 a N0=1\n", RANGES, 8, 0 },
};

START_TEST(text)
{
	const struct text_case *c = &texts[_i];
	struct numa_range range[RANGES];
	ck_assert_msg(numa_maps_parse(c->text, range, RANGES) == c->n, "%s", c->text);
	if (!c->n) return;
	ck_assert_uint_eq(range[c->n - 1].start, c->start);
	ck_assert_msg(range[c->n - 1].node_os == c->node, "%s: %d", c->text, range[c->n - 1].node_os);
}
END_TEST

START_TEST(find)
{
	static const struct numa_range range[] = { { 0x1000, 0 }, { 0x5000, -ENOENT }, { 0x9000, 2 } };
	static const struct { uint64_t addr; int node; } wanted[] = {
		{ 0, -ENOENT }, { 0xfff, -ENOENT }, { 0x1000, 0 }, { 0x4fff, 0 }, { 0x5000, -ENOENT }, { 0x9000, 2 }, { UINT64_MAX, 2 },
	};
	for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++) ck_assert_int_eq(numa_maps_find(range, 3, wanted[i].addr), wanted[i].node);
	ck_assert_int_eq(numa_maps_find(range, 0, 0x1000), -ENOENT);
}
END_TEST

/* This process: what was filled is on some node, and errno of the caller's own may be anything. */
START_TEST(real)
{
	size_t bytes = 4 << 20;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(memory != MAP_FAILED);
	memset(memory, 1, bytes);
	uint64_t addr[2] = { (uint64_t)(uintptr_t)memory, (uint64_t)(uintptr_t)memory + bytes - 1 };
	int node[2] = { -1, -1 };
	if (access("/proc/self/numa_maps", R_OK)) return;   /* a kernel without NUMA */
	ck_assert_int_eq(numa_maps_locate(addr, 2, node), 0);
	ck_assert_int_ge(node[0], 0);
	ck_assert_int_eq(node[0], node[1]);
	munmap(memory, bytes);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, text, texts);
	tcase_add_test(tcase, find);
	tcase_add_test(tcase, real);
}

int main(void)
{
	return made_main("numa_maps", add);
}
