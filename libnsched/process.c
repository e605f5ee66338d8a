#include "process.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "launch.h"
#include "log.h"
#include "probe.h"
#include "report.h"
#include "sys/cpulist.h"
#include "sys/files.h"
#include "sys/nodes.h"
#include "sys/operand.h"
#include "sys/publish.h"
#include "sys/threads.h"
#include "sys/topo.h"

#ifndef PROCESS_ROOT
#define PROCESS_ROOT "" /* the bench's copy of this library looks at a machine made of files */
#endif

/* Never freed: late callbacks hold pointers into its registry. */
/* Its locks are made once: a thread may still be in a call while another closes and opens. */
struct nsched process_one = { .exchange.lock = PTHREAD_MUTEX_INITIALIZER, .ranges.lock = PTHREAD_MUTEX_INITIALIZER, .step_lock = PTHREAD_MUTEX_INITIALIZER };
pthread_mutex_t process_open_lock = PTHREAD_MUTEX_INITIALIZER;
_Atomic int process_loading;
bool process_left_behind;

int process_worthwhile(nsched_error_t *why)
{
	if (process_left_behind) {
		if (why) snprintf(why->text, sizeof why->text, "this process was forked while its parent loaded libraries for nsched");
		return 0;
	}
	if (nodes_to_choose(PROCESS_ROOT, launch_cpus())) return 1;
	if (why && getauxval(AT_SECURE)) snprintf(why->text, sizeof why->text, "this program has more rights than its user: it is left alone");
	else if (why) snprintf(why->text, sizeof why->text, "one NUMA node: there is nothing to choose (see numactl -H, and the cpuset of this job)");
	return 0;
}

/* Under the lock: nobody opens a session, which needs the sources, meanwhile. */
int process_probe(nsched_source_t *source, size_t size, unsigned most)
{
	pthread_mutex_lock(&process_open_lock);
	atomic_fetch_add(&process_loading, 1);
	int ret = process_left_behind || (process_one.opens && process_one.pid == getpid()) ? -EBUSY : probe_sources(source, size, most);
	atomic_fetch_sub(&process_loading, 1);
	pthread_mutex_unlock(&process_open_lock);
	return ret;
}

/* ---- life ------------------------------------------------------------------------------------------------ */

/* The CPUs that the process was given. A launcher's word comes first: OpenMP runtimes narrow the initial
 * thread before main. Where that can be seen (one CPU, binding asked for), the cpuset counts. */
static void find_allowed(struct cpu_mask *allowed)
{
	const char *told = launch_cpus();
	if (told && !cpulist_parse(told, allowed)) return;
	if (actuator_linux.get_mask(NULL, 0, allowed)) mask_clear(allowed);
	bool runtime_binds = secure_getenv("OMP_PROC_BIND") || secure_getenv("OMP_PLACES") || secure_getenv("GOMP_CPU_AFFINITY");
	if (runtime_binds && cpulist_count(allowed) == 1 && topo_cpuset(allowed)) actuator_linux.get_mask(NULL, 0, allowed);
}

/* Does the configuration want, or allow, samples that are taken so? */
static bool takes(const struct nsched_config *config, int sampler)
{
	return config->sample_hz && (config->sampler == SAMPLER_AUTO || config->sampler == sampler);
}

static void make(const struct nsched_config *config)
{
	static bool registry_made;
	config_copy(&process_one.config, config);
	if (!registry_made) registry_init(&process_one.registry);
	registry_made = true;
	ranges_reset(&process_one.ranges, (unsigned)config->max_ranges, (unsigned)config->max_hints);
	process_one.begun = process_one.prepared = process_one.stopped = false;
	process_one.threads_most = 0;
	process_one.no_look[0] = 0;
	process_one.pid = getpid();
	process_one.open_ns = clock_linux.now_ns(NULL);
	clock_ticks_start();
	process_one.idle = !process_worthwhile(&process_one.idle_reason);
	if (!process_one.idle) {
		topo_prepare();
		if (!launch_is_rank() && (takes(config, SAMPLER_PERF) || takes(config, SAMPLER_TIMER))) operand_prepare();
		find_allowed(&process_one.allowed);
		if (config->publish) (void)publish_start();
	}
	process_watch_children();
}

