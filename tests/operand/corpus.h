/* The arrays of the recorded corpus: the recorded program and the one that reads the record have them at the
 * same addresses, with the same contents. */
#ifndef TESTS_OPERAND_CORPUS_H
#define TESTS_OPERAND_CORPUS_H

#include "check.h"

enum { CORPUS_ELEMENTS = 1 << 18 }; /* arrays of 2 MiB: stepped through, never run to their ends */
#define CORPUS_START UINT64_C(0x200000000000)

#endif
