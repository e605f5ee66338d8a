/* What the kernel's folders of counters say, and what becomes of readings: tables of texts as kernels have them, and of wrong ones. */
#include <check.h>
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "made.h"
#include "pure/pmu_words.h"
#include "pure/uncore.h"

/* ---- words ------------------------------------------------------------------------------------------------- */

static const struct words_case {
	const char *words;
	int ret;                              /* of the last call */
	unsigned n;
	struct { const char *name; uint64_t value; } word[3];
} words_cases[] = {
	{ "event=0x04,umask=0x03", 0, 2, { { "event", 4 }, { "umask", 3 } } },
	{ "event=0x0a,rdwrmask=0x1", 0, 2, { { "event", 10 }, { "rdwrmask", 1 } } },
	{ "type=0x5,eventid=0xd", 0, 2, { { "type", 5 }, { "eventid", 13 } } },
	{ "event=0xcd,umask=0x1,ldlat=3", 0, 3, { { "event", 0xcd }, { "umask", 1 }, { "ldlat", 3 } } },
	{ "config=0x84", 0, 1, { { "config", 0x84 } } },
	{ "event=0x1,edge", 0, 2, { { "event", 1 }, { "edge", 1 } } },
	{ "x=0xffffffffffffffff", 0, 1, { { "x", UINT64_MAX } } },
	{ "event=0x1,", 0, 1, { { "event", 1 } } },
	{ "", 0, 0, { { NULL, 0 } } },
	{ "=1", -EINVAL, 0, { { NULL, 0 } } },
	{ ",event=1", -EINVAL, 0, { { NULL, 0 } } },
	{ "event=", -EINVAL, 0, { { NULL, 0 } } },
	{ "event=?", -EINVAL, 0, { { NULL, 0 } } },
	{ "event=-1", -EINVAL, 0, { { NULL, 0 } } },
	{ "event= 1", -EINVAL, 0, { { NULL, 0 } } },
	{ "event=0x1umask=2", -EINVAL, 0, { { NULL, 0 } } },
	{ "event=0x10000000000000000", 0, 1, { { "event", UINT64_MAX } } },
	{ "a-name-of-more-than-sixty-three-letters-is-not-what-a-kernel-would-have=1", -EINVAL, 0, { { NULL, 0 } } },
};

START_TEST(words)
{
	const struct words_case *c = &words_cases[_i];
	const char *at = c->words;
	char name[PMU_WORD_BYTES];
	uint64_t value;
	for (unsigned i = 0; i < c->n; i++) {
		ck_assert_int_eq(pmu_word(&at, name, &value), 1);
		ck_assert_str_eq(name, c->word[i].name);
		ck_assert_uint_eq(value, c->word[i].value);
	}
	ck_assert_int_eq(pmu_word(&at, name, &value), c->ret);
}
END_TEST

START_TEST(whole_config)
{
	ck_assert_int_eq(pmu_config("config"), 0);
	ck_assert_int_eq(pmu_config("config1"), 1);
	ck_assert_int_eq(pmu_config("config2"), 2);
	ck_assert_int_eq(pmu_config("config3"), -1);
	ck_assert_int_eq(pmu_config("event"), -1);
}
END_TEST

static const struct put_case {
	const char *format;
	uint64_t value;
	int ret;
	uint64_t config[PMU_CONFIGS];
} put_cases[] = {
	{ "config:0-7", 0x04, 0, { 0x04, 0, 0 } },
	{ "config:8-15", 0xcf, 0, { 0xcf00, 0, 0 } },
	{ "config:8-15,32-39", 0x1203, 0, { UINT64_C(0x1200000300), 0, 0 } },
	{ "config:0-7,32-35,59-60", 0x3fff, 0, { UINT64_C(0x1800000f000000ff), 0, 0 } },   /* AMD's data fabric */
	{ "config1:0-15", 80, 0, { 0, 80, 0 } },
	{ "config2:0", 1, 0, { 0, 0, 1 } },
	{ "config:63", 1, 0, { UINT64_C(1) << 63, 0, 0 } },
	{ "config:0-63", UINT64_MAX, 0, { UINT64_MAX, 0, 0 } },
	{ "config:0-7", 0x100, -EINVAL, { 0 } },
	{ "config:0-64", 1, -EINVAL, { 0 } },
	{ "config:7-0", 1, -EINVAL, { 0 } },
	{ "config:", 1, -EINVAL, { 0 } },
	{ "config:a", 1, -EINVAL, { 0 } },
	{ "config:0-", 1, -EINVAL, { 0 } },
	{ "config:0;8", 1, -EINVAL, { 0 } },
	{ "config3:0-7", 1, -EINVAL, { 0 } },
	{ "0-7", 1, -EINVAL, { 0 } },
	{ "", 1, -EINVAL, { 0 } },
};