static int open_locked(const struct nsched_config *config)
{
	if (process_one.opens && process_one.pid == getpid()) return 0;
	if (config) {
		atomic_fetch_add(&process_loading, 1);
		make(config);
		atomic_fetch_sub(&process_loading, 1);
		return 0;
	}
	struct nsched_config *own;
	nsched_error_t error;
	int ret = nsched_config_create(&own);
	if (ret) return ret;
	if (nsched_config_environment(own, &error)) log_line("%s (ignored)", error.text);
	atomic_fetch_add(&process_loading, 1);
	make(own);
	atomic_fetch_sub(&process_loading, 1);
	nsched_config_destroy(own);
	return 0;
}

int process_open(const struct nsched_config *config, struct nsched **handle)
{
	pthread_mutex_lock(&process_open_lock);
	int ret = open_locked(config);
	if (!ret) {
		process_one.opens++;
		*handle = &process_one;
	}
	pthread_mutex_unlock(&process_open_lock);
	return ret;
}

/* ---- the session, made at the first step: hwloc takes its time, and the program need not wait for it ---- */

static void stay_idle(const char *reason)
{
	process_one.idle = true;
	snprintf(process_one.idle_reason.text, sizeof process_one.idle_reason.text, "%s", reason);
}

#ifdef NSCHED_WITH_PAPI
static const struct counter_ops *const process_counters = &counter_papi;
#else
static const struct counter_ops *const process_counters = NULL;
#endif

static void choose_sources(const struct nsched_config *config, const struct source_ops **sources)
{
	unsigned n = 0;
	if (takes(config, SAMPLER_HARDWARE)) sources[n++] = &source_mem;
	if (takes(config, SAMPLER_PERF)) sources[n++] = &source_clock_perf;
	if (takes(config, SAMPLER_TIMER)) sources[n++] = &source_clock_timer;
	if (config->faults) sources[n++] = &source_faults;
	sources[n] = NULL;
}

static void start_record(struct session_setup *setup)
{
	char file[CONFIG_TEXT_BYTES];
	if (!process_one.config.record[0]) return;
	int ret = launch_report_file(process_one.config.record, file, sizeof file);
	if (ret < 0) snprintf(process_one.recorder.why, sizeof process_one.recorder.why, "its name is too long");
	else ret = recorder_open(&process_one.recorder, file, &process_one.config);
	if (ret < 0) log_line("no record is made in %s: %s", process_one.config.record, process_one.recorder.why);
	else recorder_join(&process_one.recorder, setup);
}

static void prepare(pid_t self_tid)
{
	const struct source_ops *sources[SESSION_SOURCES + 1];
	struct session_setup setup = { .config = &process_one.config, .allowed = process_one.allowed, .clock = &clock_linux, .sources = sources,
	                               .hands = process_one.config.dry_run ? &actuator_dry : &actuator_linux, .registry = &process_one.registry,
	                               .ranges = &process_one.ranges, .counters = process_counters, .eyes = &eyes_linux };
	if (launch_is_first_here()) setup.bandwidth = &bandwidth_uncore;   /* it is the machine's */
	if (!process_one.config.dry_run) {
		neighbours_join(&process_one.neighbours, &process_one.allowed, self_tid != 0);   /* the helper; not a step by hand */
		setup.neighbours = &process_one.neighbours;
		process_one.sharing = (struct sharing){ .hands = &actuator_linux };
	}
	int ret = setup.neighbours ? neighbours_machine(setup.neighbours, &setup.machine) : topo_load(&setup.machine, &process_one.allowed);
	if (ret) {
		neighbours_free(&process_one.neighbours);
		stay_idle("hwloc could not read this machine's topology");
		return;
	}
	if (!machine_worthwhile(&setup.machine)) {
		machine_free(&setup.machine);
		neighbours_free(&process_one.neighbours);
		stay_idle("one NUMA node is left of what this process may use: there is nothing to choose");
		return;
	}
	choose_sources(&process_one.config, sources);
	start_record(&setup);
	ret = session_init(&process_one.session, &setup);
	if (ret) stay_idle(ret == -ENOMEM ? "there was no memory to start" : "the session could not be started");
	process_one.session.self_tid = self_tid;
	process_one.prepared = !ret;
	if (ret) recorder_close(&process_one.recorder);
	if (ret) neighbours_free(&process_one.neighbours);
	else neighbours_take_part(&process_one.neighbours);
}

