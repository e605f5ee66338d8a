#define _GNU_SOURCE /* dl_iterate_phdr */
#include "ompt_runtime.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

struct runtime_text runtime_text;

/* libomp.so.5, libomp5.so, libiomp5.so, and either of them under gcc's name. */
static bool is_runtime_name(const char *path)
{
	static const char *const names[] = { "libomp", "libiomp", "libgomp" };
	const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static int look(struct dl_phdr_info *module, size_t size, void *wanted)
{
	uintptr_t address = *(uintptr_t *)wanted;

	(void)size;
	for (int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
		uintptr_t first = module->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || address < first ||
		    address - first >= segment->p_memsz)
			continue;
		if (is_runtime_name(module->dlpi_name))
			runtime_text = (struct runtime_text){ first, first + segment->p_memsz };
		return 1;
	}
	return 0;
}

void runtime_find(void (*function)(void))
{
	uintptr_t address = (uintptr_t)function;

	runtime_text = (struct runtime_text){ 0, 0 };
	dl_iterate_phdr(look, &address);
}
