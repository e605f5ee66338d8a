/* Looks at the program before it is run: where it is, and whether nsched can serve it. */
#ifndef NSCHED_PROGRAM_H
#define NSCHED_PROGRAM_H

#include <limits.h>

enum program_kind {
	PROGRAM_SERVED,  /* an ordinary dynamic program, or one that can't be read */
	PROGRAM_SCRIPT,  /* no ELF file: its interpreter is served */
	PROGRAM_STATIC,  /* no dynamic linker: nothing can be put into it */
	PROGRAM_SECURE,  /* setuid, setgid or with capabilities: its user may not put anything into it */
	PROGRAM_FOREIGN, /* for another word size or machine than our libraries */
	PROGRAM_ASAN     /* AddressSanitizer's runtime ends a program that has anything preloaded before it */
};

/* Finds the file that execvp would run for `name`, into `path`. 0, or -ENOENT, -EACCES (a file is
 * there, but not executable), -EISDIR, -ENAMETOOLONG. */
int program_find(const char *name, char path[PATH_MAX]);

/* Reads a few kilobytes of it. *threaded: the program itself asks for an OpenMP runtime (gcc's, LLVM's,
 * Intel's); 0 where it can't be read. */
enum program_kind program_look(const char *path, int *threaded);

#endif