/* What this rank has sent, for the plan of all: those whose messages are counted, only, and when the others look. */
static void look_at_row(void)
{
	uint64_t now_ns = clock_linux.now_ns(NULL);
	if (!neighbours_are_due(&process_one.neighbours, now_ns)) return;
	if (!process_one.row && exchange_counted(&process_one.exchange)) process_one.row = malloc(sizeof *process_one.row);
	if (!process_one.row) return;
	exchange_row(&process_one.exchange, process_one.row);
	process_one.row->time_ns = now_ns;
	neighbours_tell_row(&process_one.neighbours, process_one.row);
}

static void publish(const struct session *s)
{
	const struct session_totals *t = &s->totals;
	if (!s->config.publish || !publish_wanted()) return;
	publish_put(PUBLISH_local_permille, history_local_now(&s->history));
	publish_put(PUBLISH_overhead_permille, report_overhead(s));
	publish_put(PUBLISH_remote_permille, s->counters.remote_permille_now);
	publish_put(PUBLISH_memory_mbs, (uint64_t)s->bandwidth.now_mbs);
	publish_put(PUBLISH_busiest_node_mbs, (uint64_t)s->bandwidth.busiest_mbs);
	publish_put(PUBLISH_threads, s->situation.n_threads);
	publish_put(PUBLISH_steps, t->steps);
	publish_put(PUBLISH_samples, t->samples);
	publish_put(PUBLISH_thread_moves, t->thread_moves);
	publish_put(PUBLISH_moved_bytes, t->moved_pages << EVIDENCE_PAGE_SHIFT);
	publish_put(PUBLISH_failed_moves, t->failed_moves);
}

static int step_locked(pid_t self_tid)
{
	if (!process_one.idle && !process_one.prepared && !process_one.stopped) {
		atomic_fetch_add(&process_loading, 1);
		prepare(self_tid);
		atomic_fetch_sub(&process_loading, 1);
	}
	atomic_store(&process_one.begun, true);
	if (process_one.idle || process_one.stopped) return 0;
	look_at_row();
	sharing_meet(&process_one.sharing, &process_one.session, &process_one.neighbours, &process_one.exchange);
	int ret = session_step(&process_one.session);
	sharing_step(&process_one.sharing, &process_one.session, &process_one.neighbours);
	publish(&process_one.session);
	if (process_one.session.situation.n_threads > process_one.threads_most) process_one.threads_most = process_one.session.situation.n_threads;
	return ret;
}

static uint64_t helper_step(void *arg, pid_t self_tid)
{
	(void)arg;
	pthread_mutex_lock(&process_one.step_lock);
	step_locked(self_tid);
	uint64_t ms = process_one.prepared ? sharing_wait_ms(&process_one.sharing, &process_one.session, session_wait_ms(&process_one.session)) : LOOP_END;   /* there turned out to be nothing to do */
	pthread_mutex_unlock(&process_one.step_lock);
	return ms;
}

/* What is open already was opened by a step by hand, and is in the program's table. */
static void helper_begin(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&process_one.step_lock);
	if (!process_one.prepared) files_apart();
	pthread_mutex_unlock(&process_one.step_lock);
}

/* From here on only the report is missing. In the thread that has the files; twice does nothing. */
static void stop_session(void)
{
	if (process_one.prepared && !process_one.stopped) {
		session_stop(&process_one.session);
		recorder_close(&process_one.recorder);
	}
	neighbours_leave(&process_one.neighbours);
	process_one.stopped = true;
}

static void helper_end(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&process_one.step_lock);
	stop_session();
	if (files_are_own()) files_together();
	pthread_mutex_unlock(&process_one.step_lock);
}

static const struct loop_ops helper = { helper_begin, helper_step, helper_end };

/* The plugin of one installation beside the preload library of another: two copies of this library, which know nothing of each
 * other and would both move everything. The one whose helper came first stays. */
static void yield_to_other_copy(struct nsched *handle)
{
	if (handle->loop.running || handle->idle || !threads_first_named(LOOP_THREAD_NAME)) return;
	stay_idle("another copy of nsched, in another folder, serves this process");
	handle->config.report[0] = 0;   /* the other's is the one that says something */
}

/* The helper's start takes a CPU for some milliseconds (hwloc, above all): beside a team that has just begun, that has the kernel move
 * the team's threads about, away from the memory that they touch first. So the team's beginner waits for it; not for ever, as
 * it may hold what the helper needs (the loader's lock, in a constructor). */
