#include "sequence.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../stubs/fake_nsched.h"

#ifndef MADE_UP_RUNTIME
#define MADE_UP_RUNTIME "tests/plugin/.libs/libomp_made_up.so"
#endif

enum { REGIONS = 26, EXPLICIT = 10, KEPT_ERRNO = 4711 };

struct made_up *runtime;
static ompt_start_tool_result_t *tool;

/* Regions as libomp keeps them: one word where the region begins, which is copied into the team. */
static struct region {
	ompt_data_t team;
	ompt_data_t *task; /* the encountering one */
} regions[REGIONS];

static struct actor {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void (*work)(void *); /* NULL: done */
	void *argument;
	bool running, leave;
	ompt_data_t data, tasks[REGIONS]; /* tasks: its implicit task in each region, 0: outside */
	ompt_data_t *current;
} actors[SEQUENCE_THREADS];

/* ---- threads ---------------------------------------------------------------------------------------- */

static void *act(void *argument)
{
	struct actor *actor = argument;

	pthread_mutex_lock(&actor->lock);
	while (!actor->leave) {
		if (actor->work == NULL) {
			pthread_cond_wait(&actor->changed, &actor->lock);
			continue;
		}
		actor->work(actor->argument);
		actor->work = NULL;
		pthread_cond_broadcast(&actor->changed);
	}
	pthread_mutex_unlock(&actor->lock);
	return NULL;
}

/* Thread 0 is the caller. */
void sequence_on(int thread, void (*work)(void *), void *argument)
{
	struct actor *actor = &actors[thread];

	if (thread == 0) {
		work(argument);
		return;
	}
	if (!actor->running) {
		pthread_mutex_init(&actor->lock, NULL);
		pthread_cond_init(&actor->changed, NULL);
		actor->running = pthread_create(&actor->thread, NULL, act, actor) == 0;
	}
	pthread_mutex_lock(&actor->lock);
	actor->argument = argument;
	actor->work = work;
	pthread_cond_broadcast(&actor->changed);
	while (actor->work != NULL)
		pthread_cond_wait(&actor->changed, &actor->lock);
	pthread_mutex_unlock(&actor->lock);
}

void sequence_stop(void)
{
	for (int i = 1; i < SEQUENCE_THREADS; i++) {
		struct actor *actor = &actors[i];

		if (!actor->running)
			continue;
		pthread_mutex_lock(&actor->lock);
		actor->leave = true;
		pthread_cond_broadcast(&actor->changed);
		pthread_mutex_unlock(&actor->lock);
		pthread_join(actor->thread, NULL);
		actor->running = actor->leave = false;
	}
}

/* ---- the tool's life -------------------------------------------------------------------------------- */

void sequence_load(void)
{
	void *module = dlopen(MADE_UP_RUNTIME, RTLD_NOW | RTLD_LOCAL), *symbol = NULL;
	made_up_t made_up;

	if (module != NULL)
		symbol = dlsym(module, "made_up");
	if (symbol == NULL) {
		fprintf(stderr, "no made-up runtime: %s\n", dlerror());
		exit(99);
	}
	memcpy(&made_up, &symbol, sizeof(made_up));
	runtime = made_up();
}

bool sequence_start(void)
{
	actors[0].thread = pthread_self();
	for (int i = 0; i < SEQUENCE_THREADS; i++)
		actors[i].current = &actors[i].tasks[REGIONS - 1];
	tool = ompt_start_tool(201611, "made up");
	return tool != NULL && tool->initialize(runtime->lookup, 0, &tool->tool_data) != 0;
}

void sequence_finalize(void)
{
	tool->finalize(&tool->tool_data);
}

/* ---- steps ------------------------------------------------------------------------------------------ */

struct step {
	struct actor *actor;
	char operation;
	struct region *region; /* NULL: none */
	int number;            /* threads asked for, index, or kind of barrier */
	const void *code;
};

#define CALL(event, type, ...) \
	do { \
		if (runtime->callbacks[event] != NULL) \
			((type)runtime->callbacks[event])(__VA_ARGS__); \
	} while (0)

static void begin_region(const struct step *step, int flags)
{
	ompt_data_t word = { 0 };

	step->region->task = step->actor->current;
	CALL(OMPT_PARALLEL_BEGIN, ompt_parallel_begin_t, step->actor->current, NULL, &word, (unsigned)step->number, flags,
	     step->code);
	step->region->team = word;
}

static void begin_task(const struct step *step, int flags)
{
	struct actor *actor = step->actor;
	struct region *region = step->region;
	ompt_data_t none = { 0 };

	runtime->set_parent(region == NULL ? NULL : region->task);
	CALL(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, OMPT_SCOPE_BEGIN, region == NULL ? &none : &region->team, NULL, 2,
	     (unsigned)step->number, flags);
	if (region != NULL)
		actor->current = &actor->tasks[region - regions];
}

