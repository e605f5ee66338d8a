#include "mem_pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem_sample.h"

enum { PATH_BYTES = 256, TEXT_BYTES = 128 };

/* The file below the device, without its line's end. */
static bool slurp(const char *root, const char *device, const char *name, char text[TEXT_BYTES])
{
	char path[PATH_BYTES];
	int fd;
	ssize_t got;

	if (snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices/%s/%s", root, device, name) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, TEXT_BYTES - 1);
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return got > 0;
}

static bool read_type(const char *root, const char *device, uint32_t *type)
{
	char text[TEXT_BYTES], *end;

	if (!slurp(root, device, "type", text))
		return false;
	*type = (uint32_t)strtoul(text, &end, 10);
	return end != text && !*end;
}

static bool has(const char *root, const char *device, const char *name)
{
	char text[TEXT_BYTES];

	return slurp(root, device, name, text);
}

/* ---- events in words -------------------------------------------------------------------------------------------- */

/* Puts the value's bits where "config1:0-15" or "config:0-7,32-35" says. */
static int put_bits(const char *format, uint64_t value, struct perf_event_attr *attr)
{
	const char *colon = strchr(format, ':');
	size_t length = colon ? (size_t)(colon - format) : 0;
	__u64 *field;

	if (length == 6 && !strncmp(format, "config", 6))
		field = &attr->config;
	else if (length == 7 && !strncmp(format, "config1", 7))
		field = &attr->config1;
	else if (length == 7 && !strncmp(format, "config2", 7))
		field = &attr->config2;
	else
		return -EINVAL;
	for (const char *at = colon + 1; *at;) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (end == at)
			return -EINVAL;
		if (*end == '-') {
			at = end + 1;
			last = strtoul(at, &end, 10);
		}
		if (last < first || last > 63 || (*end && *end != ','))
			return -EINVAL;
		for (unsigned long bit = first; bit <= last; bit++, value >>= 1)
			*field |= (value & 1) << bit;
		at = *end ? end + 1 : end;
	}
	return value ? -EINVAL : 0;
}

int mem_pmu_event(const char *root, const char *device, const char *words, struct perf_event_attr *attr)
{
	char copy[TEXT_BYTES], *rest = NULL;

	if (strlen(words) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, words);
	for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		char name[TEXT_BYTES], format[TEXT_BYTES];
		char *value = strchr(word, '='), *end = NULL;
		uint64_t number = 1;

		if (value) {
			*value++ = '\0';
			number = strtoull(value, &end, 0);
			if (end == value || *end)
				return -EINVAL;
		}
		if (snprintf(name, sizeof(name), "format/%s", word) >= (int)sizeof(name) || !slurp(root, device, name, format) ||
		    put_bits(format, number, attr))
			return -EINVAL;
	}
	return 0;
}

/* ---- processors --------------------------------------------------------------------------------------------------- */

static struct perf_event_attr base(uint64_t sample_type)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.sample_type = sample_type,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* nobody waits for it */
	};
}

static void set_precise(struct perf_event_attr *attr)
{
	attr->precise_ip = 2; /* the address is of the very access that was sampled */
}

static int intel_stores(const char *root, const char *device, struct mem_pmu *pmu)
{
	char words[TEXT_BYTES];

	if (!slurp(root, device, "events/mem-stores", words))
		return 0;
	pmu->stores = base(MEM_SAMPLE_TYPE);
	pmu->stores.type = pmu->attr.type;
	set_precise(&pmu->stores);
	pmu->has_stores = mem_pmu_event(root, device, words, &pmu->stores) == 0;
	return pmu->has_stores ? 0 : -EINVAL;
}

