/* Fixtures of the tests of source_clues. */
#ifndef UNSEEN_TESTS_SOURCE_FIXTURE_H
#define UNSEEN_TESTS_SOURCE_FIXTURE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/inspect/source_clues.h"

/* The clues of `size` bytes, one a line. They are read from a block of that size, so that AddressSanitizer
 * sees reads behind it. */
static inline void source_clues_text(const char *source, size_t size, char *out, size_t out_size)
{
    struct clue_list list = {0};
    size_t used = 0;
    char *const exact = malloc(size ? size : 1);
    memcpy(exact, source, size);
    *out = '\0';
    ck_assert_int_eq(source_clues(&list, exact, size, "kernel.cu"), 0);
    for (int i = 0; i < list.count && used < out_size; i++) {
        char line[CLUE_MOST_TERMS * 2 * (CLUE_TEXT_SIZE + 8)];
        clue_format(&list.item[i], line, sizeof line);
        used += (size_t)snprintf(out + used, out_size - used, "%s%s", i ? "\n" : "", line);
    }
    clue_list_clear(&list);
    free(exact);
}

#endif
