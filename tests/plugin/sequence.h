/* Plays a sequence of OMPT events, written as text, through the callbacks that a tool has set, on as many
 * threads as it names; and writes down what the tool made of it.
 *
 * A step is THREAD OPERATION REGION, parts that do not apply left out; regions are capital letters:
 *   0i              the initial task begins
 *   0pA2@10         region A begins, 2 threads asked for, code address 0x10 (none: NULL; @R: the runtime's)
 *   0lA2@10         the same, a league
 *   1bA.1           the implicit task of A with index 1 begins; 1iA.1: a league's member
 *   1n.1            an implicit task begins whose parallel_data is NULL
 *   1eA.1           it ends (parallel_data NULL, as runtimes do)
 *   1s2@10 1s2      a barrier of kind 2 is entered, with and without a code address; 1w2: left
 *   0xA@10          region A ends
 *   1c3@20          it gets the loop chunk (kind 3) that begins at iteration 0x20
 *   1k5@20 1k5      it makes explicit task 5, which writes what is at 0x20; which only reads, from 0xdead0
 *   1r5             it goes on with explicit task 5
 *   1t              the thread ends
 * What is written down: thread and O(pen) S(tart) C(lose) R(egister) U(nregister) P(lace) B(egin)key E(nd) L(oop chunk)start T(ouch)address. */
#ifndef NSCHED_TEST_SEQUENCE_H
#define NSCHED_TEST_SEQUENCE_H

#include <stdbool.h>

#include "made_up.h"

enum { SEQUENCE_THREADS = 10 };

extern struct made_up *runtime;

void sequence_load(void);                 /* the made-up runtime; once */
bool sequence_start(void);                /* ompt_start_tool and initialize; threads begin. False: no tool */
void sequence_finalize(void);
void sequence_play(const char *steps);
const char *sequence_calls(void);         /* of the fake libnsched, since its reset */
void sequence_stop(void);                 /* the threads leave */
void sequence_on(int thread, void (*work)(void *), void *argument); /* runs it there and waits */

#endif