static void await_begin(struct nsched *handle)
{
	enum { WAIT_MOST_MS = 1000, LOOK_NS = 200000 };
	const struct timespec look = { .tv_nsec = LOOK_NS };
	uint64_t end = clock_linux.now_ns(NULL) + WAIT_MOST_MS * 1000000ull;
	while (!atomic_load(&handle->begun) && clock_linux.now_ns(NULL) < end) nanosleep(&look, NULL);
}

int process_start(struct nsched *handle)
{
	pthread_mutex_lock(&process_open_lock);
	bool running = handle->loop.running;
	yield_to_other_copy(handle);
	int ret = handle->idle ? 0 : loop_start(&handle->loop, &helper, NULL);
	if (!ret && !running && handle->loop.running) await_begin(handle);
	if (ret) snprintf(handle->no_look, sizeof handle->no_look, "the helper thread could not be had: %s", strerror(-ret));
	pthread_mutex_unlock(&process_open_lock);
	return ret;
}

int process_step(struct nsched *handle)
{
	if (handle->idle) return 0;
	if (handle->loop.running || pthread_mutex_trylock(&handle->step_lock)) return -EBUSY;
	int ret = step_locked(0);
	pthread_mutex_unlock(&handle->step_lock);
	return ret;
}

/* ---- figures ----------------------------------------------------------------------------------------------- */

static int report_locked(struct nsched *h, const char *file)
{
	struct report report = { .config = &h->config, .neighbours = &h->neighbours, .session = h->prepared ? &h->session : NULL, .threads = h->threads_most,
	                         .refused = h->registry.refused, .exchange = &h->exchange, .recorder = &h->recorder,
	                         .idle_reason = h->idle ? h->idle_reason.text : h->no_look[0] ? h->no_look :
	                         "the program ended before the first look (it had no second thread, no parallel region, or no step)",
	                         .run_s = (double)(clock_linux.now_ns(NULL) - h->open_ns) / 1e9 };
	if (h->prepared) {
		session_count_sources(&h->session);
		report.overhead_permille = report_overhead(&h->session);
	}
	return report_write(&report, file);
}

int process_report(struct nsched *handle, const char *file)
{
	pthread_mutex_lock(&handle->step_lock);
	int ret = report_locked(handle, file);
	pthread_mutex_unlock(&handle->step_lock);
	return ret;
}

int process_stats(struct nsched *h, nsched_stats_t *stats)
{
	nsched_stats_t s = { .size = stats->size < sizeof s ? stats->size : sizeof s, .nodes = 1, .local_permille = 1001 };
	pthread_mutex_lock(&h->step_lock);
	s.active = !h->idle;
	s.threads = h->session.situation.n_threads;
	if (h->prepared) {
		const struct session_totals *t = &h->session.totals;
		s.nodes = h->session.machine.n_nodes;
		s.steps = (uint32_t)t->steps;
		s.samples = t->samples;
		s.thread_moves = t->thread_moves;
		s.moved_bytes = t->moved_pages << EVIDENCE_PAGE_SHIFT;
		s.failed_moves = t->failed_moves;
		s.reverts = t->reverts;
		s.local_permille = history_local_now(&h->session.history);
		s.overhead_permille = report_overhead(&h->session);
	}
	pthread_mutex_unlock(&h->step_lock);
	memcpy(stats, &s, s.size);
	return 0;
}

/* The last one out: no step runs any more when the report is written. */
static void finish(void)
{
	char file[CONFIG_TEXT_BYTES];
	loop_stop(&process_one.loop);
	pthread_mutex_lock(&process_one.step_lock);
	stop_session();
	if (process_one.config.report[0] && launch_report_file(process_one.config.report, file, sizeof file) >= 0) {
		int ret = report_locked(&process_one, file);
		if (ret) log_line("the report could not be written to %s: %s", file,
		                  ret == -EEXIST ? "it is there, and no report of nsched's; report_over=1 overwrites it" : strerror(-ret));
	}
	if (process_one.prepared) session_free(&process_one.session);
	neighbours_free(&process_one.neighbours);
	process_one.prepared = false;
	ranges_reset(&process_one.ranges, 0, 0);
	free(process_one.row);
	process_one.row = NULL;
	pthread_mutex_unlock(&process_one.step_lock);
	registry_forget_all(&process_one.registry);
}

int process_close(struct nsched *handle)
{
	pthread_mutex_lock(&process_open_lock);
	int ret = handle != &process_one || !process_one.opens || process_one.pid != getpid() ? -EINVAL : 0;
	if (!ret && --process_one.opens == 0) finish();
	pthread_mutex_unlock(&process_open_lock);
	return ret;
}
