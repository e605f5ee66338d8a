#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's name for it. Aborts where what is tested breaks its promise. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
