#ifndef TESTS_FUZZ_WORKLOAD_H
#define TESTS_FUZZ_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's name for it. Aborts where the parser breaks its promise. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
