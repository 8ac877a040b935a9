/* An imported task: what NAME.task (doc/formats.md) says, as a problem that is driven like any other. */
#ifndef UNSEEN_IMPORTED_H
#define UNSEEN_IMPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/problem.h"

struct imported;
struct json_t; /* jansson */

/* Reads FOLDER/NAME.task. The problem and the task stay for the life of the process. NULL with a text: what was found, what
 * was expected, what to do. */
const struct problem *imported_read(const char *folder, const char *name, char *text, size_t size);

const char *imported_folder(const struct imported *task); /* absolute; holds NAME.task and the source */
const char *imported_file(const struct imported *task);   /* NAME.task's path */
const char *
imported_source(const struct imported *task); /* the source's path; its hash was compared with NAME.task's */
const char *imported_entry(const struct imported *task); /* the class: "Model" */
int imported_weights(const struct imported *task); /* number of the tensor `weights`; -1: there is none */
int imported_ring(const struct imported *task,
                  int axis); /* 1: changes inputs only, 2: weights, 3: attributes; 0: no number */
bool imported_noted(const struct imported *task,
                    const char *kind); /* does NAME.task note "constant", "random" or "stateful"? */

/* What forward's parameter number `i`, which is no tensor, is in `config`, where it follows axes; false: it is its "value" always. */
bool imported_number(const struct imported *task, size_t i, const struct config *config, int64_t *value);

const struct json_t *imported_description(const struct imported *task); /* NAME.task */

#endif
