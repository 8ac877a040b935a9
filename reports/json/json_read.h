/* Stored results: reads the JSON that json_write wrote back into the record that all writers take. */
#ifndef UNSEEN_JSON_READ_H
#define UNSEEN_JSON_READ_H

#include "reports/record/result.h"

struct stored_result {
    struct result result; /* this struct owns its strings, results, findings and check_options */
    void *document;       /* the parsed JSON, which holds the strings */
    struct problem
        *problem; /* the problem of all configurations, with axes only; NULL: the file names none */
};

enum json_read_status { JSON_READ_OK, JSON_READ_INPUT, JSON_READ_ENVIRONMENT };

/* Reads a result of schema 1 from a file, a pipe or "-" (standard input). Unknown keys are ignored. Missing
 * newer keys take their "not present" value. Wrong types, unknown names and texts that do not fit are errors.
 * Returns JSON_READ_OK, or another status with a message (found, expected, what to do) and nothing to free.
 * JSON_READ_ENVIRONMENT: out of memory.
 *
 * Some fields are not in a file and stay empty: `timed_config` (its line is there), the problem's tensors and
 * input classes. */
enum json_read_status json_read(const char *path, struct stored_result *stored, char *error,
                                size_t error_size);
void json_read_free(struct stored_result *stored);

#endif
