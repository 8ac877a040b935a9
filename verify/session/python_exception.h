/* Python exceptions that a module raises: which belong to the configuration, and which may be consequences of
 * an earlier exception. */
#ifndef UNSEEN_PYTHON_EXCEPTION_H
#define UNSEEN_PYTHON_EXCEPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/record/result.h"

enum { EXCEPTION_KINDS = 16 };

struct python_exceptions {
    /* the current process may continue after an exception; the caller repeats later failures */
    bool may_live;
    bool before;                    /* the current process has raised an exception and lives on */
    bool now;                       /* the current configuration ended with an exception */
    uint64_t kind[EXCEPTION_KINDS]; /* hashes of exceptions raised in new processes */
    int kinds;
};

/* Is this the result of an exception? */
bool exception_is(const struct config_result *result);
/* Its type and the candidate's line, "raised ValueError (line 12)"; omits the message, which may contain
 * sizes. */
void exception_words(const struct config_result *result, char *text, size_t text_size);
/* A hash of that text. */
uint64_t exception_kind(const struct config_result *result);

/* Has a new process raised the same exception? */
bool exception_is_known(const struct python_exceptions *exceptions, const struct config_result *result);
/* Records that a new process raised it. */
void exception_keep(struct python_exceptions *exceptions, const struct config_result *result);

#endif
