/* How busy memory is, by the machine's counters: machines of files in the place of /sys, and perf_event_open and read in the kernel's (-Wl,--wrap).
 * Then the session that reads it, and what the report says. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "made.h"
#include "report.h"
#include "scene.h"
#include "sys/bandwidth.h"

enum { EVENTS_MOST = 64, FILES_MOST = 48, OFFSET = 1000 };

/* ---- perf_event_open and read, wrapped by the linker ---------------------------------------------------------- */

struct event { int fd, cpu, leader; uint32_t type; uint64_t config, value; };

static struct {
	bool on;
	struct event event[EVENTS_MOST];
	unsigned n, fails_at;            /* the call that fails, from 1; 0: none */
	int open_error, read_error;      /* errno */
	uint64_t enabled, running;
	unsigned reads;
} kernel;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
ssize_t __real_read(int fd, void *to, size_t bytes);
ssize_t __wrap_read(int fd, void *to, size_t bytes);

static long open_event(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader, unsigned long flags)
{
	if (kernel.fails_at && kernel.n + 1 >= kernel.fails_at) {
		errno = kernel.open_error;
		return -1;
	}
	/* what the kernel takes for such a counter: the whole machine by one CPU, without filters */
	if (pid != -1 || cpu < 0 || attr->exclude_kernel || attr->exclude_user || attr->exclude_hv || attr->sample_period || attr->inherit ||
	    flags != PERF_FLAG_FD_CLOEXEC || kernel.n == EVENTS_MOST) {
		errno = EINVAL;
		return -1;
	}
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	kernel.event[kernel.n++] = (struct event){ fd, cpu, leader, attr->type, attr->config, OFFSET };
	return fd;
}

long __wrap_syscall(long number, ...)
{
	va_list list;
	long a[6];
	va_start(list, number);
	for (unsigned i = 0; i < 6; i++) a[i] = va_arg(list, long);
	va_end(list);
	if (!kernel.on || number != SYS_perf_event_open) return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	return open_event((const struct perf_event_attr *)a[0], (pid_t)a[1], (int)a[2], (int)a[3], (unsigned long)a[4]);
}

ssize_t __wrap_read(int fd, void *to, size_t bytes)
{
	uint64_t out[3 + EVENTS_MOST] = { 0, kernel.enabled, kernel.running };
	bool known = false;
	for (unsigned i = 0; kernel.on && i < kernel.n; i++) {
		const struct event *e = &kernel.event[i];
		known |= e->fd == fd;
		if (e->fd == fd || e->leader == fd) out[3 + out[0]++] = e->value;
	}
	if (!known) return __real_read(fd, to, bytes);
	kernel.reads++;
	if (kernel.read_error) {
		errno = kernel.read_error;
		return -1;
	}
	size_t has = (3 + out[0]) * sizeof *out;
	if (has > bytes) {
		errno = ENOSPC;
		return -1;
	}
	memcpy(to, out, has);
	return (ssize_t)has;
}

/* ---- machines ------------------------------------------------------------------------------------------------- */

#define ROOT "bandwidth_root"
#define DEVICE(name) "/sys/bus/event_source/devices/" name
#define CPU(n) "/sys/devices/system/cpu/cpu" #n "/topology/"
#define NODE(n) "/sys/devices/system/node/node" #n "/cpulist"
#define TWO_NODES NODE(0), "0-1", NODE(1), "2-3"
#define TWO_DIES CPU(0) "die_cpus_list", "0-1", CPU(2) "die_cpus_list", "2-3"
#define TWO_PACKAGES CPU(0) "package_cpus_list", "0-1", CPU(2) "package_cpus_list", "2-3"
#define IMC_OF(name, type, mask) DEVICE(name) "/type", type, DEVICE(name) "/cpumask", mask, DEVICE(name) "/format/event", "config:0-7", \
	DEVICE(name) "/format/umask", "config:8-15"
#define CAS(name, event, words) DEVICE(name) "/events/" event, words, DEVICE(name) "/events/" event ".scale", "6.103515625e-5", \
	DEVICE(name) "/events/" event ".unit", "MiB"
