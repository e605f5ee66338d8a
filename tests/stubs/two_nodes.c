/* Preloaded, it makes nsched believe that a machine with one NUMA node has two, each with every other CPU: the
 * files of /sys that nsched reads first are these; hwloc is told by HWLOC_SYNTHETIC. Memory stays where it is, so
 * nsched has to run with dry_run=1. For what is measured or read natively, where the emulated machine won't do. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char NODES[] = "/sys/devices/system/node/";

static void cpus_of(unsigned node, char text[256])
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), half = cpus / 2 ? cpus / 2 : 1;
	if (node == 0) snprintf(text, 256, "0-%ld\n", half - 1);
	else snprintf(text, 256, "%ld-%ld\n", half, cpus - 1);
}

static int made_up(const char *path)
{
	char text[256];
	if (!strcmp(path, "online")) snprintf(text, sizeof text, "0-1\n");
	else if (!strcmp(path, "node0/cpulist")) cpus_of(0, text);
	else if (!strcmp(path, "node1/cpulist")) cpus_of(1, text);
	else return -1;
	int ends[2];   /* no file: a program may limit how long files get */
	size_t length = strlen(text);
	if (pipe2(ends, O_CLOEXEC)) return -1;
	ssize_t put = write(ends[1], text, length);
	close(ends[1]);
	if (put == (ssize_t)length) return ends[0];
	close(ends[0]);
	return -1;
}

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
	static int (*next)(const char *path, int flags, ...);
	va_list list;
	va_start(list, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
	va_end(list);
	int fd = strncmp(path, NODES, sizeof NODES - 1) ? -1 : made_up(path + sizeof NODES - 1);
	if (fd >= 0) return fd;
	if (!next) *(void **)&next = dlsym(RTLD_NEXT, "open");
	return next(path, flags, mode);
}
