#include "mpi_library.h"

#include "mpi_next.h"

struct library library;

bool library_bind(void)
{
#define CALL(name) \
	library.name = (__typeof__(library.name))next_find("PMPI_" #name); \
	if (library.name == NULL) \
		return false;
	LIBRARY_CALLS(CALL)
#undef CALL
	return true;
}