#define IMC(name, type, mask) IMC_OF(name, type, mask), CAS(name, "cas_count_read", "event=0x04,umask=0x03"), \
	CAS(name, "cas_count_write", "event=0x04,umask=0x0c")
#define UMC(name, type, mask) DEVICE(name) "/type", type, DEVICE(name) "/cpumask", mask, DEVICE(name) "/format/event", "config:0-7", \
	DEVICE(name) "/format/rdwrmask", "config:8-9"
#define DDRC(name, type, mask) DEVICE(name) "/type", type, DEVICE(name) "/cpumask", mask, DEVICE(name) "/events/flux_rd", "config=0x84", \
	DEVICE(name) "/events/flux_wr", "config=0x83"

struct machine_case {
	const char *what, *files[2 * FILES_MOST];
	int ret;
	const char *counted_by;              /* or the reason's beginning */
	unsigned n_events;                   /* opened */
	uint64_t config[EVENTS_MOST];        /* some of the first ones, in any order of the folders */
	unsigned n_parts;
	uint64_t nodes_os[2];
	double bytes[UNCORE_WAYS];           /* of each part, where each event has counted 1000 */
};

static const struct machine_case machines[] = {
	{ "Skylake, two sockets, two controllers each", { IMC("uncore_imc_0", "20", "0,2"), IMC("uncore_imc_1", "21", "0,2"), TWO_NODES, TWO_DIES }, 0, "Intel memory controllers",
	  8, { 0x304, 0xc04 }, 2, { 1, 2 }, { 128000, 128000, 0 } },
	{ "the same in clusters: two nodes a socket, not told apart", { IMC("uncore_imc_0", "20", "0"), NODE(0), "0-1", NODE(1), "2-3", CPU(0) "die_cpus_list", "0-3" }, 0,
	  "Intel memory controllers", 2, { 0x304, 0xc04 }, 1, { 3 }, { 64000, 64000, 0 } },
	{ "an old kernel: packages by their older name", { IMC("uncore_imc", "9", "0"), NODE(0), "0-1", CPU(0) "core_siblings_list", "0-1" }, 0, "Intel memory controllers", 2,
	  { 0x304, 0xc04 }, 1, { 1 }, { 64000, 64000, 0 } },
	{ "Granite Rapids: halves of channels", { IMC_OF("uncore_imc_0", "20", "0"), CAS("uncore_imc_0", "cas_count_read_sch0", "event=0x05,umask=0xcf"),
	  CAS("uncore_imc_0", "cas_count_read_sch1", "event=0x06,umask=0xcf"), CAS("uncore_imc_0", "cas_count_write_sch0", "event=0x05,umask=0xf0"),
	  CAS("uncore_imc_0", "cas_count_write_sch1", "event=0x06,umask=0xf0"), TWO_NODES, TWO_DIES }, 0, "Intel memory controllers", 4, { 0xcf05, 0xcf06, 0xf005, 0xf006 }, 1, { 1 },
	  { 128000, 128000, 0 } },
	{ "Zen 4, two sockets", { UMC("amd_umc_0", "30", "0"), UMC("amd_umc_1", "31", "0"), UMC("amd_umc_2", "32", "2"), UMC("amd_umc_3", "33", "2"), TWO_NODES, TWO_PACKAGES }, 0,
	  "AMD memory controllers", 8, { 0x10a, 0x20a }, 2, { 1, 2 }, { 128000, 128000, 0 } },
	{ "Kunpeng: a node is a die", { DDRC("hisi_sccl1_ddrc0", "40", "0"), DDRC("hisi_sccl3_ddrc0", "41", "2"), TWO_NODES, CPU(0) "package_cpus_list", "0-3",
	  CPU(2) "package_cpus_list", "0-3" }, 0, "HiSilicon memory controllers", 4, { 0x83, 0x84 }, 2, { 1, 2 }, { 32000, 32000, 0 } },
	{ "Kunpeng, a newer kernel", { DDRC("hisi_sccl1_ddrc0_1", "40", "0"), DEVICE("hisi_sccl1_ddrc0_1") "/associated_cpus", "0-3", TWO_NODES }, 0,
	  "HiSilicon memory controllers", 2, { 0x83, 0x84 }, 1, { 3 }, { 32000, 32000, 0 } },
	{ "Grace, two", { DEVICE("nvidia_scf_pmu_0") "/type", "50", DEVICE("nvidia_scf_pmu_0") "/cpumask", "0", DEVICE("nvidia_scf_pmu_0") "/associated_cpus", "0-1",
	  DEVICE("nvidia_scf_pmu_0") "/format/event", "config:0-31", DEVICE("nvidia_scf_pmu_0") "/events/cmem_rd_data", "event=0x1a5",
	  DEVICE("nvidia_scf_pmu_0") "/events/cmem_wr_total_bytes", "event=0x1af", TWO_NODES }, 0, "NVIDIA coherency fabric", 2, { 0x1a5, 0x1af }, 1, { 1 }, { 32000, 1000, 0 } },
	{ "Neoverse with a mesh", { DEVICE("arm_cmn_0") "/type", "12", DEVICE("arm_cmn_0") "/cpumask", "0", DEVICE("arm_cmn_0") "/format/type", "config:0-15",
	  DEVICE("arm_cmn_0") "/format/eventid", "config:16-26", DEVICE("arm_cmn_0") "/events/hnf_mc_reqs", "type=0x5,eventid=0xd", TWO_NODES, TWO_PACKAGES }, 0, "Arm mesh", 1,
	  { 0xd0005 }, 1, { 1 }, { 0, 0, 64000 } },
	{ "two kinds would count the same twice", { UMC("amd_umc_0", "30", "0"), IMC("uncore_imc_0", "20", "0"), TWO_NODES, TWO_DIES, TWO_PACKAGES }, 0, NULL, 2, { 0 }, 1, { 1 },
	  { 64000, 64000, 0 } },
	{ "a controller of a notebook, which has other events", { IMC_OF("uncore_imc", "9", "0"), CAS("uncore_imc", "data_reads", "event=0x01"), NODE(0), "0-3" }, -ENODEV,
	  "this machine has no counters of its memory that are known", 0, { 0 }, 0, { 0 }, { 0 } },
	{ "a virtual machine", { DEVICE("cpu") "/type", "4", DEVICE("msr") "/type", "8", TWO_NODES }, -ENODEV, "this machine has no counters of its memory that are known", 0, { 0 }, 0, { 0 },
	  { 0 } },
	{ "nothing at all", { NULL }, -ENODEV, "this machine has no counters of its memory that are known", 0, { 0 }, 0, { 0 }, { 0 } },
	{ "no scale", { IMC_OF("uncore_imc_0", "20", "0"), DEVICE("uncore_imc_0") "/events/cas_count_read", "event=0x04,umask=0x03", TWO_NODES, TWO_DIES }, -EINVAL,
	  "uncore_imc_0: its files in /sys are not understood", 0, { 0 }, 0, { 0 }, { 0 } },
	{ "a word without format", { IMC_OF("uncore_imc_0", "20", "0"), CAS("uncore_imc_0", "cas_count_read", "event=0x04,surprise=1"), TWO_NODES, TWO_DIES }, -EINVAL,
	  "uncore_imc_0: its files in /sys are not understood", 0, { 0 }, 0, { 0 }, { 0 } },
	{ "no CPU to be read by", { IMC("uncore_imc_0", "20", ""), TWO_NODES, TWO_DIES }, -EINVAL, "uncore_imc_0: its files in /sys are not understood", 0, { 0 }, 0, { 0 }, { 0 } },
	{ "no type", { IMC("uncore_imc_0", "x", "0"), TWO_NODES, TWO_DIES }, -EINVAL, "uncore_imc_0: its files in /sys are not understood", 0, { 0 }, 0, { 0 }, { 0 } },
	{ "of no node", { IMC("uncore_imc_0", "20", "0"), TWO_DIES }, -EINVAL, "uncore_imc_0: its files in /sys are not understood", 2, { 0 }, 0, { 0 }, { 0 } },
};

