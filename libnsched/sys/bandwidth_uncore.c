/* Bandwidth by the counters of memory controllers, through perf events of the whole machine: the kernel allows those with perf_event_paranoid of 0
 * or less, or CAP_PERFMON.
 *
 * A controller's events are one group, so that one call reads them: it is an interrupt on the CPU that the kernel reads the controller by. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bandwidth.h"
#include "cpulist.h"
#include "files.h"
#include "perf_ring.h"
#include "pmu.h"
#include "pure/pmu_words.h"

enum {
	NODES_MOST = 64,          /* bits of nodes_os; those of larger numbers have GPUs' memory, on machines that are known */
	GROUPS_MOST = 1024,       /* controllers: machines have some dozen */
	PATH_BYTES = 320,
	LIST_BYTES = 4096,        /* "0-3,8,10-11" */
	WORDS_BYTES = 96,         /* of an event's file name */
};

struct group {
	int fd[UNCORE_EVENTS];    /* the first leads */
	unsigned n, part;
	enum uncore_way way[UNCORE_EVENTS];
	double bytes[UNCORE_EVENTS]; /* of a count */
	struct uncore_read last[UNCORE_EVENTS];
};

struct uncore {
	const struct uncore_kind *kind;
	unsigned n_groups, n_parts;
	struct group *group;
	struct bandwidth_part part[BANDWIDTH_PARTS];
};

/* While it is being opened. */
struct opening {
	struct uncore *u;
	const char *root;
	char *why;
	struct cpu_mask node[NODES_MOST];   /* their CPUs */
	struct cpu_mask cpus, reach;
	char list[LIST_BYTES];
};

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- whose memory it is ------------------------------------------------------------------------------------ */

/* A file with a list of CPUs; false where there is none. */
static bool read_list(struct opening *o, const char *name, struct cpu_mask *mask)
{
	char path[PATH_BYTES];
	if (snprintf(path, sizeof path, "%s%s", o->root, name) >= (int)sizeof path) return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, o->list, sizeof o->list - 1);
	if (fd >= 0) close(fd);
	o->list[got > 0 ? got : 0] = 0;
	return got > 0 && !cpulist_parse(o->list, mask) && cpulist_count(mask);
}

static bool read_topology(struct opening *o, unsigned cpu, const char *name)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, name);
	return read_list(o, path, &o->reach);
}

static bool meet(const struct cpu_mask *a, const struct cpu_mask *b)
{
	for (unsigned i = 0; i < MACHINE_CPUS / 64; i++)
		if (a->word[i] & b->word[i]) return true;
	return false;
}

/* The CPUs whose memory the device serves that is read by `cpu`: as newer kernels say, else by topology. */
static void find_reach(struct opening *o, const char *device, unsigned cpu)
{
	enum uncore_reach reach = o->u->kind->reach;
	char path[PATH_BYTES];
	snprintf(path, sizeof path, PMU_DEVICES "/%s/associated_cpus", device);
	if (read_list(o, path, &o->reach)) return;
	if (reach == UNCORE_DIE && read_topology(o, cpu, "die_cpus_list")) return;
	if (reach != UNCORE_NODE && (read_topology(o, cpu, "package_cpus_list") || read_topology(o, cpu, "core_siblings_list"))) return;
	mask_clear(&o->reach);
	mask_add(&o->reach, cpu);
}

static void read_nodes(struct opening *o)
{
	char path[PATH_BYTES];
	for (unsigned n = 0; n < NODES_MOST; n++) {
		snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", n);
		if (!read_list(o, path, &o->node[n])) mask_clear(&o->node[n]);
	}
}

