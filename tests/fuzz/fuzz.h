/* Targets of libFuzzer, one file each: fuzz_NAME.c defines LLVMFuzzerTestOneInput. `make fuzz` builds them
 * with clang, and tests/fuzz/run.sh runs them. The suite `fuzz` replays tests/corpora/fuzz/NAME.txt through
 * the same functions, compiled like all tests. A target checks more than crashes: FUZZ_CHECK ends the process
 * like a fault would. */
#ifndef UNSEEN_TESTS_FUZZ_H
#define UNSEEN_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "problems/problem.h"

/* The suite `fuzz` compiles each file with this name defined as another (fuzz_NAME). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(holds)                                                                                    \
    do {                                                                                                     \
        if (!(holds)) {                                                                                      \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds);                       \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* The path of a file with these bytes, until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* The same bytes, NUL-terminated; the caller frees them. */
char *fuzz_text(const uint8_t *data, size_t size);

/* The first byte chooses a problem. */
const struct problem *fuzz_problem(const uint8_t **data, size_t *size);

/* An error needs a hint. */
void fuzz_error(const char *text);

/* Checks text for people that a stranger may have written: no byte may drive a terminal. */
void fuzz_plain(const char *text, size_t length);

#endif
