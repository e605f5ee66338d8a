/* Clock samples where perf_event is refused: a timer on each thread's CPU clock, and the registers that
 * its signal finds.
 *
 * The signal is SIGURG, since its default is to be ignored: one that comes after an exec, or after the
 * handler is gone, does nothing. It is taken only where nobody else has it. Kernels from 5.11 on
 * check CPU timers on the way back to user mode, so that no system call of the program is
 * interrupted by it. The handler copies registers into a ring and does nothing else; ring.h says why
 * a late signal does no harm. Timers tick with the kernel: 100 to 1000 samples a second at the most. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "clock_sample.h"
#include "ring.h"
#include "cpu_timer.h"
#include "pick.h"
#include "source.h"

enum {
	SIGNAL = SIGURG,
	RINGS_MOST = 4096,          /* threads watched at the same time */
	PROBE_PERIOD_NS = 100000,    /* the next tick of the kernel will do */
	PROBE_MOST_NS = 200000000,  /* of CPU time: ten ticks of the slowest kernel (100 Hz), twice over... */
	USUAL_NS = 3000,            /* what a signal takes where it could not be seen... */
	LEAST_NS = 500,             /* ...and no signal is quicker, there and back */
	PROBE_LOOKS = 20000,        /* ...and so many looks: a virtual CPU may have stood still while its clock went on */
};

/* The value that our timers send: which ring, and the cookie of its owner. */
enum { COOKIE_MAGIC = 0x6e73, COOKIE_MAGIC_SHIFT = 48, COOKIE_COUNT_SHIFT = 12 };

/* Never freed, see ring.h; filled one by one as threads come. */
static _Atomic(struct ring *) rings[RINGS_MOST];
static _Atomic uint64_t cookies;   /* given out */
static _Atomic int started;        /* one session at a time has the signal */

struct watched {
	struct ring *ring;          /* NULL: not watched */
	int timer;                  /* the kernel's id */
	uint64_t period_ns;
};

struct clock_timer {
	struct watched *thread;     /* by thread number */
	unsigned most;
	unsigned end;
	unsigned turn;
	uint64_t period_ns;         /* at first */
	unsigned sample_ns;         /* what a sample takes of its thread */
	struct clock_samples samples;
};

/* ---- in the program's threads -------------------------------------------------------------------------- */

static void handler(int signal, siginfo_t *info, void *context)
{
	uint64_t cookie = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
	struct ring *ring;
	struct ring_sample *sample;

	(void)signal;
	if (info->si_code != SI_TIMER || cookie >> COOKIE_MAGIC_SHIFT != COOKIE_MAGIC)
		return;
	ring = atomic_load(&rings[cookie % RINGS_MOST]);
	if (!ring)
		return;
	sample = ring_enter(ring, cookie);
	if (sample) {
		regs_from_signal(&sample->regs, context);
		sample->periods = 1 + (info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0);
	}
	ring_leave(ring, sample);
}

