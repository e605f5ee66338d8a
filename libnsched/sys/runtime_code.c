#define _GNU_SOURCE
#include "runtime_code.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

static const char *const names[] = { "libomp.so", "libomp-", "libiomp5.so", "libgomp.so", "libgomp-" };

bool runtime_code_is_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35 and later */
#pragma weak _dl_find_object

/* The name is the loader's own copy; it goes with the library, which a runtime that runs threads does not. */
bool runtime_code_find(uint64_t ip, struct runtime_code *code)
{
	struct dl_find_object found;

	if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)ip, &found) != 0)
		return false;
	if (found.dlfo_link_map == NULL || found.dlfo_link_map->l_name == NULL || !runtime_code_is_name(found.dlfo_link_map->l_name))
		return false;
	code->start = (uint64_t)(uintptr_t)found.dlfo_map_start;
	code->end = (uint64_t)(uintptr_t)found.dlfo_map_end;
	return true;
}
#else
bool runtime_code_find(uint64_t ip, struct runtime_code *code)
{
	(void)ip, (void)code;
	return false;
}
#endif
