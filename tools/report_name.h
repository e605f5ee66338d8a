/* The report's name as the user gave it, made into one that this very process can use. */
#ifndef NSCHED_REPORT_NAME_H
#define NSCHED_REPORT_NAME_H

#include <stddef.h>

/* Puts the process number for %p, the machine for %h, the rank for %r and % for %% into `file`. Where
 * an MPI launcher has started several ranks and neither %p nor %r is used, "rankN" is put before the
 * extension, since all ranks were given the same name. A relative name is made absolute: the program
 * may change its folder. "-" and "" stay as they are. `what` is the word for it in complaints: "report", "record".
 *
 * 0, or a negated errno after it has told what is wrong: -EINVAL a placeholder, -ENAMETOOLONG, or
 * what is wrong with the folder. */
int report_name(const char *what, const char *pattern, char *file, size_t bytes);

#endif
