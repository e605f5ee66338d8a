/* Where an OpenMP runtime's code is. Threads wait for each other there: what they touch meanwhile is the runtime's,
 * not the program's memory, and its loops are the dearest of all to take apart. */
#ifndef NSCHED_RUNTIME_CODE_H
#define NSCHED_RUNTIME_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* From the first to behind the last byte of the library. */
struct runtime_code {
	uint64_t start, end;
};

/* Whether `path` is an OpenMP runtime's: LLVM's, Intel's or GCC's. */
bool runtime_code_is_name(const char *path);

/* Whether `ip` lies in one, and where that is. Takes no lock of the loader's; false with glibc before 2.35, which can't tell
 * without. */
bool runtime_code_find(uint64_t ip, struct runtime_code *code); /* `code` is left alone where not */

#endif