/* `device` is "cpu", or "cpu_core" where a processor has cores of two kinds. */
static int find_intel(const char *root, const char *device, struct mem_pmu *pmu)
{
	char words[TEXT_BYTES], latency[TEXT_BYTES], aux[TEXT_BYTES];
	char *ldlat;

	pmu->kind = MEM_PMU_INTEL;
	pmu->name = "Intel load latency";
	pmu->attr = base(MEM_SAMPLE_TYPE);
	if (!slurp(root, device, "events/mem-loads", words) || !read_type(root, device, &pmu->attr.type))
		return -ENODEV;
	ldlat = strstr(words, "ldlat=");
	if (ldlat)
		*ldlat = '\0';
	snprintf(latency, sizeof(latency), "%.*sldlat=%d", (int)sizeof(latency) - 16, words, MEM_LATENCY_LEAST);
	if (mem_pmu_event(root, device, latency, &pmu->attr))
		return -EINVAL;
	set_precise(&pmu->attr);
	if (slurp(root, device, "events/mem-loads-aux", aux)) {
		pmu->has_leader = true;
		pmu->leader = base(0);
		pmu->leader.type = pmu->attr.type;
		if (mem_pmu_event(root, device, aux, &pmu->leader))
			return -EINVAL;
	}
	return intel_stores(root, device, pmu);
}

static bool at_least(const char *release, unsigned major, unsigned minor)
{
	unsigned has_major = 0, has_minor = 0;

	if (sscanf(release, "%u.%u", &has_major, &has_minor) != 2)
		return false;
	return has_major > major || (has_major == major && has_minor >= minor);
}

/* IBS counts the kernel's operations with the program's: only kernels with a filter in software (6.14) let an
 * ordinary user have it; before, it takes perf_event_paranoid of 1 or less. */
static int find_ibs(const char *root, const char *release, struct mem_pmu *pmu)
{
	bool common = at_least(release, 6, 1);

	pmu->kind = common ? MEM_PMU_IBS : MEM_PMU_IBS_RAW;
	pmu->name = common ? "AMD IBS" : "AMD IBS, raw";
	pmu->attr = base(common ? MEM_SAMPLE_TYPE : MEM_SAMPLE_TYPE_IBS);
	if (!read_type(root, "ibs_op", &pmu->attr.type))
		return -ENODEV;
	pmu->attr.exclude_hv = 0;
	pmu->attr.exclude_kernel = has(root, "ibs_op", "format/swfilt");
	if (pmu->attr.exclude_kernel && mem_pmu_event(root, "ibs_op", "swfilt=1", &pmu->attr))
		return -EINVAL;
	/* counting operations, not cycles, samples them evenly; the very first IBS could not */
	if (has(root, "ibs_op", "format/cnt_ctl") && mem_pmu_event(root, "ibs_op", "cnt_ctl=1", &pmu->attr))
		return -EINVAL;
	return 0;
}

static int find_spe(const char *root, struct mem_pmu *pmu)
{
	char words[TEXT_BYTES];

	pmu->kind = MEM_PMU_SPE;
	pmu->name = "Arm SPE";
	pmu->attr = base(PERF_SAMPLE_TID);
	if (!read_type(root, "arm_spe_0", &pmu->attr.type))
		return -ENODEV;
	snprintf(words, sizeof(words), "load_filter=1,store_filter=1,jitter=1,min_latency=%d", MEM_LATENCY_LEAST);
	return mem_pmu_event(root, "arm_spe_0", words, &pmu->attr);
}

int mem_pmu_find(const char *root, const char *release, struct mem_pmu *pmu, char why[MEM_WHY])
{
	int ret;

	memset(pmu, 0, sizeof(*pmu));
	ret = find_intel(root, "cpu", pmu);
	if (ret == -ENODEV)
		ret = find_intel(root, "cpu_core", pmu);
	if (ret == -ENODEV)
		ret = find_ibs(root, release, pmu);
	if (ret == -ENODEV)
		ret = find_spe(root, pmu);
	if (ret == -ENODEV)
		snprintf(why, MEM_WHY, "this machine samples no memory accesses (a virtual one, or no Intel PEBS, AMD IBS, Arm SPE)");
	else if (ret)
		snprintf(why, MEM_WHY, "%s: its files in /sys are not understood", pmu->name);
	return ret;
}