static bool handler_is(void (*wanted)(int))
{
	struct sigaction now;

	return sigaction(SIGNAL, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == wanted;
}

static bool handler_is_ours(void)
{
	struct sigaction now;

	return sigaction(SIGNAL, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler;
}

static int install_handler(void)
{
	struct sigaction ours = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

	sigemptyset(&ours.sa_mask);
	return sigaction(SIGNAL, &ours, NULL) ? -errno : 0;
}

/* Back to the default, which also drops what is still queued in any thread. */
static void remove_handler(void)
{
	struct sigaction none = { .sa_handler = SIG_DFL };

	sigemptyset(&none.sa_mask);
	if (handler_is_ours())
		(void)sigaction(SIGNAL, &none, NULL);
}

/* ---- rings and timers ----------------------------------------------------------------------------------- */

static uint64_t new_cookie(unsigned ring)
{
	uint64_t count = atomic_fetch_add(&cookies, 1) << COOKIE_COUNT_SHIFT;

	return (uint64_t)COOKIE_MAGIC << COOKIE_MAGIC_SHIFT | (count & ((UINT64_C(1) << COOKIE_MAGIC_SHIFT) - 1)) | ring;
}

/* A ring without owner, and the cookie that is now its owner's; NULL if there is none or no memory. */
static struct ring *claim_ring(uint64_t *cookie)
{
	for (unsigned i = 0; i < RINGS_MOST; i++) {
		struct ring *ring = atomic_load(&rings[i]);

		if (!ring) {
			ring = calloc(1, sizeof(*ring));
			if (!ring)
				return NULL;
			atomic_store(&rings[i], ring);
		}
		*cookie = new_cookie(i);
		if (ring_claim(ring, *cookie))
			return ring;
	}
	return NULL;
}

static int watch(struct watched *watched, pid_t tid, uint64_t period_ns)
{
	uint64_t cookie = 0;
	struct ring *ring = claim_ring(&cookie);
	int err;

	if (!ring)
		return -ENOSPC;
	err = cpu_timer_create(tid, SIGNAL, cookie, &watched->timer);
	if (!err) {
		err = cpu_timer_set(watched->timer, period_ns);
		if (err)
			cpu_timer_delete(watched->timer);
	}
	if (err)
		ring_retire(ring);
	else
		watched->ring = ring;
	watched->period_ns = period_ns;
	return err;
}

static void unwatch(struct watched *watched)
{
	if (!watched->ring)
		return;
	cpu_timer_delete(watched->timer);
	ring_retire(watched->ring);
	watched->ring = NULL;
}

static void unwatch_all(struct clock_timer *s)
{
	for (unsigned i = 0; i < s->end; i++)
		unwatch(&s->thread[i]);
}

/* ---- start ---------------------------------------------------------------------------------------------- */

static void drain(void *arg)
{
	while (ring_oldest(arg))
		ring_next(arg);
}

/* What a sample takes: of a virtual machine, or an emulated one, many times what it does of a real one. */
static unsigned find_price(const struct watched *self)
{
	unsigned ns;

	(void)cpu_timer_set(self->timer, 0);
	drain(self->ring);
	ns = cpu_timer_price(self->timer, SIGNAL, atomic_load(&self->ring->cookie), drain, self->ring);
	return !ns ? USUAL_NS : ns < LEAST_NS ? LEAST_NS : ns;
}

/* Takes one sample of the calling thread, which for that time lets the signal through; and sees what more of them take. */
static int probe(unsigned *sample_ns)
{
	struct watched self = { 0 };
	const struct ring_sample *sample = NULL;
	sigset_t ours, before;
	uint64_t start = clock_cpu_now_ns();
	int err = watch(&self, (pid_t)syscall(SYS_gettid), PROBE_PERIOD_NS);

	if (err)
		return err;
	sigemptyset(&ours);
	sigaddset(&ours, SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &ours, &before);
	for (unsigned looks = 0; !sample && (looks < PROBE_LOOKS || clock_cpu_now_ns() - start < PROBE_MOST_NS); looks++)
		sample = ring_oldest(self.ring);
	err = sample && sample->regs.ip ? 0 : -ENODATA;
	if (!err)
		*sample_ns = find_price(&self);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	unwatch(&self);
	return err;
}

static int start_signal(unsigned *sample_ns, char why[SOURCE_WHY])
{
	int err;

	if (!handler_is(SIG_DFL)) {
		snprintf(why, SOURCE_WHY, "the program uses SIGURG");
		return -EBUSY;
	}
	err = install_handler();
	if (!err)
		err = probe(sample_ns);
	if (err) {
		remove_handler();
		if (err == -ENODATA)
			snprintf(why, SOURCE_WHY, "a CPU timer was set, but no signal came of it");
		else
			snprintf(why, SOURCE_WHY, "no CPU timer: %s", strerror(-err));
	}
	return err;
}

static void free_state(struct clock_timer *s)
{
	clock_samples_close(&s->samples);
	free(s->thread);
	free(s);
	atomic_store(&started, 0);
}

static int clock_timer_start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	struct clock_timer *s;
	int err;

	if (atomic_exchange(&started, 1)) {
		snprintf(why, SOURCE_WHY, "another session of this process has it");
		return -EBUSY;
	}
	s = calloc(1, sizeof(*s));
	if (s)
		s->thread = calloc(setup->max_threads ? setup->max_threads : 1, sizeof(*s->thread));
	if (!s || !s->thread) {
		snprintf(why, SOURCE_WHY, "no memory");
		free(s);
		atomic_store(&started, 0);
		return -ENOMEM;
	}
	s->most = setup->max_threads;
	s->period_ns = setup->period_ns;
	err = clock_samples_open(&s->samples, why);
	if (!err)
		err = start_signal(&s->sample_ns, why);
	if (err)
		free_state(s);
	else
		*state = s;
	return err;
}

/* ---- hooks ---------------------------------------------------------------------------------------------- */

static int clock_timer_thread_add(void *state, unsigned thread, pid_t tid)
{
	struct clock_timer *s = state;

	if (thread >= s->most)
		return -EINVAL;
	unwatch(&s->thread[thread]);
	if (thread >= s->end)
		s->end = thread + 1;
	return watch(&s->thread[thread], tid, s->period_ns);
}

static void clock_timer_thread_remove(void *state, unsigned thread)
{
	struct clock_timer *s = state;

	if (thread < s->end)
		unwatch(&s->thread[thread]);
}

struct take {
	struct clock_timer *s;
	const struct sink *sink;
};

static bool is_watched(const void *arg, unsigned thread)
{
	return ((const struct take *)arg)->s->thread[thread].ring != NULL;
}

static unsigned poll_ring(void *arg, unsigned thread, unsigned most)
{
	const struct take *take = arg;
	struct clock_timer *s = take->s;
	struct ring *ring = s->thread[thread].ring;
	uint64_t period_ns = s->thread[thread].period_ns;
	struct source_counts before = s->samples.counts;
	struct source_taken taken = { .thread = thread };
	struct pick pick = clock_samples_pick(&s->samples, ring_count(ring), most);
	const struct ring_sample *sample;
	unsigned put = 0, lost;

	for (; (sample = ring_oldest(ring)); ring_next(ring)) {
		uint64_t time_ns = period_ns * sample->periods;

		taken.time_ns += time_ns;
		if (pick_next(&pick) && put + OPERAND_MOST <= most)
			put += clock_samples_put(&s->samples, thread, &sample->regs, time_ns, take->sink);
		else
			s->samples.counts.lost++;
	}
	lost = ring_take_lost(ring);
	s->samples.counts.lost += lost;
	taken.time_ns += period_ns * lost;
	taken.accesses = put;
	clock_samples_tell(&s->samples, &before, take->sink, &taken);
	return put;
}

static int clock_timer_poll(void *state, const struct sink *sink, unsigned most)
{
	struct clock_timer *s = state;
	struct take take = { s, sink };
	struct pick_rings each = { is_watched, poll_ring, &take, OPERAND_MOST };
	int err;

	if (!handler_is_ours()) { /* the program has installed its own since: leave it alone at once */
		unwatch_all(s);
		return -EBUSY;
	}
	err = clock_samples_begin(&s->samples);
	if (err)
		return err;
	return (int)pick_from_each(&each, s->end, &s->turn, most);
}

static void clock_timer_set_period(void *state, unsigned thread, uint64_t period_ns)
{
	struct clock_timer *s = state;

	if (thread >= s->end || !s->thread[thread].ring)
		return;
	s->thread[thread].period_ns = period_ns;
	(void)cpu_timer_set(s->thread[thread].timer, period_ns);
}

static unsigned clock_timer_price(const void *state)
{
	return ((const struct clock_timer *)state)->sample_ns;
}

static void clock_timer_counts(const void *state, struct source_counts *counts)
{
	const struct clock_timer *s = state;

	*counts = s->samples.counts;
}

static void clock_timer_stop(void *state)
{
	unwatch_all(state);
	remove_handler();
	free_state(state);
}

/* The child has no timers: their numbers are free for its own, so none is deleted. */
static void clock_timer_forked(void *state)
{
	struct clock_timer *s = state;

	for (unsigned i = 0; i < s->end; i++)
		if (s->thread[i].ring)
			ring_retire(s->thread[i].ring);
	remove_handler();
	free_state(s);
}

const struct source_ops source_clock_timer = {
	.name = "clock-timer",
	.sample_ns = USUAL_NS,
	.price = clock_timer_price,
	.stands_in_for = &source_clock_perf,
	.start = clock_timer_start,
	.thread_add = clock_timer_thread_add,
	.thread_remove = clock_timer_thread_remove,
	.poll = clock_timer_poll,
	.set_period = clock_timer_set_period,
	.counts = clock_timer_counts,
	.stop = clock_timer_stop,
	.forked = clock_timer_forked,
};
