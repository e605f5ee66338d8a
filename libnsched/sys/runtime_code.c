#define _GNU_SOURCE
#include "runtime_code.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "operand_code.h"

/* Beginnings of file names. Of Open MPI: the progress loop (libopen-pal), requests (libmpi), and the modules that poll for
 * messages. mca_op, which reduces the program's own data, is none of them. */
static const char *const names[] = {
	"libomp.so", "libomp-", "libiomp5.so", "libgomp.so", "libgomp-",
	"libmpi.so", "libopen-pal.so", "mca_btl_", "mca_bml_", "mca_pml_", "mca_mtl_",
	"libmpich.so", "libmpi_cray.so", "libmpi_gnu_",
	"libucp.so", "libuct.so", "libucs.so", "libfabric.so", "libpsm2.so",
};

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

enum {
	PATH_MOST = 4096,
	PATH_PART = 64,       /* read at a time: aligned, none of it is on another page than the rest */
};

static bool read_own(uint64_t from, void *to, size_t bytes)
{
	struct operand_piece piece = { from, to, bytes };

	return operand_code_self.read(operand_code_self.arg, &piece, 1) == 1;
}

/* The loader's copy of a library's name, which goes with it, as an MPI library's modules do while we look: so it is read as
 * code is, where what is gone is an error. */
static bool read_name(uint64_t loaded, char path[PATH_MOST])
{
	uint64_t at;
	size_t length = 0;

	if (!read_own(loaded + offsetof(struct link_map, l_name), &at, sizeof(at)) || at == 0)
		return false;
	while (length < PATH_MOST - PATH_PART) {
		size_t part = PATH_PART - (size_t)(at + length) % PATH_PART;

		if (!read_own(at + length, path + length, part))
			return false;
		if (memchr(path + length, '\0', part) != NULL)
			return true;
		length += part;
	}
	return false;
}

static const struct runtime_library *library_of(struct runtime_libraries *libraries, const struct dl_find_object *found)
{
	struct runtime_library one = {
		.code = { (uint64_t)(uintptr_t)found->dlfo_map_start, (uint64_t)(uintptr_t)found->dlfo_map_end },
		.loaded = (uint64_t)(uintptr_t)found->dlfo_link_map,
	};
	struct runtime_library *known = libraries->known;
	char path[PATH_MOST];

	for (unsigned i = 0; i < RUNTIME_LIBRARIES; i++) {
		if (known[i].loaded == one.loaded && known[i].code.start == one.code.start && known[i].code.end == one.code.end)
			return &known[i];
	}
	one.waits = read_name(one.loaded, path) && runtime_code_is_name(path);
	known += libraries->next;
	libraries->next = (libraries->next + 1) % RUNTIME_LIBRARIES;
	*known = one;
	return known;
}

bool runtime_code_find(struct runtime_libraries *libraries, uint64_t ip, struct runtime_code *code)
{
	struct dl_find_object found;
	const struct runtime_library *library;

	if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)ip, &found) != 0 || found.dlfo_link_map == NULL)
		return false;
	library = library_of(libraries, &found);
	if (library->waits)
		*code = library->code;
	return library->waits;
}
#else
bool runtime_code_find(struct runtime_libraries *libraries, uint64_t ip, struct runtime_code *code)
{
	(void)libraries, (void)ip, (void)code;
	return false;
}
#endif
