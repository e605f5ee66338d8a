/* The life of the process's scheduler, as the plugin drives it: armed when the runtime takes the tool,
 * opened at the first parallel region with more than one thread, closed at the end, void in a forked
 * child until its own first region. No OMPT type is known here.
 *
 * Opening waits for the first region because everything before runs under the runtime's start-up lock,
 * because the initial thread must keep its mask until then (the runtime counts its CPUs), and because a
 * process without a parallel region should pay nothing. */
#ifndef NSCHED_OMPT_SESSION_H
#define NSCHED_OMPT_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <nsched.h>

/* SESSION_OFF: every callback returns at once. SESSION_ARMED: the first region opens. From SESSION_OPEN
 * on: open, and the number tells one opening from another, since a thread pointer is good for only one. */
enum { SESSION_OFF = 0, SESSION_ARMED = 1, SESSION_OPEN = 2 };

extern _Atomic uint32_t session_state;

static inline uint32_t session_now(void)
{
	return atomic_load_explicit(&session_state, memory_order_acquire);
}

/* The options of this process, with the environment's; a wrong one is told in one line on standard
 * error and left at its default. NULL: no memory. */
nsched_config_t *session_options(void);

/* A line on standard error, of the two together. errno is kept. */
void session_complain(const char *what, const char *more);

/* Whether the options ask for a report. */
bool session_wants_report(const nsched_config_t *config);

/* Opens and closes a scheduler, so that its report is written though nothing was done. */
void session_report_only(const nsched_config_t *config);

/* Takes the options (also NULL: defaults) and waits for the first region. */
void session_arm(nsched_config_t *config);

/* The first region: opens and starts. Of several threads one does it; the others go on without. */
void session_begin(void);

/* Registers the calling thread with the opening `state`. NULL: it is over, or no memory. */
nsched_thread_t *session_register(uint32_t state);

/* Forgets the calling thread, if the opening `state` is still the one. */
void session_unregister(uint32_t state, nsched_thread_t *thread);

/* Closes what is open; the report is written. Also where nothing was armed or all is done already. */
void session_end(void);

#endif
