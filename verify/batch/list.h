/* The candidates of a batch, from the command line, a folder or a list of JSON lines:
 *
 *     {"problem": "softmax", "file": "kernel.c", "id": "first", "options": {"seed": 5, "no-timing": true}}
 *
 * `file` is required. Without `problem` the batch's own holds; without `id` the path is the id. */
#ifndef UNSEEN_BATCH_LIST_H
#define UNSEEN_BATCH_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct batch_item {
    char *id, *problem, *file;
    json_t *words; /* the options of its verdict as words: those of the batch, then those of its row */
};

struct batch_list {
    struct batch_item *item;
    int count, room;
    json_t *ids; /* an object with the ids as keys */
};

/* Defaults of all rows, and the options that a row may have. */
struct batch_defaults {
    const char *problem; /* NULL: each row names its own */
    json_t *words;       /* options of all rows */
    /* Is there an option of that name for a row, and does it take a value? */
    bool (*is_option)(const char *name, bool *takes_value);
};

/* The functions return 0, or -1 with an error text: found, expected, what to do. */

/* Adds one candidate of the command line, or all candidates of a folder in the order of their names. */
int batch_list_add(struct batch_list *list, const struct batch_defaults *defaults, const char *path,
                   char *error, size_t error_size);
int batch_list_read(struct batch_list *list, const struct batch_defaults *defaults, const char *path,
                    char *error, size_t error_size);
void batch_list_clear(struct batch_list *list);

#endif