/* The part that is these nodes' together; -E2BIG, -ENODEV: the kernel tells of no node. */
static int find_part(struct opening *o, const char *device, unsigned cpu)
{
	struct uncore *u = o->u;
	uint64_t nodes = 0;
	find_reach(o, device, cpu);
	for (unsigned n = 0; n < NODES_MOST; n++)
		if (meet(&o->node[n], &o->reach)) nodes |= UINT64_C(1) << n;
	if (!nodes) return -ENODEV;
	for (unsigned p = 0; p < u->n_parts; p++)
		if (u->part[p].nodes_os == nodes) return (int)p;
	if (u->n_parts == BANDWIDTH_PARTS) return -E2BIG;
	u->part[u->n_parts].nodes_os = nodes;
	return (int)u->n_parts++;
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

static int understand(struct opening *o, const char *device)
{
	snprintf(o->why, BANDWIDTH_WHY, "%.40s: its files in /sys are not understood", device);
	return -EINVAL;
}

static int refused(struct opening *o, int err)
{
	if (err == -EACCES || err == -EPERM)
		snprintf(o->why, BANDWIDTH_WHY, "perf_event_open refused: to count for the whole machine takes perf_event_paranoid of 0, or CAP_PERFMON");
	else
		snprintf(o->why, BANDWIDTH_WHY, "%s: %.100s", o->u->kind->name, perf_refusal(err));
	return err;
}

/* The event as the device has it, into attr and *bytes. 1; 0: it does not have it; -EINVAL. */
static int describe(const struct opening *o, const char *device, const struct uncore_event *event, struct perf_event_attr *attr, double *bytes)
{
	char name[WORDS_BYTES], words[PMU_TEXT_BYTES], scale[PMU_TEXT_BYTES], unit[PMU_TEXT_BYTES];
	snprintf(name, sizeof name, "events/%s", event->name);
	if (!event->words && !pmu_file(o->root, device, name, words)) return 0;
	*bytes = (double)event->bytes;
	if (!(event->bytes > 0)) {
		snprintf(name, sizeof name, "events/%s.scale", event->name);
		bool scaled = pmu_file(o->root, device, name, scale);
		snprintf(name, sizeof name, "events/%s.unit", event->name);
		if (!scaled || !pmu_file(o->root, device, name, unit) || pmu_bytes(scale, unit, bytes)) return -EINVAL;
	}
	*attr = (struct perf_event_attr){ .size = sizeof *attr,
	                                  .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING };
	if (!pmu_type(o->root, device, &attr->type) || pmu_event(o->root, device, event->words ? event->words : words, attr)) return -EINVAL;
	return 1;
}

static void close_group(struct group *g)
{
	while (g->n) files_close(g->fd[--g->n]);
}

/* What the device has to count, for the CPU that it is read by. */
static int open_group(struct opening *o, const char *device, unsigned cpu, struct group *g)
{
	for (unsigned e = 0; e < UNCORE_EVENTS && o->u->kind->event[e].name; e++) {
		struct perf_event_attr attr;
		int has = describe(o, device, &o->u->kind->event[e], &attr, &g->bytes[g->n]);
		if (has < 0) return understand(o, device);
		if (!has) continue;
		long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, g->n ? g->fd[0] : -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0) return refused(o, -errno);
		g->way[g->n] = o->u->kind->event[e].way;
		g->fd[g->n++] = (int)fd;
	}
	return 0;
}

static int add_group(struct opening *o, const char *device, unsigned cpu)
{
	struct uncore *u = o->u;
	struct group g = { .n = 0 };
	int ret = open_group(o, device, cpu, &g), part = ret || !g.n ? -1 : find_part(o, device, cpu);
	struct group *more = part < 0 || u->n_groups == GROUPS_MOST ? NULL : realloc(u->group, (u->n_groups + 1) * sizeof *more);
	if (!more) {
		bool any = g.n > 0;
		close_group(&g);
		return ret || !any ? ret : understand(o, device);
	}
	g.part = (unsigned)part;
	u->group = more;
	u->group[u->n_groups++] = g;
	return 0;
}

/* A device is read by one CPU of each package, or of each die. */
static int add_device(struct opening *o, const char *device)
{
	const struct uncore_kind *kind = uncore_kind_of(device);
	char path[PATH_BYTES];
	int ret = 0;
	if (!kind || (o->u->n_groups && o->u->kind != kind)) return 0;   /* two kinds would count the same bytes twice */
	snprintf(path, sizeof path, PMU_DEVICES "/%.64s/cpumask", device);
	o->u->kind = kind;
	if (!read_list(o, path, &o->cpus)) return understand(o, device);
	for (unsigned cpu = 0; !ret && cpu < MACHINE_CPUS; cpu++)
		if (mask_has(&o->cpus, cpu)) ret = add_group(o, device, cpu);
	return ret;
}

