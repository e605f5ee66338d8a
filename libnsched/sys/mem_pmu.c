#include "mem_pmu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mem_sample.h"
#include "pmu.h"

static bool has(const char *root, const char *device, const char *name)
{
	char text[PMU_TEXT_BYTES];

	return pmu_file(root, device, name, text);
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
	char words[PMU_TEXT_BYTES];

	if (!pmu_file(root, device, "events/mem-stores", words))
		return 0;
	pmu->stores = base(MEM_SAMPLE_TYPE);
	pmu->stores.type = pmu->attr.type;
	set_precise(&pmu->stores);
	pmu->has_stores = pmu_event(root, device, words, &pmu->stores) == 0;
	return pmu->has_stores ? 0 : -EINVAL;
}

/* `device` is "cpu", or "cpu_core" where a processor has cores of two kinds. */
static int find_intel(const char *root, const char *device, struct mem_pmu *pmu)
{
	char words[PMU_TEXT_BYTES], latency[PMU_TEXT_BYTES], aux[PMU_TEXT_BYTES];
	char *ldlat;

	pmu->kind = MEM_PMU_INTEL;
	pmu->name = "Intel load latency";
	pmu->attr = base(MEM_SAMPLE_TYPE);
	if (!pmu_file(root, device, "events/mem-loads", words) || !pmu_type(root, device, &pmu->attr.type))
		return -ENODEV;
	ldlat = strstr(words, "ldlat=");
	if (ldlat)
		*ldlat = '\0';
	snprintf(latency, sizeof(latency), "%.*sldlat=%d", (int)sizeof(latency) - 16, words, MEM_LATENCY_LEAST);
	if (pmu_event(root, device, latency, &pmu->attr))
		return -EINVAL;
	set_precise(&pmu->attr);
	if (pmu_file(root, device, "events/mem-loads-aux", aux)) {
		pmu->has_leader = true;
		pmu->leader = base(0);
		pmu->leader.type = pmu->attr.type;
		if (pmu_event(root, device, aux, &pmu->leader))
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
	if (!pmu_type(root, "ibs_op", &pmu->attr.type))
		return -ENODEV;
	pmu->attr.exclude_hv = 0;
	pmu->attr.exclude_kernel = has(root, "ibs_op", "format/swfilt");
	if (pmu->attr.exclude_kernel && pmu_event(root, "ibs_op", "swfilt=1", &pmu->attr))
		return -EINVAL;
	/* counting operations, not cycles, samples them evenly; the very first IBS could not */
	if (has(root, "ibs_op", "format/cnt_ctl") && pmu_event(root, "ibs_op", "cnt_ctl=1", &pmu->attr))
		return -EINVAL;
	return 0;
}

static int find_spe(const char *root, struct mem_pmu *pmu)
{
	char words[PMU_TEXT_BYTES];

	pmu->kind = MEM_PMU_SPE;
	pmu->name = "Arm SPE";
	pmu->attr = base(PERF_SAMPLE_TID);
	if (!pmu_type(root, "arm_spe_0", &pmu->attr.type))
		return -ENODEV;
	snprintf(words, sizeof(words), "load_filter=1,store_filter=1,jitter=1,min_latency=%d", MEM_LATENCY_LEAST);
	return pmu_event(root, "arm_spe_0", words, &pmu->attr);
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
