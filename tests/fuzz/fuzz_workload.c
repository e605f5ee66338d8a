/* What the parser of workloads does with any bytes: it says 0, or an error with a text; nothing leaks, nothing hangs. For libFuzzer
 * (make fuzz-workload), and for the unit test that mutates the workloads we have. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum {
	BYTES_RUN = 1 << 28,    /* memory of a workload that is also run: a quarter of a gigabyte, which takes 64 KiB of ours */
	TASKS_RUN = 256,
	RUN_NS = 2000000,       /* of simulated time */
};

static bool is_small(const struct workload *w)
{
	double bytes = 0, tasks = 0;
	for (unsigned i = 0; i < w->n_processes; i++)
		for (unsigned t = 0; t < w->n_threads; t++)
			if (w->thread[t].process == i) tasks += (double)w->thread[t].count * (w->process[i].count + 1);
	for (unsigned m = 0; m < w->n_memories; m++) bytes += (double)w->memory[m].bytes * (w->memory[m].scope == SCOPE_MACHINE ? 1 : tasks);
	return tasks <= TASKS_RUN && bytes <= BYTES_RUN;
}

static void run(const struct workload *w)
{
	static struct sim_machine machine;
	char error[SIM_ERROR];
	if (!machine.known.n_nodes && sim_machine_load(&machine, "two16", error)) abort();
	struct engine *e = engine_new(&machine, w, 1);
	if (!e) return;
	engine_begin(e);
	while (!engine_done(e) && e->now < RUN_NS) {
		e->called = false;
		engine_run(e, RUN_NS);
	}
	engine_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct workload w;
	struct workload_error error;
	int ret = workload_parse(&w, (const char *)data, size, NULL, &error);
	if (ret && !error.text[0]) abort();
	if (ret && memchr(error.text, '\n', strlen(error.text))) abort();
	if (ret) return 0;
	if (is_small(&w)) run(&w);
	workload_free(&w);
	return 0;
}
