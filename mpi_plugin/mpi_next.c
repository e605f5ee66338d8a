#define _GNU_SOURCE
#include "mpi_next.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "mpi_family.h"

/* What the names of MPI libraries begin with: libmpi.so.40, libmpich.so.12, libmpi_mpifh.so.40, ... */
#define MPI_LIBRARIES "libmp"

struct search {
	unsigned skip; /* this many of them */
	char path[PATH_MAX];
};

static int look_at_object(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	struct search *search = arg;
	const char *path = object->dlpi_name, *slash = strrchr(path, '/');

	(void)bytes;
	if (strncmp(slash == NULL ? path : slash + 1, MPI_LIBRARIES, strlen(MPI_LIBRARIES)) != 0 ||
	    strlen(path) >= sizeof(search->path))
		return 0;
	if (search->skip-- > 0)
		return 0;
	strcpy(search->path, path);
	return 1;
}

/* In the MPI libraries that are loaded. Python's MPI module, for one, brings them in privately: they call
 * us, since we are global, but the search from us on does not see them. */
static void *find_private(const char *name)
{
	void *found = NULL;

	for (unsigned i = 0; found == NULL; i++) {
		struct search search = { .skip = i };

		if (dl_iterate_phdr(look_at_object, &search) == 0)
			break;
		void *library = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);

		if (library == NULL)
			continue;
		found = dlsym(library, name);
		dlclose(library); /* it stays: whoever loaded it holds it */
	}
	return found;
}

static void *find(void *where, const char *name)
{
	int saved = errno;
	void *found = dlsym(where, name);

	if (found == NULL)
		found = find_private(name);
	errno = saved;
	return found;
}

void *next_find(const char *name)
{
	return find(RTLD_NEXT, name);
}

void *next_variable(const char *name)
{
	return find(RTLD_DEFAULT, name);
}

bool next_is_family(void)
{
	return next_variable(FAMILY_MARK) != NULL && next_variable(FAMILY_FOREIGN) == NULL;
}