START_TEST(put)
{
	const struct put_case *c = &put_cases[_i];
	uint64_t config[PMU_CONFIGS] = { 0 };
	ck_assert_int_eq(pmu_put(c->format, c->value, config), c->ret);
	for (unsigned i = 0; !c->ret && i < PMU_CONFIGS; i++) ck_assert_msg(config[i] == c->config[i], "%s: %#llx", c->format, (unsigned long long)config[i]);
}
END_TEST

static const struct bytes_case { const char *scale, *unit; double bytes; } bytes_cases[] = {
	{ "6.103515625e-5", "MiB", 64 }, { "6.103515625e-05", "MiB", 64 }, { "0.00006103515625", "MiB", 64 }, { "3.814697266e-6", "MiB", 4.00000000025 },
	{ "64", "Bytes", 64 }, { "32", "B", 32 }, { "0.0625", "KiB", 64 }, { "6.4E-5", "MB", 64 }, { "1e0", "GiB", 1073741824 },
	{ ".5", "KiB", 512 }, { "2.", "B", 2 },
	{ "", "MiB", 0 }, { "0", "MiB", 0 }, { "-1", "MiB", 0 }, { "1,5", "MiB", 0 }, { "1.2.3", "MiB", 0 }, { "e5", "MiB", 0 }, { "1e", "MiB", 0 },
	{ "1e99", "MiB", 0 }, { "1e-99", "MiB", 0 }, { "1x", "MiB", 0 }, { "1e 5", "MiB", 0 }, { ".", "MiB", 0 }, { "1234567890123456789", "B", 0 },
	{ "2.3283064365386962890625e-10", "Joules", 0 }, { "1", "", 0 }, { "1", "mib", 0 }, { "1", "MiB/s", 0 },
};

START_TEST(bytes_of_a_count)
{
	const struct bytes_case *c = &bytes_cases[_i];
	double is = 0;
	(void)setlocale(LC_ALL, "de_DE.UTF-8");                   /* where it is installed: a comma, there */
	int ret = pmu_bytes(c->scale, c->unit, &is);
	(void)setlocale(LC_ALL, "C");
	ck_assert_int_eq(ret, c->bytes > 0 ? 0 : -EINVAL);
	if (c->bytes > 0) ck_assert_msg(is > c->bytes * (1 - 1e-9) && is < c->bytes * (1 + 1e-9), "%s %s: %.12f", c->scale, c->unit, is);
}
END_TEST

/* ---- whose devices ------------------------------------------------------------------------------------------- */

static const struct kind_case { const char *device, *name; } kind_cases[] = {
	{ "uncore_imc_0", "Intel memory controllers" }, { "uncore_imc_11", "Intel memory controllers" }, { "uncore_imc", "Intel memory controllers" },
	{ "amd_umc_0", "AMD memory controllers" }, { "amd_umc_23", "AMD memory controllers" },
	{ "hisi_sccl1_ddrc0", "HiSilicon memory controllers" }, { "hisi_sccl15_ddrc3_1", "HiSilicon memory controllers" },
	{ "nvidia_scf_pmu_1", "NVIDIA coherency fabric" }, { "arm_cmn_0", "Arm mesh" },
	{ "uncore_imc_free_running_0", NULL }, { "uncore_imc_", NULL }, { "uncore_imc_0x", NULL }, { "uncore_cha_0", NULL }, { "amd_df", NULL },
	{ "hisi_sccl1_l3c0", NULL }, { "hisi_sccl_ddrc0", NULL }, { "nvidia_cnvlink_pmu_0", NULL }, { "arm_cmn_", NULL }, { "cpu", NULL }, { ".", NULL },
};

