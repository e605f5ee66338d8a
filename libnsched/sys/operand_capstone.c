#include "operand_capstone.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "sys/room.h"

enum { FILE_BYTES = 32 };

struct capstone_calls capstone;

bool capstone_load(void)
{
	static bool whole;
	const struct { const char *name; void *call; } wanted[] = {
#define CAPSTONE_CALL(call) { "cs_" #call, &capstone.call },
		CAPSTONE_CALLS(CAPSTONE_CALL)
#undef CAPSTONE_CALL
	};
	char name[FILE_BYTES];

	if (whole)
		return true;
	snprintf(name, sizeof(name), "libcapstone.so.%d", CS_API_MAJOR); /* its name changes with its interface */
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	whole = library != NULL;
	for (size_t i = 0; whole && i < sizeof(wanted) / sizeof(wanted[0]); i++)
		whole = (*(void **)wanted[i].call = dlsym(library, wanted[i].name)) != NULL;
	if (library && !whole)
		dlclose(library);
	return whole;
}

void capstone_close(void *state)
{
	struct capstone_state *s = state;

	if (s->insn)
		cs_free(s->insn, 1);
	cs_close(&s->handle);
	free(s);
}

struct capstone_state *capstone_open(cs_arch arch, cs_mode mode, const uint8_t *nop, size_t bytes)
{
	struct capstone_state *s = room_is_left() && capstone_load() ? calloc(1, sizeof(*s)) : NULL;
	uint64_t at = 0;

	if (!s)
		return NULL;
	if (cs_open(arch, mode, &s->handle) != CS_ERR_OK) {
		free(s);
		return NULL;
	}
	if (cs_option(s->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
		s->insn = cs_malloc(s->handle);
	if (!s->insn) {
		capstone_close(s);
		return NULL;
	}
	(void)cs_disasm_iter(s->handle, &nop, &bytes, &at, s->insn);
	return s;
}
