/* The run queues of the simulated system, for os.c. */
#ifndef NSCHED_SIM_OS_QUEUE_H
#define NSCHED_SIM_OS_QUEUE_H

#include "engine.h"

/* Those that run on the CPU or wait for it. */
unsigned os_load(const struct engine *engine, unsigned cpu);

/* The engine's count of those that are ready or running goes with it. */
void os_set_state(struct engine *engine, struct task *task, enum task_state state);

/* `woken`: among those that woke; `first`: before the others. */
void os_enqueue(struct engine *engine, struct task *task, unsigned cpu, bool woken, bool first);
void os_dequeue(struct engine *engine, struct task *task);

#endif
