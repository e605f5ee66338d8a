#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "papi_calls.h"

enum { FILE_BYTES = 64 };

/* libpapi.so.7.0: the library's name changes with its interface, which its first two numbers count. */
static const char *soname(const char *library, char name[FILE_BYTES])
{
	if (library) return library;
	snprintf(name, FILE_BYTES, "libpapi.so.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION), PAPI_VERSION_MINOR(PAPI_VERSION));
	return name;
}

int papi_is_loaded(const char *library)
{
	char name[FILE_BYTES];
	void *handle = dlopen(soname(library, name), RTLD_LAZY | RTLD_NOLOAD);
	if (handle) dlclose(handle);
	return handle != NULL;
}

/* PAPI finds software-defined events through symbols of libsde in the process's global scope, once, when it is
 * initialized; a plugin's libsde (OMP_TOOL_LIBRARIES, dlopen) is not there until it is said so. */
static void show_libsde(void)
{
	(void)dlopen("libsde.so.1", RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

static int look_up(struct papi_calls *papi, void *handle)
{
	const struct { const char *name; void *call; } calls[] = {
		{ "PAPI_library_init", &papi->library_init },
		{ "PAPI_thread_init", &papi->thread_init },
		{ "PAPI_register_thread", &papi->register_thread },
		{ "PAPI_unregister_thread", &papi->unregister_thread },
		{ "PAPI_num_components", &papi->num_components },
		{ "PAPI_get_component_info", &papi->get_component_info },
		{ "PAPI_get_event_component", &papi->get_event_component },
		{ "PAPI_event_name_to_code", &papi->event_name_to_code },
		{ "PAPI_event_code_to_name", &papi->event_code_to_name },
		{ "PAPI_enum_cmp_event", &papi->enum_cmp_event },
		{ "PAPI_create_eventset", &papi->create_eventset },
		{ "PAPI_assign_eventset_component", &papi->assign_eventset_component },
		{ "PAPI_attach", &papi->attach },
		{ "PAPI_add_named_event", &papi->add_named_event },
		{ "PAPI_start", &papi->start },
		{ "PAPI_read", &papi->read },
		{ "PAPI_stop", &papi->stop },
		{ "PAPI_cleanup_eventset", &papi->cleanup_eventset },
		{ "PAPI_destroy_eventset", &papi->destroy_eventset },
		{ "PAPI_strerror", &papi->strerror },
	};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (!(*(void **)calls[i].call = dlsym(handle, calls[i].name))) return -ENOSYS;
	return 0;
}

static unsigned long self(void)
{
	return (unsigned long)pthread_self();
}

int papi_load(struct papi_calls *papi, const char *library, char *why, size_t bytes)
{
	char name[FILE_BYTES];
	void *handle = dlopen(soname(library, name), RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		snprintf(why, bytes, "%s can't be loaded: install PAPI (Debian: libpapi7.0)", soname(library, name));
		return -ENOENT;
	}
	if (look_up(papi, handle)) {
		snprintf(why, bytes, "%s lacks calls that PAPI has", soname(library, name));
		dlclose(handle);
		return -ENOSYS;
	}
	show_libsde();
	int ret = papi->library_init(PAPI_VER_CURRENT);
	if (ret != PAPI_VER_CURRENT) {
		snprintf(why, bytes, ret > 0 ? "PAPI is of another version than nsched was built with" : "PAPI could not be initialized: %s",
		         papi->strerror(ret));
		return -EIO;
	}
	ret = papi->thread_init(self);
	if (ret != PAPI_OK) snprintf(why, bytes, "PAPI takes no threads: %s", papi->strerror(ret));
	return ret == PAPI_OK ? 0 : -EIO;
}