static void remove_machine(void)
{
	if (system("rm -rf " ROOT)) ck_abort_msg(ROOT " stays");
}

static void make_machine(const struct machine_case *c)
{
	char path[256];
	remove_machine();
	memset(&kernel, 0, sizeof kernel);
	kernel.on = true;
	kernel.enabled = kernel.running = 1000000;
	for (unsigned i = 0; c->files[i]; i += 2) {
		snprintf(path, sizeof path, "%s%s", ROOT, c->files[i]);
		for (char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
			*at = 0;
			(void)mkdir(path, 0755);
			*at = '/';
		}
		FILE *out = fopen(path, "we");
		ck_assert_msg(out != NULL, "%s", path);
		fprintf(out, "%s\n", c->files[i + 1]);
		fclose(out);
	}
}

static unsigned lowest_free(void)
{
	int fd = dup(0);
	close(fd);
	return (unsigned)fd;
}

static bool was_opened(uint64_t config)
{
	for (unsigned i = 0; i < kernel.n; i++)
		if (kernel.event[i].config == config) return true;
	return false;
}

START_TEST(machine)
{
	const struct machine_case *c = &machines[_i];
	struct bandwidth_part part[BANDWIDTH_PARTS];
	char why[BANDWIDTH_WHY];
	const char *counted_by;
	void *state;
	uint64_t at_ns = 0;
	make_machine(c);
	unsigned before = lowest_free();
	ck_assert_msg(bandwidth_uncore.start(ROOT, &state, &counted_by, why) == c->ret, "%s: %s", c->what, why);
	ck_assert_uint_eq(kernel.n, c->n_events);
	if (c->ret) {
		ck_assert_msg(!strncmp(why, c->counted_by, strlen(c->counted_by)), "%s: %s", c->what, why);
	} else {
		ck_assert_str_eq(why, "");
		if (c->counted_by) ck_assert_str_eq(counted_by, c->counted_by);
		for (unsigned i = 0; c->config[i]; i++) ck_assert_msg(was_opened(c->config[i]), "%s: %#llx", c->what, (unsigned long long)c->config[i]);
		kernel.enabled *= 2;
		kernel.running *= 2;
		for (unsigned i = 0; i < kernel.n; i++) kernel.event[i].value += 1000;
		ck_assert_int_eq(bandwidth_uncore.read(state, &at_ns, part, BANDWIDTH_PARTS), (int)c->n_parts);
		ck_assert_uint_gt(at_ns, 0);
		for (unsigned p = 0; p < c->n_parts; p++) {
			ck_assert_uint_eq(part[p].nodes_os, c->nodes_os[p]);
			/* the first reading, at the start, had counted since the opening, too */
			for (unsigned w = 0; w < UNCORE_WAYS; w++) ck_assert_msg(part[p].bytes[w] >= c->bytes[w] * 1.999 && part[p].bytes[w] < c->bytes[w] * 2.001 + 1e-9, "%s: %f",
			                                                         c->what, part[p].bytes[w]);
		}
		bandwidth_uncore.stop(state);
	}
	ck_assert_uint_eq(lowest_free(), before);
	remove_machine();
}
END_TEST

