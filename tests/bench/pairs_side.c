#include "pairs.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	CHANGE_US = 150000,     /* between two steps at the default interval, at the least once in two */
	NAME_BYTES = 64,
};

struct worker {
	struct side *side;
	unsigned number;
	double work_s;          /* CPU time of the last turn's work... */
	double all_s;           /* ...and of all that the thread has done so far */
};

struct side {
	const struct pairs_side *is;
	nsched_t *scheduler;
	pthread_barrier_t begin, finish;
	pthread_t *thread, changing;
	struct worker *worker;
};

static double seconds(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Where each thread can have a CPU to itself, it keeps to it: the two sides' threads to the same. */
static void keep_to_cpu(const struct worker *w)
{
	cpu_set_t cpu;
	CPU_ZERO(&cpu);
	CPU_SET(w->number, &cpu);
	if (w->side->is->threads <= (unsigned)sysconf(_SC_NPROCESSORS_ONLN)) pthread_setaffinity_np(pthread_self(), sizeof cpu, &cpu);
}

/* a = b + 3c, over and over, as long as there are passes left. */
static void *work(void *arg)
{
	struct worker *w = arg;
	struct side *s = w->side;
	struct pairs_board *board = s->is->board;
	long doubles = (long)s->is->doubles;
	double *a = board->arrays + 3 * doubles * (long)w->number, *b = a + doubles, *c = b + doubles;
	nsched_thread_t *me = NULL;
	keep_to_cpu(w);
	if (nsched_thread_register(s->scheduler, &me)) fprintf(stderr, "pairs: thread %u could not be registered\n", w->number);
	for (;;) {
		pthread_barrier_wait(&s->begin);
		if (atomic_load(&board->end)) break;
		double start = seconds(CLOCK_THREAD_CPUTIME_ID);
		while (atomic_fetch_sub(&board->left, 1) > 0)
			for (long i = 0; i < doubles; i++) a[i] = b[i] + 3 * c[i];
		w->all_s = seconds(CLOCK_THREAD_CPUTIME_ID);
		w->work_s = w->all_s - start;
		pthread_barrier_wait(&s->finish);
	}
	nsched_thread_unregister(me);
	return NULL;
}

static void *come_and_go(void *arg)
{
	struct side *s = arg;
	while (!atomic_load(&s->is->board->end)) {
		nsched_thread_t *me = NULL;
		if (nsched_thread_register(s->scheduler, &me)) return NULL;
		usleep(CHANGE_US);
		nsched_thread_unregister(me);
		usleep(CHANGE_US);
	}
	return NULL;
}

static nsched_config_t *configure(const struct pairs_side *is)
{
	nsched_config_t *config = NULL;
	if (nsched_config_create(&config)) return NULL;
	for (unsigned i = 0; i < is->n_options; i++) {
		char name[NAME_BYTES];
		nsched_error_t error;
		const char *value = strchr(is->option[i], '=');
		snprintf(name, sizeof name, "%.*s", value ? (int)(value - is->option[i]) : 0, is->option[i]);
		if (value && !nsched_config_set(config, name, value + 1, &error)) continue;
		fprintf(stderr, "pairs: option %s: %s\n", is->option[i], value ? error.text : "it is NAME=VALUE");
		nsched_config_destroy(config);
		return NULL;
	}
	return config;
}

static int start(struct side *s)
{
	nsched_config_t *config = configure(s->is);
	nsched_error_t why;
	int ret = config ? nsched_open(config, &s->scheduler) : -1;
	nsched_config_destroy(config);
	if (ret || (ret = nsched_start(s->scheduler))) return ret;
	if (nsched_worthwhile(&why) != 1) {
		fprintf(stderr, "pairs: nsched stands aside here: %s\n", why.text);
		return -1;
	}
	for (unsigned t = 0; !ret && t < s->is->threads; t++) {
		s->worker[t].side = s;
		s->worker[t].number = t;
		ret = pthread_create(&s->thread[t], NULL, work, &s->worker[t]);
	}
	if (!ret && s->is->changing) ret = pthread_create(&s->changing, NULL, come_and_go, s);
	return ret;
}

/* What the program has used so far; the rest of the process's CPU time is nsched's. A thread that comes and goes is as nothing. */
static double program_s(const struct side *s, double start_s)
{
	double sum = seconds(CLOCK_THREAD_CPUTIME_ID) - start_s;
	for (unsigned t = 0; t < s->is->threads; t++) sum += s->worker[t].all_s;
	return sum;
}

static void take_turns(struct side *s)
{
	struct pairs_board *board = s->is->board;
	unsigned side = s->is->side;
	double nsched_s = 0, start_s = 0;
	for (;;) {
		while (sem_wait(&board->go[side])) continue;
		if (atomic_load(&board->end)) break;
		double begin = seconds(CLOCK_MONOTONIC), before_s = seconds(CLOCK_THREAD_CPUTIME_ID);
		if (!s->scheduler) {
			if (start(s)) _exit(1);
			start_s = seconds(CLOCK_THREAD_CPUTIME_ID) - before_s;
		}
		pthread_barrier_wait(&s->begin);
		pthread_barrier_wait(&s->finish);
		double now_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - program_s(s, start_s), work_s = 0;
		for (unsigned t = 0; t < s->is->threads; t++) work_s += s->worker[t].work_s;
		board->wall_s[side] = seconds(CLOCK_MONOTONIC) - begin;
		board->work_s[side] = work_s;
		board->nsched_s[side] = now_s - nsched_s;
		nsched_s = now_s;
		sem_post(&board->done[side]);
	}
}

int pairs_side(const struct pairs_side *is)
{
	struct side s = { .is = is };
	s.thread = calloc(is->threads, sizeof *s.thread);
	s.worker = calloc(is->threads, sizeof *s.worker);
	if (!s.thread || !s.worker || pthread_barrier_init(&s.begin, NULL, is->threads + 1) || pthread_barrier_init(&s.finish, NULL, is->threads + 1))
		return 1;
	take_turns(&s);
	if (!s.scheduler) return 0;
	if (is->report && nsched_report(s.scheduler, is->report)) fprintf(stderr, "pairs: no report in %s\n", is->report);
	pthread_barrier_wait(&s.begin);
	for (unsigned t = 0; t < is->threads; t++) pthread_join(s.thread[t], NULL);
	if (is->changing) pthread_join(s.changing, NULL);
	return nsched_close(s.scheduler) ? 1 : 0;
}
