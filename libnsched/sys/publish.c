#include "publish.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* libsde's interface, as far as it is used: one of 2020, and the same since. Declared here, since its header
 * is wanted for nothing else and need not be installed. */
enum { SDE_OK = 0, SDE_RO = 0x00, SDE_DELTA = 0x00, SDE_INSTANT = 0x10, SDE_LONG_LONG = 0x0 };

struct sde_calls {
	void *(*init)(const char *library);
	int (*register_counter)(void *handle, const char *event, int mode, int type, void *counter);
	int (*describe_counter)(void *handle, const char *event, const char *text);
};

static _Atomic long long figures[PUBLISH_COUNT];   /* lives as long as the process: libnsched stays loaded */
static bool published;

static void *loaded(const char *library, int flags)
{
	return dlopen(library, RTLD_LAZY | RTLD_NOLOAD | flags);
}

/* libsde, in everybody's sight: as the program has it, or loaded for a program that has PAPI. */
static void *find_libsde(void)
{
	static const char *const papi[] = { "libpapi.so.7.2", "libpapi.so.7.1", "libpapi.so.7.0", "libpapi.so.6.0" };
	void *sde = loaded("libsde.so.1", RTLD_GLOBAL);
	for (size_t i = 0; !sde && i < sizeof papi / sizeof *papi; i++) {
		void *handle = loaded(papi[i], 0);
		if (!handle) continue;
		dlclose(handle);
		sde = dlopen("libsde.so.1", RTLD_NOW | RTLD_GLOBAL);
	}
	return sde;
}

static bool look_up(void *library, struct sde_calls *sde)
{
	*(void **)&sde->init = dlsym(library, "papi_sde_init");
	*(void **)&sde->register_counter = dlsym(library, "papi_sde_register_counter");
	*(void **)&sde->describe_counter = dlsym(library, "papi_sde_describe_counter");
	return sde->init && sde->register_counter && sde->describe_counter;
}

int publish_start(void)
{
	static const struct { const char *name; int mode; const char *text; } events[] = {
#define PUBLISH_EVENT(name, mode, text) { #name, SDE_##mode, text },
		PUBLISH_FIGURES(PUBLISH_EVENT)
#undef PUBLISH_EVENT
	};
	struct sde_calls sde;
	if (published) return 0;
	void *library = find_libsde();
	if (!library) return -ENOENT;
	void *handle = look_up(library, &sde) ? sde.init("nsched") : NULL;
	if (!handle) return -ENOENT;
	for (size_t i = 0; i < PUBLISH_COUNT; i++) {
		if (sde.register_counter(handle, events[i].name, SDE_RO | events[i].mode, SDE_LONG_LONG, &figures[i]) != SDE_OK) continue;
		(void)sde.describe_counter(handle, events[i].name, events[i].text);
	}
	published = true;
	return 0;
}

int publish_wanted(void)
{
	return published;
}

void publish_put(enum publish_figure figure, uint64_t value)
{
	atomic_store_explicit(&figures[figure], (long long)value, memory_order_relaxed);
}
