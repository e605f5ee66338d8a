/* Where the OpenMP runtime's own code lies, to tell its regions from the program's. */
#ifndef NSCHED_OMPT_RUNTIME_H
#define NSCHED_OMPT_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the module that `function`, one of the runtime's, belongs to. Where that is not a library of the
 * runtime alone (linked statically: the program's code is in it too) no address counts as the runtime's. */
void runtime_find(void (*function)(void));

extern struct runtime_text {
	uintptr_t first, end;
} runtime_text;

static inline bool runtime_has(const void *code)
{
	return (uintptr_t)code >= runtime_text.first && (uintptr_t)code < runtime_text.end;
}

#endif
