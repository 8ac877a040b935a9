/* Stored results: what json_write wrote, as the record that all writers take. */
#ifndef UNSEEN_STORED_H
#define UNSEEN_STORED_H

#include "result.h"

struct stored {
    struct result result; /* its strings, results and findings are owned by this struct */
    void *document;       /* the strings */
    struct problem
        *problem;       /* of all configurations, with axes and nothing else; NULL: the file names none */
    const char **words; /* of result.check_options */
};

enum stored_status { STORED_OK, STORED_INPUT, STORED_ENVIRONMENT };

/* Reads a result of schema 1 from a file, a pipe or "-" (standard input). Keys that are not known are ignored, newer ones that
 * are missing take their "not present" value; wrong types, unknown names and texts that do not fit are errors. STORED_OK, or
 * another status with a message (found, expected, what to do) and nothing to free. STORED_ENVIRONMENT: out of memory.
 *
 * Not in a file, and so empty: `timed_config` (its line is there), the problem's tensors and input classes. */
enum stored_status stored_read(const char *path, struct stored *stored, char *error, size_t error_size);
void stored_free(struct stored *stored);

#endif
