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

/* The same of a number that is not whole: 1 / sqrt(head_dim). */
bool imported_scalar(const struct imported *task, size_t i, const struct config *config, double *value);

bool imported_computes(
    const struct imported *task); /* are there inputs that get_inputs computes of others? */

/* Who runs a task's get_inputs for the inputs that it computes of others: makes those of `wanted` at the instance's sizes, drawn from
 * `seed`, as `class` has them, malloced: bits of floats where the tensor holds floats, else whole numbers. 0; 1: get_inputs does not run there, -1: anything
 * else; and why ("": memory ran out). */
struct imported_wish {
    uint64_t seed;
    const char *class; /* of inputs: it may mark or reshape what get_inputs makes */
    const bool *wanted;
};
typedef int imported_maker(const struct problem *problem, const struct instance *instance,
                           const struct imported_wish *wish, int32_t **given, char *text, size_t size);
void imported_made_by(imported_maker *maker);
/* Why the last configuration of a task could not be drawn; "": memory ran out, or it could. *here: get_inputs does not run there. */
const char *imported_trouble(bool *here);

const struct json_t *imported_description(const struct imported *task); /* NAME.task */

#endif
