/* Where the code of an OpenMP runtime or an MPI library is. Threads wait for each other there: what they touch meanwhile is the library's,
 * not the program's memory, and its loops are the dearest of all to take apart. What a library copies goes through memcpy, which is
 * none of these; whom a rank talks to, and how much, is counted by the MPI plugins. */
#ifndef NSCHED_RUNTIME_CODE_H
#define NSCHED_RUNTIME_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* From the first to behind the last byte of a library. */
struct runtime_code {
	uint64_t start, end;
};

/* Libraries that were asked for, so that each one's name is looked at once. All zero at first. */
enum { RUNTIME_LIBRARIES = 32 };
struct runtime_libraries {
	struct runtime_library {
		struct runtime_code code;
		uint64_t loaded;     /* as what, by the loader: another one in the same place is another */
		bool waits;          /* threads wait in it */
	} known[RUNTIME_LIBRARIES];
	unsigned next;               /* the one that goes for another, where all are taken */
};

/* Whether threads wait in the library of this path: an OpenMP runtime, or an MPI library (with the modules and transports of which it polls). */
bool runtime_code_is_name(const char *path);

/* Whether `ip` lies in one, and where that is; `code` is left alone where not. Takes no lock of the loader's, and may be called while
 * libraries come and go; false with glibc before 2.35, which can't tell without. */
bool runtime_code_find(struct runtime_libraries *libraries, uint64_t ip, struct runtime_code *code);

#endif
