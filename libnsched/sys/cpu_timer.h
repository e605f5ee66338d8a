/* A timer on the CPU clock of one thread, which sends that thread a signal; and what such a signal takes of it. */
#ifndef NSCHED_CPU_TIMER_H
#define NSCHED_CPU_TIMER_H

#include <stdint.h>
#include <sys/types.h>

/* A timer of thread `tid` of this process, not started yet; its signal carries `value`. 0 and the kernel's id of it, or -errno. */
int cpu_timer_create(pid_t tid, int signal, uint64_t value, int *timer);

/* A signal each period_ns of the thread's CPU time from now on; 0: none. 0 or -errno. */
int cpu_timer_set(int timer, uint64_t period_ns);
void cpu_timer_delete(int timer);

/* What a signal of the calling thread's timer, which carries `value`, takes of the thread, in ns: the way there and back, what the handler does, and
 * the timer being set anew, as the kernel does behind each. It is sent some dozen times by hand, with system calls in place of the
 * interrupt; what the program's caches lose is not seen. `drain` is called now and then. The timer is stopped afterwards. The thread must let
 * the signal through. 0: not to be had, the calls are refused. */
unsigned cpu_timer_price(int timer, int signal, uint64_t value, void (*drain)(void *arg), void *arg);

#endif