START_TEST(kind)
{
	const struct kind_case *c = &kind_cases[_i];
	const struct uncore_kind *is = uncore_kind_of(c->device);
	ck_assert_msg(!is == !c->name, "%s", c->device);
	if (is) ck_assert_str_eq(is->name, c->name);
}
END_TEST

/* ---- readings ------------------------------------------------------------------------------------------------ */

#define S UINT64_C(1000000000)

static const struct since_case { struct uncore_read was, now; bool told; double counts; } since_cases[] = {
	{ { 100, S, S }, { 350, 2 * S, 2 * S }, true, 250 },
	{ { 100, S, S }, { 350, 2 * S, S + S / 2 }, true, 500 },              /* half of the time: others counted, too */
	{ { 0, 0, 0 }, { 7, 10, 10 }, true, 7 },
	{ { 100, S, S }, { 100, 2 * S, 2 * S }, true, 0 },
	{ { 100, S, S }, { 100, 2 * S, S }, false, 0 },                       /* it did not run */
	{ { 100, S, S }, { 50, 2 * S, 2 * S }, false, 0 },                    /* it went back */
	{ { 100, S, S }, { 100, S, S }, false, 0 },
	{ { 100, 2 * S, S }, { 200, S, 2 * S }, false, 0 },
};

START_TEST(since)
{
	struct uncore_read last = since_cases[_i].was;
	double counts = -1;
	ck_assert_int_eq(uncore_since(&last, &since_cases[_i].now, &counts), since_cases[_i].told);
	if (since_cases[_i].told) ck_assert_double_eq_tol(counts, since_cases[_i].counts, 1e-6);
	ck_assert_mem_eq(&last, &since_cases[_i].now, sizeof last);
}
END_TEST

/* 10 GB read and 2 written in the first second, nothing in the next two, 30 GB read in the fourth. */
START_TEST(meter)
{
	struct uncore_meter m = { 0 };
	double bytes[UNCORE_WAYS] = { 5e9, 1e9, 0 };              /* what was before does not count */
	uncore_meter_add(&m, 100 * S, bytes);
	ck_assert_double_eq(uncore_meter_bytes(&m), 0);
	bytes[UNCORE_READ] += 10e9;
	bytes[UNCORE_WRITTEN] += 2e9;
	uncore_meter_add(&m, 101 * S, bytes);
	ck_assert_float_eq_tol(m.now_mbs, 12000, 1);
	uncore_meter_add(&m, 103 * S, bytes);
	ck_assert_float_eq(m.now_mbs, 0);
	bytes[UNCORE_READ] += 30e9;
	uncore_meter_add(&m, 104 * S, bytes);
	ck_assert_float_eq_tol(m.now_mbs, 30000, 1);
	ck_assert_float_eq_tol(m.most_mbs, 30000, 1);
	ck_assert_float_eq_tol(uncore_meter_mbs(&m, UNCORE_READ), 10000, 1);
	ck_assert_float_eq_tol(uncore_meter_mbs(&m, UNCORE_WRITTEN), 500, 1);
	uncore_meter_add(&m, 104 * S, bytes);                     /* no time has passed */
	ck_assert_float_eq_tol(uncore_meter_mbs(&m, UNCORE_READ), 10000, 1);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, words, words_cases);
	tcase_add_test(tcase, whole_config);
	made_loop(tcase, put, put_cases);
	made_loop(tcase, bytes_of_a_count, bytes_cases);
	made_loop(tcase, kind, kind_cases);
	made_loop(tcase, since, since_cases);
	tcase_add_test(tcase, meter);
}

int main(void)
{
	return made_main("pmu_words", add);
}
