/* Stored results: reads the JSON that json_write wrote back into the record that all writers take. */
#ifndef UNSEEN_STORED_H
#define UNSEEN_STORED_H

#include "result.h"

struct stored {
    struct result result; /* this struct owns its strings, results and findings */
    void *document;       /* the parsed JSON, which holds the strings */
    struct problem
        *problem;       /* the problem of all configurations, with axes only; NULL: the file names none */
    const char **words; /* memory of result.check_options */
};

enum stored_status { STORED_OK, STORED_INPUT, STORED_ENVIRONMENT };

/* Reads a result of schema 1 from a file, a pipe or "-" (standard input). Unknown keys are ignored. Missing
 * newer keys take
 * their "not present" value. Wrong types, unknown names and texts that do not fit are errors. Returns STORED_OK, or another
 * status with a message (found, expected, what to do) and nothing to free. STORED_ENVIRONMENT: out of memory.
 *
 * Some fields are not in a file and stay empty: `timed_config` (its line is there), the problem's tensors and input
 * classes. */
enum stored_status stored_read(const char *path, struct stored *stored, char *error, size_t error_size);
void stored_free(struct stored *stored);

#endif