/* The kernel says no, to the first event or a later one: one reason, and nothing stays open. */
static const struct refused_case { unsigned at; int error; const char *why; } refused_cases[] = {
	{ 1, EACCES, "perf_event_open refused: to count for the whole machine takes perf_event_paranoid of 0, or CAP_PERFMON" },
	{ 1, EPERM, "perf_event_open refused: to count for the whole machine takes perf_event_paranoid of 0, or CAP_PERFMON" },
	{ 2, EACCES, "perf_event_open refused: to count for the whole machine takes perf_event_paranoid of 0, or CAP_PERFMON" },
	{ 1, ENOSYS, "Intel memory controllers: perf_event_open is not in this kernel or not allowed here" },
	{ 7, EMFILE, "Intel memory controllers: no file descriptor left for perf_event_open" },
	{ 2, EINVAL, "Intel memory controllers: Invalid argument" },
	{ 8, ENODEV, "Intel memory controllers: No such device" },
};

START_TEST(refused)
{
	const struct refused_case *c = &refused_cases[_i];
	char why[BANDWIDTH_WHY];
	const char *counted_by;
	void *state;
	make_machine(&machines[0]);
	kernel.fails_at = c->at;
	kernel.open_error = c->error;
	unsigned before = lowest_free();
	ck_assert_int_eq(bandwidth_uncore.start(ROOT, &state, &counted_by, why), -c->error);
	ck_assert_str_eq(why, c->why);
	ck_assert_uint_eq(lowest_free(), before);
	remove_machine();
}
END_TEST

