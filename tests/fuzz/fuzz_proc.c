/* What the readers of the kernel's texts do with any text: numa_maps, /proc/PID/sched, lists of CPUs, cpuinfo, the folders of counters. The first letter says which.
 * Numbers come out within their bounds, ranges in rising order, and a list that was taken prints as one that is the same. */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pmu_words.h"
#include "pure/uncore.h"
#include "sys/counter_events.h"
#include "sys/cpulist.h"
#include "sys/kernel_faults.h"
#include "sys/numa_maps.h"

enum { RANGES = 64, LIST_BYTES = 1 << 16 };

static void read_maps(const char *text)
{
	struct numa_range range[RANGES];
	unsigned n = numa_maps_parse(text, range, RANGES);
	if (n > RANGES) abort();
	for (unsigned i = 0; i < n; i++) {
		if ((i && range[i].start <= range[i - 1].start) || (range[i].node_os < 0 && range[i].node_os != -ENOENT)) abort();
		if (numa_maps_find(range, n, range[i].start) != range[i].node_os) abort();
	}
}

static void node(void *arg, unsigned node_os, uint64_t faults)
{
	uint64_t *sum = arg;
	if (node_os >= KERNEL_NODES) abort();
	*sum += faults;
}

static void read_faults(const char *text)
{
	struct kernel_faults faults;
	uint64_t sum = 0;
	int ret = kernel_faults_parse(text, &faults, node, &sum);
	if (ret && ret != -ENODATA && ret != -EINVAL) abort();
	if (faults.sum != sum || faults.preferred_os < -1 || faults.preferred_os >= KERNEL_NODES) abort();
}

static void read_list(const char *text)
{
	static char again[LIST_BYTES];
	struct cpu_mask mask, second;
	int ret = cpulist_parse(text, &mask);
	if (ret && ret != -EINVAL && ret != -ERANGE) abort();
	if (ret) return;
	cpulist_print(&mask, again, sizeof again);
	if (cpulist_parse(again, &second) || !mask_equal(&mask, &second) || cpulist_count(&mask) != cpulist_count(&second)) abort();
	cpulist_print(&mask, again, 16);
	if (strlen(again) >= 16) abort();
}

static void read_cpu(const char *text)
{
	struct counter_events events;
	char cpu[CPU_NAME_BYTES] = "", why[200] = "";
	int ret = counter_events_of_cpu(text, &events, cpu);
	if (ret && ret != -ENOENT) abort();
	if (!memchr(cpu, 0, sizeof cpu)) abort();
	ret = counter_events_named(text, &events, why, sizeof why);
	if (ret && (!why[0] || !memchr(why, 0, sizeof why))) abort();
}

/* The text as an event, as a format, as a scale and as the name of a device. */
static void read_pmu(const char *text)
{
	const char *at = text;
	char word[PMU_WORD_BYTES];
	uint64_t value, config[PMU_CONFIGS] = { 0 };
	double bytes;
	int more;
	while ((more = pmu_word(&at, word, &value)) > 0)
		if (!memchr(word, 0, sizeof word) || !word[0] || at > text + strlen(text)) abort();
	if (more && more != -EINVAL) abort();
	int ret = pmu_put(text, UINT64_MAX, config);
	if (ret && ret != -EINVAL) abort();
	ret = pmu_bytes(text, "MiB", &bytes);
	if (ret ? ret != -EINVAL : !(bytes > 0)) abort();
	(void)uncore_kind_of(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(const char *) = { read_maps, read_faults, read_list, read_cpu, read_pmu };
	if (!size) return 0;
	char *text = malloc(size);
	if (!text) return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	readers[data[0] % (sizeof readers / sizeof *readers)](text);
	free(text);
	return 0;
}
