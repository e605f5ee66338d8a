#include "operand_capstone.h"

#include <dlfcn.h>
#include <stdio.h>

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
