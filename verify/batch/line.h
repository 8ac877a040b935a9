/* Lines of a batch's result: one JSON object a candidate, in a file that survives a kill. */
#ifndef UNSEEN_BATCH_LINE_H
#define UNSEEN_BATCH_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "list.h"

/* How a verdict ended. */
struct batch_end {
    int status;           /* exit status of verify; -1: it was killed */
    const char *reason;   /* why there is no verdict; NULL: `result` has one */
    const json_t *result; /* the JSON result of verify, or NULL */
    const char *path;     /* where that result is kept, or NULL */
    double seconds;
    int attempts;
};

/* The line of an item; the caller releases it. NULL: out of memory. */
json_t *batch_line(const struct batch_item *item, const struct batch_end *end);

/* The verdict's name; NULL: verify refused the row or the candidate, with status 2. */
const char *batch_line_verdict(const json_t *line);
/* Has it no verdict because of the machine? Such a row runs again. */
bool batch_line_is_lost(const json_t *line);

struct batch_file {
    int descriptor; /* -1: none */
    const char *path;
};

/* Opens the file, which no other batch may have open; NULL: standard output. `resume`: reads the lines it
 * has into line[i] for list->item[i], and drops a torn last line. Without it the file must be new or empty.
 * Returns 0; -1: bad input, -2: the environment cannot do it, with an error text. */
int batch_file_open(struct batch_file *file, const char *path, bool resume, const struct batch_list *list,
                    json_t **line, char *error, size_t error_size);

/* Appends a line with one write and syncs it. After an error the file ends with a whole line. */
int batch_file_write(const struct batch_file *file, const json_t *line, char *error, size_t error_size);
void batch_file_close(struct batch_file *file);

#endif
