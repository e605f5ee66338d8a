/* Which events count on which CPU, from what /proc/cpuinfo says there. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../unit/made.h"
#include "sys/counter_events.h"

#define X86(vendor, family, model, stepping) \
	"processor\t: 0\nvendor_id\t: " vendor "\ncpu family\t: " family "\nmodel\t\t: " model "\nmodel name\t: Some CPU 9000 @ 2\nstepping\t: " stepping "\n"
#define ARM(part) "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: " part "\n"

static const struct cpu_case { const char *cpuinfo, *local, *remote; bool total, demand; } cpu_cases[] = {
	{ X86("GenuineIntel", "6", "85", "4"), "skx::MEM_LOAD_L3_MISS_RETIRED:LOCAL_DRAM", "skx::MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM", false, true },
	{ X86("GenuineIntel", "6", "85", "7"), "clx::MEM_LOAD_L3_MISS_RETIRED:LOCAL_DRAM", "clx::MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM", false, true },
	{ X86("GenuineIntel", "6", "106", "6"), "icx::OCR:READS_TO_CORE_LOCAL_DRAM", "icx::OCR:READS_TO_CORE_REMOTE_DRAM", false, false },
	{ X86("GenuineIntel", "6", "143", "8"), "spr::OCR:READS_TO_CORE_LOCAL_DRAM", "spr::OCR:READS_TO_CORE_REMOTE_DRAM", false, false },
	{ X86("AuthenticAMD", "23", "49", "0"), "amd64_fam17h_zen2::DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM",
	  "amd64_fam17h_zen2::DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_RMT_DRAM", false, true },
	{ X86("AuthenticAMD", "25", "1", "1"), "amd64_fam19h_zen3::ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL",
	  "amd64_fam19h_zen3::ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_RMT", false, false },
	{ X86("AuthenticAMD", "25", "17", "1"), "amd64_fam19h_zen4::ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR",
	  "amd64_fam19h_zen4::ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_FAR", false, false },
	{ X86("AuthenticAMD", "26", "2", "1"), "amd64_fam1ah_zen5::ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR",
	  "amd64_fam1ah_zen5::ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_FAR", false, false },
	{ ARM("0xd0c"), "arm_n1::LL_CACHE_MISS_RD", "arm_n1::REMOTE_ACCESS", true, true },
	{ ARM("0xd4f"), "arm_v2::LL_CACHE_MISS_RD", "arm_v2::REMOTE_ACCESS", true, true },
	{ "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.000000MHz\n", "power9::PM_DATA_FROM_LMEM", "power9::PM_DATA_FROM_RMEM", false, true },
	{ "processor\t: 0\ncpu\t\t: POWER10 (architected), altivec supported\n", "power10::PM_DATA_FROM_LMEM", "power10::PM_DATA_FROM_RMEM", false, true },
};

START_TEST(known)
{
	const struct cpu_case *c = &cpu_cases[_i];
	struct counter_events events;
	char cpu[CPU_NAME_BYTES];
	ck_assert_int_eq(counter_events_of_cpu(c->cpuinfo, &events, cpu), 0);
	ck_assert_str_eq(events.local, c->local);
	ck_assert_str_eq(events.remote, c->remote);
	ck_assert_int_eq(events.total, c->total);
	ck_assert_int_eq(events.demand, c->demand);
	ck_assert(!events.named);
}
END_TEST

static const struct unknown_case { const char *cpuinfo, *cpu; } unknown_cases[] = {
	{ X86("GenuineIntel", "6", "158", "9"), "GenuineIntel family 6 model 0x9e" },   /* a desktop's: one node */
	{ ARM("0xd08"), "ARM family 65 model 0xd08" },
	{ "", "a CPU that /proc/cpuinfo does not name" },
	{ "processor\t: 0\nhart\t: 1\nisa\t: rv64gc\n", "a CPU that /proc/cpuinfo does not name" },
	{ "vendor_id\t: GenuineIntelAndMuchMoreThanFits\n", "GenuineIntelAnd family 0 model 0" },
};

START_TEST(unknown)
{
	struct counter_events events;
	char cpu[CPU_NAME_BYTES];
	ck_assert_int_eq(counter_events_of_cpu(unknown_cases[_i].cpuinfo, &events, cpu), -ENOENT);
	ck_assert_str_eq(cpu, unknown_cases[_i].cpu);
}
END_TEST

/* Any cut of a text is read without a slip. */
START_TEST(cut)
{
	char text[512], cpu[CPU_NAME_BYTES];
	struct counter_events events;
	size_t length = strlen(cpu_cases[_i].cpuinfo);
	for (size_t n = 0; n <= length; n++) {
		memcpy(text, cpu_cases[_i].cpuinfo, n);
		text[n] = 0;
		int ret = counter_events_of_cpu(text, &events, cpu);
		ck_assert(ret == 0 || ret == -ENOENT);
	}
}
END_TEST

START_TEST(named)
{
	struct counter_events events;
	char why[80];
	ck_assert_int_eq(counter_events_named(" a:b=c , sde:::x::y ", &events, why, sizeof why), 0);
	ck_assert_str_eq(events.local, "a:b=c");
	ck_assert_str_eq(events.remote, "sde:::x::y");
	ck_assert(events.named && !events.demand && !events.total);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, known, cpu_cases);
	made_loop(tcase, unknown, unknown_cases);
	made_loop(tcase, cut, cpu_cases);
	tcase_add_test(tcase, named);
}

int main(void)
{
	return made_main("counter_events", add);
}
