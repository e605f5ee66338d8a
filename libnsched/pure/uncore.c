#include "pure/uncore.h"

#include <stddef.h>
#include <string.h>

#include "pure/pure.h"

#define LINE 64          /* bytes that a command to memory moves */
#define BEAT 32          /* and a beat, of those that count beats */

/* Intel: the driver names them and says what a count is (arch/x86/events/intel/uncore_snbep.c, since Sandy Bridge; Granite Rapids counts the
 * halves of a channel apart). AMD: since Zen 4 and Linux 6.10; the driver has formats only, perf's own tables the events and their 64 bytes
 * (tools/perf/pmu-events/arch/x86/amdzen4, memory-controller.json and recommended.json). HiSilicon: admin-guide/perf/hisi-pmu.rst; the 32
 * bytes are of Huawei's A-Tune. NVIDIA Grace: admin-guide/perf/nvidia-pmu.rst. Arm: of CMN, what its home nodes ask of memory, by lines.
 * None of these machines was at hand to try it. */
static const struct uncore_kind kinds[] = {
	{ "Intel memory controllers", { "uncore_imc_#", "uncore_imc" }, UNCORE_DIE,
	  { { "cas_count_read", NULL, 0, UNCORE_READ }, { "cas_count_write", NULL, 0, UNCORE_WRITTEN },
	    { "cas_count_read_sch0", NULL, 0, UNCORE_READ }, { "cas_count_read_sch1", NULL, 0, UNCORE_READ },
	    { "cas_count_write_sch0", NULL, 0, UNCORE_WRITTEN }, { "cas_count_write_sch1", NULL, 0, UNCORE_WRITTEN } } },
	{ "AMD memory controllers", { "amd_umc_#" }, UNCORE_PACKAGE,
	  { { "umc_cas_cmd.rd", "event=0x0a,rdwrmask=0x1", LINE, UNCORE_READ }, { "umc_cas_cmd.wr", "event=0x0a,rdwrmask=0x2", LINE, UNCORE_WRITTEN } } },
	{ "HiSilicon memory controllers", { "hisi_sccl#_ddrc#", "hisi_sccl#_ddrc#_#" }, UNCORE_NODE,
	  { { "flux_rd", NULL, BEAT, UNCORE_READ }, { "flux_wr", NULL, BEAT, UNCORE_WRITTEN } } },
	{ "NVIDIA coherency fabric", { "nvidia_scf_pmu_#" }, UNCORE_PACKAGE,
	  { { "cmem_rd_data", NULL, BEAT, UNCORE_READ }, { "cmem_wr_total_bytes", NULL, 1, UNCORE_WRITTEN } } },
	{ "Arm mesh", { "arm_cmn_#" }, UNCORE_PACKAGE,
	  { { "hnf_mc_reqs", NULL, LINE, UNCORE_EITHER }, { "hns_mc_reqs_local_all", NULL, LINE, UNCORE_EITHER } } },
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool matches(const char *pattern, const char *name)
{
	for (; *pattern; pattern++) {
		if (*pattern == '#' ? !digit(*name) : *name != *pattern) return false;
		name++;
		while (*pattern == '#' && digit(*name)) name++;
	}
	return !*name;
}

const struct uncore_kind *uncore_kind_of(const char *device)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (unsigned d = 0; d < UNCORE_DEVICES && kinds[i].device[d]; d++)
			if (matches(kinds[i].device[d], device)) return &kinds[i];
	return NULL;
}

bool uncore_since(struct uncore_read *last, const struct uncore_read *now, double *counts)
{
	struct uncore_read was = *last;
	*last = *now;
	if (now->value < was.value || now->enabled < was.enabled || now->running <= was.running) return false;
	double enabled = (double)(now->enabled - was.enabled), running = (double)(now->running - was.running);
	*counts = (double)(now->value - was.value);
	if (enabled > running) *counts *= enabled / running;
	return true;
}

double uncore_meter_bytes(const struct uncore_meter *m)
{
	double sum = 0;
	for (unsigned w = 0; w < UNCORE_WAYS; w++) sum += m->bytes[w];
	return sum;
}

static float mbs(double bytes, double ns)
{
	return ns > 0 ? (float)(bytes / ns * 1e3) : 0;
}

void uncore_meter_add(struct uncore_meter *m, uint64_t at_ns, const double bytes[UNCORE_WAYS])
{
	double before = uncore_meter_bytes(m), passed = (double)(at_ns - m->at_ns);
	if (m->at_ns && at_ns > m->at_ns) {
		for (unsigned w = 0; w < UNCORE_WAYS; w++) m->bytes[w] += bytes[w] - m->last[w];
		m->watched_ns += passed;
		m->now_mbs = mbs(uncore_meter_bytes(m) - before, passed);
		if (m->now_mbs > m->most_mbs) m->most_mbs = m->now_mbs;
	}
	m->at_ns = at_ns;
	memcpy(m->last, bytes, sizeof m->last);
}

float uncore_meter_mbs(const struct uncore_meter *m, enum uncore_way way)
{
	return mbs(m->bytes[way], m->watched_ns);
}
