/* Which code is an OpenMP runtime's: by the name of its library, and where it is in memory. */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "made.h"
#include "sys/runtime_code.h"

static const struct name_case { const char *path; bool runtime; } names[] = {
	{ "/usr/lib/llvm-14/lib/libomp.so.5", true }, { "libomp.so", true }, { "/opt/intel/lib/libiomp5.so", true },
	{ "/lib/x86_64-linux-gnu/libgomp.so.1", true }, { "./libgomp-1.so", true }, { "libomp-79c5cc.so", true },
	{ "", false }, { "/", false }, { "libomp", false }, { "/home/libomp.so/program", false }, { "libompi.so", false },
	{ "libmpi.so.40", false }, { "liblibomp.so", false }, { "libnsched_ompt.so.0", false },
};

START_TEST(named)
{
	ck_assert_msg(runtime_code_is_name(names[_i].path) == names[_i].runtime, "%s", names[_i].path);
}
END_TEST

static int here(void)
{
	return 1;
}

START_TEST(others_are_none)
{
	struct runtime_code code = { 1, 2 };
	ck_assert(!runtime_code_find((uint64_t)(uintptr_t)here, &code));
	ck_assert(!runtime_code_find((uint64_t)(uintptr_t)printf, &code));
	ck_assert(!runtime_code_find(0, &code));
	ck_assert(!runtime_code_find(UINT64_MAX, &code));
	ck_assert_uint_eq(code.start, 1);
	ck_assert_uint_eq(code.end, 2);
}
END_TEST

START_TEST(found_in_memory)
{
	void *library = dlopen("libgomp.so.1", RTLD_NOW), *inside = library ? dlsym(library, "omp_get_max_threads") : NULL;
	struct runtime_code code;
	if (!inside || !dlsym(RTLD_DEFAULT, "_dl_find_object")) return;   /* no GCC runtime here, or a glibc before 2.35 */
	ck_assert(runtime_code_find((uint64_t)(uintptr_t)inside, &code));
	ck_assert_uint_le(code.start, (uint64_t)(uintptr_t)inside);
	ck_assert_uint_gt(code.end, (uint64_t)(uintptr_t)inside);
	ck_assert(!runtime_code_find(code.start - 1, &code) || code.end <= (uint64_t)(uintptr_t)inside);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, named, names);
	tcase_add_test(tcase, others_are_none);
	tcase_add_test(tcase, found_in_memory);
}

int main(void)
{
	return made_main("runtime_code", add);
}
