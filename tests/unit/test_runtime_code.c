/* Which code is an OpenMP runtime's or an MPI library's: by the name of its file, and where it is in memory. */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "sys/runtime_code.h"

static const struct name_case { const char *path; bool runtime; } names[] = {
	{ "/usr/lib/llvm-14/lib/libomp.so.5", true }, { "libomp.so", true }, { "/opt/intel/lib/libiomp5.so", true },
	{ "/lib/x86_64-linux-gnu/libgomp.so.1", true }, { "./libgomp-1.so", true }, { "libomp-79c5cc.so", true },
	{ "", false }, { "/", false }, { "libomp", false }, { "/home/libomp.so/program", false }, { "libompi.so", false },
	{ "liblibomp.so", false }, { "libnsched_ompt.so.0", false },
	{ "/lib/x86_64-linux-gnu/libmpi.so.40", true }, { "libmpi.so.12", true }, { "libmpich.so.12", true }, { "libopen-pal.so.40", true },
	{ "/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_btl_vader.so", true }, { "mca_pml_ob1.so", true }, { "libuct.so.0", true },
	/* they work on the program's memory, or do not wait */
	{ "mca_op_avx.so", false }, { "mca_fbtl_posix.so", false }, { "libc.so.6", false }, { "libmpi_usempif08.so.40", false },
	{ "libmpichfort.so.12", false }, { "libmpi", false }, { "libnsched_mpi_ompi.so", false }, { "libmpi4py.so", false },
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
	struct runtime_libraries libraries = { 0 };
	for (int twice = 0; twice < 2; twice++) {
		ck_assert(!runtime_code_find(&libraries, (uint64_t)(uintptr_t)here, &code));
		ck_assert(!runtime_code_find(&libraries, (uint64_t)(uintptr_t)printf, &code));
		ck_assert(!runtime_code_find(&libraries, (uint64_t)(uintptr_t)memcpy, &code));
		ck_assert(!runtime_code_find(&libraries, 0, &code));
		ck_assert(!runtime_code_find(&libraries, UINT64_MAX, &code));
	}
	ck_assert_uint_eq(code.start, 1);
	ck_assert_uint_eq(code.end, 2);
}
END_TEST

/* GCC's runtime leaves memory behind when it goes, as the address sanitizer says. */
static const struct { const char *library, *function; bool closes; } waited_in[] = {
	{ "libgomp.so.1", "omp_get_max_threads", false }, { "libopen-pal.so.40", "opal_progress", true }, { "libmpich.so.12", "MPI_Wait", true },
};

/* It is found, where it is; and once it is gone, it is not, whatever is there now. */
START_TEST(found_in_memory)
{
	void *library = dlopen(waited_in[_i].library, RTLD_NOW | RTLD_LOCAL), *inside = library ? dlsym(library, waited_in[_i].function) : NULL;
	struct runtime_code code;
	static struct runtime_libraries libraries;
	if (!inside || !dlsym(RTLD_DEFAULT, "_dl_find_object")) return;   /* it is not here, or a glibc before 2.35 */
	uint64_t ip = (uint64_t)(uintptr_t)inside;
	for (int twice = 0; twice < 2; twice++) {
		ck_assert(runtime_code_find(&libraries, ip, &code));
		ck_assert_uint_le(code.start, ip);
		ck_assert_uint_gt(code.end, ip);
		ck_assert(!runtime_code_find(&libraries, code.start - 1, &code) || code.end <= ip);
	}
	if (!waited_in[_i].closes) return;
	dlclose(library);
	if (dlopen(waited_in[_i].library, RTLD_NOW | RTLD_NOLOAD)) return;   /* it does not go */
	ck_assert(!runtime_code_find(&libraries, ip, &code));
}
END_TEST

/* More libraries than are remembered: each answer is right all the same. */
START_TEST(many)
{
	static struct runtime_libraries libraries;
	struct runtime_code code;
	uint64_t address[2 * RUNTIME_LIBRARIES];
	unsigned n = 0;
	for (unsigned i = 0; i < 2 * RUNTIME_LIBRARIES; i++) {
		/* what is known of it is wrong in one word each time: it is not taken for another */
		libraries.known[i % RUNTIME_LIBRARIES] = (struct runtime_library){ .code = { 1, UINT64_MAX }, .loaded = i, .waits = true };
		address[n++] = (uint64_t)(uintptr_t)(i % 2 ? (void *)(uintptr_t)here : (void *)(uintptr_t)printf);
	}
	for (unsigned i = 0; i < n; i++) ck_assert(!runtime_code_find(&libraries, address[i], &code));
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, named, names);
	tcase_add_test(tcase, others_are_none);
	made_loop(tcase, found_in_memory, waited_in);
	tcase_add_test(tcase, many);
}

int main(void)
{
	return made_main("runtime_code", add);
}
