/* An imported task: NAME.task (doc/formats.md) as a problem that is used like any other. */
#ifndef UNSEEN_IMPORTED_H
#define UNSEEN_IMPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/problem.h"

struct imported;
struct json_t; /* jansson */

/* Reads FOLDER/NAME.task. Returns `known`, read from there before (NULL: nothing), if the task is still the
 * same. The problem and the task live as long as the process. NULL: `text` says what was found, what was
 * expected and what to do. */
const struct problem *imported_read(const char *folder, const char *name, const struct problem *known,
                                    char *text, size_t size);

const char *imported_folder(const struct imported *task); /* absolute; holds NAME.task and the source */
const char *imported_file(const struct imported *task);   /* path of NAME.task */
/* The source's path. Its hash was compared with the one in NAME.task. */
const char *imported_source(const struct imported *task);
const char *imported_entry(const struct imported *task); /* name of the class: "Model" */
int imported_weights(const struct imported *task);       /* number of the tensor `weights`; -1: none */
/* Returns what an axis changes. 1: inputs only, 2: weights, 3: attributes; 0: the axis is no number. */
int imported_ring(const struct imported *task, int axis);
/* Returns whether NAME.task notes `kind`: "constant", "random" or "stateful". */
bool imported_noted(const struct imported *task, const char *kind);

/* Computes parameter number `i` of forward, a whole number that depends on axes, for `config`. False: the
 * parameter does not depend on axes and is always its "value". */
bool imported_number(const struct imported *task, size_t i, const struct config *config, int64_t *value);

/* Like imported_number, for a number that is not whole: 1 / sqrt(head_dim). */
bool imported_scalar(const struct imported *task, size_t i, const struct config *config, double *value);

bool imported_computes(const struct imported *task); /* whether get_inputs computes some inputs from others */

/* Inputs to make by a task's get_inputs, since it computes them from others. */
struct imported_wish {
    uint64_t seed;
    const char *class;  /* input class, which may mark or reshape the inputs */
    const bool *wanted; /* by tensor */
};
/* Runs get_inputs at the instance's sizes and fills given[t] for each wanted tensor, malloced: one value an
 * element. Values are the bits of floats if the tensor holds floats, else whole numbers. Returns 0; 1:
 * get_inputs cannot run at these sizes; -1: another error. `text` says why ("": out of memory). */
typedef int imported_maker(const struct problem *problem, const struct instance *instance,
                           const struct imported_wish *wish, int32_t **given, char *text, size_t size);
/* Sets the callback of the whole program. */
void imported_made_by(imported_maker *maker);
/* Returns why the last configuration of a task could not be drawn; "": it could, or memory ran out. *here:
 * get_inputs cannot run at its sizes. */
const char *imported_trouble(bool *here);

const struct json_t *imported_description(const struct imported *task); /* content of NAME.task */

#endif