static int add_devices(struct opening *o)
{
	char path[PATH_BYTES];
	const struct dirent *entry;
	int ret = 0;
	snprintf(path, sizeof path, "%s" PMU_DEVICES, o->root);
	DIR *folder = opendir(path);
	if (!folder) return 0;
	while (!ret && (entry = readdir(folder))) ret = add_device(o, entry->d_name);
	closedir(folder);
	return ret;
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

static int read_group(struct group *g, double bytes[UNCORE_WAYS])
{
	struct { uint64_t n, enabled, running, value[UNCORE_EVENTS]; } now;
	size_t wanted = (3 + g->n) * sizeof(uint64_t);
	ssize_t got = read(g->fd[0], &now, wanted);
	if (got < 0) return -errno;
	if ((size_t)got != wanted || now.n != g->n) return -EIO;
	for (unsigned e = 0; e < g->n; e++) {
		struct uncore_read one = { now.value[e], now.enabled, now.running };
		double counts = 0;
		if (uncore_since(&g->last[e], &one, &counts)) bytes[g->way[e]] += counts * g->bytes[e];
	}
	return 0;
}

static int compare_parts(const void *a, const void *b)
{
	uint64_t x = ((const struct bandwidth_part *)a)->nodes_os, y = ((const struct bandwidth_part *)b)->nodes_os;
	return __builtin_ctzll(x) - __builtin_ctzll(y);
}

static int uncore_read(void *state, uint64_t *at_ns, struct bandwidth_part *part, unsigned most)
{
	struct uncore *u = state;
	unsigned n = u->n_parts < most ? u->n_parts : most;
	*at_ns = now_ns();
	for (unsigned i = 0; i < u->n_groups; i++) {
		int ret = read_group(&u->group[i], u->part[u->group[i].part].bytes);
		if (ret) return ret;
	}
	memcpy(part, u->part, n * sizeof *part);
	qsort(part, n, sizeof *part, compare_parts);   /* folders come in any order, and the same one each time */
	return (int)n;
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

static void uncore_stop(void *state)
{
	struct uncore *u = state;
	for (unsigned i = 0; i < u->n_groups; i++) close_group(&u->group[i]);
	free(u->group);
	free(u);
}


static int open_all(struct opening *o)
{
	struct bandwidth_part part[BANDWIDTH_PARTS];
	struct uncore *u = o->u;
	uint64_t at_ns;
	read_nodes(o);
	int ret = add_devices(o);
	if (!ret && !u->n_groups) {
		snprintf(o->why, BANDWIDTH_WHY, "this machine has no counters of its memory that are known");
		return -ENODEV;
	}
	if (ret) return ret;
	ret = uncore_read(u, &at_ns, part, BANDWIDTH_PARTS);
	if (ret < 0) snprintf(o->why, BANDWIDTH_WHY, "%s: they were opened, but can't be read", u->kind->name);
	return ret < 0 ? ret : 0;
}

static int uncore_start(const char *root, void **state, const char **counted_by, char why[BANDWIDTH_WHY])
{
	struct opening *o = malloc(sizeof *o);
	struct uncore *u = calloc(1, sizeof *u);
	int ret = -ENOMEM;
	snprintf(why, BANDWIDTH_WHY, "no memory");
	if (o && u) {
		o->u = u;
		o->root = root;
		o->why = why;
		ret = open_all(o);
	}
	free(o);
	if (!ret) {
		*state = u;
		*counted_by = u->kind->name;
		why[0] = 0;
	} else if (u) {
		uncore_stop(u);
	}
	return ret;
}

const struct bandwidth_ops bandwidth_uncore = { uncore_start, uncore_read, uncore_stop, uncore_stop };
