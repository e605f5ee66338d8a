/* What the tests of the public calls share: a program's view, with nothing of the inside. */
#ifndef TESTS_UNIT_API_H
#define TESTS_UNIT_API_H

#include <check.h>
#include <errno.h>
#include <nsched.h>

enum { ODD_ERRNO = EXDEV };

/* Of this run's own, gone with all that is in it at the end. */
extern char api_folder[64];

nsched_t *api_opened(void);

/* A file there; holds until the next call. */
const char *api_path(const char *name);

/* What is in a file; holds until the next call. */
char *api_contents(const char *file);

/* Runs the tests; 77 on a machine with several nodes. */
int api_main(const char *name, void (*add)(TCase *tcase));

#endif