/* Opened, and then it can't be read; or no more, later. */
START_TEST(reading_fails)
{
	struct bandwidth_part part[BANDWIDTH_PARTS];
	char why[BANDWIDTH_WHY];
	const char *counted_by;
	void *state;
	uint64_t at_ns;
	make_machine(&machines[0]);
	unsigned before = lowest_free();
	kernel.read_error = EIO;
	ck_assert_int_eq(bandwidth_uncore.start(ROOT, &state, &counted_by, why), -EIO);
	ck_assert_str_eq(why, "Intel memory controllers: they were opened, but can't be read");
	ck_assert_uint_eq(lowest_free(), before);
	kernel.read_error = 0;
	kernel.n = 0;
	ck_assert_int_eq(bandwidth_uncore.start(ROOT, &state, &counted_by, why), 0);
	kernel.read_error = ENODEV;
	ck_assert_int_eq(bandwidth_uncore.read(state, &at_ns, part, BANDWIDTH_PARTS), -ENODEV);
	kernel.read_error = 0;
	kernel.event[1].leader = -1;                                 /* a group of one: not what was opened */
	ck_assert_int_eq(bandwidth_uncore.read(state, &at_ns, part, BANDWIDTH_PARTS), -EIO);
	bandwidth_uncore.forked(state);
	ck_assert_uint_eq(lowest_free(), before);
	remove_machine();
}
END_TEST

/* Others count as well: what ran half of the time is doubled. */
START_TEST(shared_hardware)
{
	struct bandwidth_part part[BANDWIDTH_PARTS];
	char why[BANDWIDTH_WHY];
	const char *counted_by;
	void *state;
	uint64_t at_ns;
	make_machine(&machines[0]);
	ck_assert_int_eq(bandwidth_uncore.start(ROOT, &state, &counted_by, why), 0);
	ck_assert_int_eq(bandwidth_uncore.read(state, &at_ns, part, 1), 1);      /* only as many as there is room for */
	double was = part[0].bytes[UNCORE_READ];
	kernel.enabled += 1000;
	kernel.running += 500;
	for (unsigned i = 0; i < kernel.n; i++) kernel.event[i].value += 10;
	ck_assert_int_eq(bandwidth_uncore.read(state, &at_ns, part, BANDWIDTH_PARTS), 2);
	ck_assert_double_eq_tol(part[0].bytes[UNCORE_READ] - was, 2 * 10 * 2 * 64, 1e-3);
	bandwidth_uncore.stop(state);
	remove_machine();
}
END_TEST

/* ---- the session ------------------------------------------------------------------------------------------------- */

static struct {
	struct fake_clock *clock;
	int start_error, read_error;
	float mbs[2];                    /* read; half as much is written */
	unsigned reads, stops;
} fake;

static int fake_start(const char *root, void **state, const char **counted_by, char why[BANDWIDTH_WHY])
{
	ck_assert_str_eq(root, "");
	why[0] = 0;
	if (fake.start_error && fake.start_error != -ENOMEM) snprintf(why, BANDWIDTH_WHY, "none here");
	*counted_by = "made-up controllers";
	*state = &fake;
	return fake.start_error;
}

static int fake_read(void *state, uint64_t *at_ns, struct bandwidth_part *part, unsigned most)
{
	ck_assert_ptr_eq(state, &fake);
	ck_assert_uint_ge(most, 2);
	fake.reads++;
	*at_ns = fake.clock->now_ns;
	for (unsigned n = 0; n < 2; n++) {
		double bytes = (double)fake.mbs[n] * 1e6 * (double)fake.clock->now_ns / 1e9;
		part[n] = (struct bandwidth_part){ .nodes_os = n ? 6 : 1, .bytes = { bytes, bytes / 2, 0 } };
	}
	return fake.read_error ? fake.read_error : 2;
}

static void fake_stop(void *state)
{
	ck_assert_ptr_eq(state, &fake);
	fake.stops++;
}

static const struct bandwidth_ops fake_bandwidth = { fake_start, fake_read, fake_stop, fake_stop };