static void end_task(const struct step *step)
{
	CALL(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, OMPT_SCOPE_END, NULL, NULL, 0, (unsigned)step->number,
	     OMPT_TASK_IMPLICIT);
	if (step->number == 0 && step->region != NULL)
		step->actor->current = step->region->task;
}

static ompt_data_t explicit_task[EXPLICIT];

static void give_chunk(const struct step *step)
{
	ompt_dispatch_chunk_t chunk = { .start = (uintptr_t)step->code, .iterations = 10 };
	ompt_data_t instance = { .ptr = &chunk };

	CALL(OMPT_DISPATCH, ompt_dispatch_t, NULL, NULL, step->number, instance);
}

/* Depends on what it reads, then on a loop's iteration, then on what it writes (not there for code 0). */
static void make_task(const struct step *step)
{
	ompt_dependence_t on[] = { { { .value = 0xdead0 }, OMPT_DEPENDENCE_IN },
		                       { { .value = 0xbad }, OMPT_DEPENDENCE_SINK },
		                       { { .value = (uintptr_t)step->code }, 3 } };

	CALL(OMPT_DEPENDENCES, ompt_dependences_t, &explicit_task[step->number], on, step->code == NULL ? 1 : 3);
}

static void do_step(void *argument)
{
	const struct step *step = argument;

	errno = KEPT_ERRNO;
	switch (step->operation) {
	case 'i':
		begin_task(step, OMPT_TASK_INITIAL);
		break;
	case 'p':
		begin_region(step, (int)0x80000002);
		break;
	case 'l':
		begin_region(step, OMPT_PARALLEL_LEAGUE | 2);
		break;
	case 'b':
		begin_task(step, OMPT_TASK_IMPLICIT);
		break;
	case 'n':
		CALL(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, OMPT_SCOPE_BEGIN, NULL, NULL, 2, (unsigned)step->number,
		     OMPT_TASK_IMPLICIT);
		break;
	case 'e':
		end_task(step);
		break;
	case 's':
	case 'w':
		CALL(OMPT_SYNC_REGION, ompt_sync_region_t, step->number,
		     step->operation == 's' ? OMPT_SCOPE_BEGIN : OMPT_SCOPE_END, NULL, NULL, step->code);
		break;
	case 'x':
		CALL(OMPT_PARALLEL_END, ompt_parallel_end_t, &step->region->team, step->region->task, (int)0x80000002,
		     step->code);
		break;
	case 'c':
		give_chunk(step);
		break;
	case 'k':
		make_task(step);
		break;
	case 'r':
		CALL(OMPT_TASK_SCHEDULE, ompt_task_schedule_t, step->actor->current, 7, &explicit_task[step->number]);
		break;
	case 't':
		CALL(OMPT_THREAD_END, ompt_thread_end_t, &step->actor->data);
		break;
	default:
		fprintf(stderr, "unknown step %c\n", step->operation);
		abort();
	}
	if (errno != KEPT_ERRNO) {
		fprintf(stderr, "step %c has changed errno to %d\n", step->operation, errno);
		abort();
	}
}

static struct step parse(const char *text)
{
	struct step step = { .actor = &actors[text[0] - '0'], .operation = text[1] };
	const char *at = strchr(text, '@');

	text += 2;
	if (isupper((unsigned char)*text))
		step.region = &regions[*text++ - 'A'];
	if (*text == '.')
		text++;
	step.number = atoi(text);
	if (at != NULL)
		step.code = at[1] == 'R' ? runtime->inside : (const void *)strtoul(at + 1, NULL, 16);
	return step;
}

void sequence_play(const char *steps)
{
	char *list = strdup(steps), *rest = list, *word;

	while ((word = strsep(&rest, " ")) != NULL) {
		if (*word == '\0')
			continue;

		struct step step = parse(word);

		sequence_on((int)(step.actor - actors), do_step, &step);
	}
	free(list);
}

/* ---- what came of it -------------------------------------------------------------------------------- */

static int actor_of(pthread_t thread)
{
	for (int i = 0; i < SEQUENCE_THREADS; i++)
		if ((i == 0 || actors[i].running) && pthread_equal(actors[i].thread, thread))
			return i;
	return -1;
}

const char *sequence_calls(void)
{
	static const char letters[FAKE_CALLS] = { 'O', 'S', 'C', 'R', 'U', 'P', 'B', 'E', 'L', 'T' };
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; fake_at(i) != NULL && used < sizeof(text) - 32; i++) {
		const struct fake_record *record = fake_at(i);

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d%c", used == 0 ? "" : " ",
		                         actor_of(record->thread), letters[record->call]);
		if (record->call == FAKE_REGION_BEGIN || record->call == FAKE_LOOP_CHUNK || record->call == FAKE_MEM_TOUCH)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%lx", (unsigned long)record->key);
	}
	return text;
}
