/* Situations and plans as text, in memory: for golden tests, replay, fuzzing and bug reports.
 *
 * One thing a line, words apart by blanks; what follows a `#` is a remark, empty lines are nothing. The
 * lines come in this order, [..] may be left out, .. is one or more; numbers of nodes are logical:
 *
 *   situation 1                                       the format's version
 *   node N os OS memory BYTES serves LINES [cpus OS:CORE:L3 ..]
 *                                                     N counts up from 0; BYTES may end in KiB, MiB, GiB;
 *                                                     LINES are cache lines per ns that its memory serves
 *   latency N to NS ..                                for each node: from its CPUs to every node's memory
 *   age_ns NS                                         how long the program has run
 *   page_move_ns NS                                   what moving a page costs, and a thread
 *   thread_move_ns NS
 *   [step N]                                          which look this is; 0 if it is left out
 *   [past N load LOAD short MS] ..                    of node N: its decayed load, threads for each CPU, and for
 *                                                     how long it has been short of threads
 *   thread NUMBER on N|- [load SHARE] [bound] [fixed] [moved MS] [home N] [process NUMBER] [times N]
 *                                                     by ascending number; -: where is not known; load 1
 *                                                     if it is left out; moved: so many ms ago; home: the
 *                                                     node that it was bound to first; process 0 if left out;
 *                                                     times: so often moved to another node lately
 *   [talk NUMBER with NUMBER:RATE ..] ..              of threads above, by ascending number: what it hands to others
 *                                                     and they to it, cache lines per ns; their lines say the same
 *   chunk PAGE pages COUNT [on N:SHARE ..] [by NUMBER:RATE ..] [stands X] [fixed] [moved MS] [last N]
 *                                                     by ascending page; at most SITUATION_WHERE nodes; the
 *                                                     numbers are of threads above; RATE is accesses per ns,
 *                                                     X times as many as were seen, for memory not known yet;
 *                                                     last: from beside which node it was used most at the
 *                                                     look before
 *
 *   plan 1
 *   thread NUMBER from N|- to N support PERMILLE gain NS cost NS [again] because REASON
 *   pages PAGE count COUNT from N|- to N support PERMILLE gain NS cost NS [again] because REASON
 *
 * What is printed and parsed again is the same to the last bit, whatever the locale, if its numbers are
 * finite and its parts fit together as the parser wants them. */
#ifndef NSCHED_SNAPSHOT_H
#define NSCHED_SNAPSHOT_H

#include <stddef.h>

#include "pure/plan.h"
#include "pure/situation.h"

struct snapshot_error {
	unsigned line;   /* from 1 */
	char text[160];  /* "line 3, \"nod\": not one of node, latency, ..." */
};

/* The situation in `bytes` bytes of text (no closing zero needed) into `machine` and `situation`, both
 * uninitialized; `situation` refers to `machine`. -EINVAL: it is not one, and `error` says where; -ENOMEM.
 * On an error there is nothing to free. */
int snapshot_parse(const char *text, size_t bytes, struct machine *machine, struct situation *situation,
                   struct snapshot_error *error);

/* The same for a plan. The text must end in a line's end; it is changed (each reason gets a zero behind
 * it) and has to outlive the plan, whose moves point to the reasons in it. */
int snapshot_parse_plan(char *text, size_t bytes, struct plan *plan, struct snapshot_error *error);

/* Into `text` of `bytes` bytes, cut if it does not fit, with a closing zero if bytes is not 0. Returns the
 * length of the whole without it, as snprintf does. */
size_t snapshot_print(const struct situation *situation, char *text, size_t bytes);
size_t snapshot_print_plan(const struct plan *plan, char *text, size_t bytes);

#endif