static struct scene *busy_scene(float first, float second)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	memset(&fake, 0, sizeof fake);
	memset(&kernel, 0, sizeof kernel);
	fake.clock = &s->clock;
	fake.mbs[0] = first;
	fake.mbs[1] = second;
	s->bandwidth = &fake_bandwidth;
	return s;
}

static char *report_of(const struct scene *s)
{
	static char text[65536];
	struct report report = { .config = &s->config, .session = &s->session, .threads = 4 };
	FILE *out = fmemopen(text, sizeof text, "w");
	ck_assert_int_eq(report_text(&report, out), 0);
	fclose(out);
	return text;
}

static void holds(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

START_TEST(told)
{
	struct scene *s = busy_scene(40000, 4000);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_steps(s, 55);
	ck_assert(s->session.bandwidth.on);
	ck_assert_uint_ge(fake.reads, 5);
	ck_assert_uint_le(fake.reads, 7);                            /* once a second, and not in each step */
	ck_assert_float_eq_tol(s->session.bandwidth.now_mbs, 66000, 10);
	ck_assert_float_eq_tol(s->session.bandwidth.busiest_mbs, 60000, 10);
	holds(report_of(s), "bandwidth      on; by the machine's counters (made-up controllers), of all programs together\n");
	unsigned reads = fake.reads;
	session_stop(&s->session);
	ck_assert_uint_eq(fake.reads, reads + 1);                    /* up to the end */
	ck_assert_uint_eq(fake.stops, 1);
	const char *text = report_of(s);
	holds(text, "bandwidth      off: stopped at the end; by the machine's counters");
	holds(text, "memory of node 0: 40.0 GB/s read, 20.0 GB/s written; at most 60.0 GB/s\n");
	holds(text, "memory of node 1-2: 4.0 GB/s read, 2.0 GB/s written; at most 6.0 GB/s\n");
	scene_end(s);
	ck_assert_uint_eq(fake.stops, 1);
}
END_TEST

/* Not to be had, not wanted, or nobody gave any: the reason, no reading, and all else as it is. */
static const struct off_case { int start_error; bool given; const char *option, *why; } off_cases[] = {
	{ -ENODEV, true, "1", "none here" }, { -ENOMEM, true, "1", "error 12" }, { 0, true, "0", "bandwidth=0" }, { 0, false, "1", "not read by this process" },
};

START_TEST(off)
{
	const struct off_case *c = &off_cases[_i];
	struct scene *s = busy_scene(1, 1);
	fake.start_error = c->start_error;
	if (!c->given) s->bandwidth = NULL;
	ck_assert_int_eq(nsched_config_set(&s->config, "bandwidth", c->option, NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 30);
	ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	ck_assert(!strncmp(s->session.bandwidth.why, c->why, strlen(c->why)));
	holds(report_of(s), c->why);
	scene_end(s);
	ck_assert_uint_eq(fake.reads + fake.stops, 0);
}
END_TEST

START_TEST(lost)
{
	struct scene *s = busy_scene(1000, 1000);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_steps(s, 30);
	fake.read_error = -ENODEV;
	scene_steps(s, 30);
	ck_assert(!s->session.bandwidth.on);
	ck_assert_str_eq(s->session.bandwidth.why, "lost in mid-run (error 19)");
	ck_assert_uint_eq(fake.stops, 1);
	scene_end(s);
	ck_assert_uint_eq(fake.stops, 1);
}
END_TEST

START_TEST(dead)
{
	struct scene *s = busy_scene(0, 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_steps(s, 140);
	ck_assert(s->session.bandwidth.on);
	scene_steps(s, 40);
	ck_assert_str_eq(s->session.bandwidth.why, "the counters stay at zero: this machine (a virtual one?) has them by name only");
	ck_assert_uint_eq(fake.stops, 1);
	scene_end(s);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, machine, machines);
	made_loop(tcase, refused, refused_cases);
	tcase_add_test(tcase, reading_fails);
	tcase_add_test(tcase, shared_hardware);
	tcase_add_test(tcase, told);
	made_loop(tcase, off, off_cases);
	tcase_add_test(tcase, lost);
	tcase_add_test(tcase, dead);
}

int main(void)
{
	return made_main("bandwidth", add);
}
