/* Between the files of what tasks do: program.c has the lines, program_memory.c touching, program_messages.c talking. */
#ifndef NSCHED_SIM_PROGRAM_H
#define NSCHED_SIM_PROGRAM_H

#include "engine.h"

enum outcome { GO_ON, COMPUTE, STOP };  /* the next line at once; a burst has been made; blocked, asleep or ended */

enum outcome program_touch(struct engine *engine, struct task *task, const struct wl_op *op);

/* The windows of a `run`; what was never touched is now. False without memory. */
bool program_resolve(struct engine *engine, struct task *task, const struct wl_op *op);

enum outcome program_send(struct engine *engine, struct task *task, const struct wl_op *op);
enum outcome program_receive(struct engine *engine, struct task *task, const struct wl_op *op);

/* A receiver has room for so many messages, or is gone. */
void program_let_senders(struct engine *engine, struct task *task, unsigned n);

#endif
