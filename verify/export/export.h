/* A drawn set, for programs that are not this one: `unseen export`. What is written is in doc/formats.md. */
#ifndef UNSEEN_EXPORT_H
#define UNSEEN_EXPORT_H

#include <stddef.h>
#include <stdio.h>

#include "stored.h"
#include "verify/session/task.h"

enum export_format {
    EXPORT_JSON,
    EXPORT_CSV,
    EXPORT_PYTHON,
    EXPORT_FLASHINFER,
    EXPORT_GPUMODE,
    EXPORT_FORMATS
};

/* "json, csv, ..": the names, NULL beyond the last. */
const char *export_name(int format);

struct export_set {
    const struct task *task; /* whose sets are drawn */
    bool seen_only;
    const char *inputs;             /* the folder that export_inputs writes; NULL: none */
    const struct stored_format *as; /* how, where there is one */
};

/* 0, or -1 when out of memory; what `out` says of itself (ferror) is the caller's. */
int export_write(FILE *out, const struct export_set *set, enum export_format format);

/* Inputs of every configuration as files in the new folder set->inputs, at most `most` bytes of values together. 0; -1: `text`
 * says why, nothing is left behind, and *is_usage whether something that was given is wrong. */
int export_inputs(const struct export_set *set, double most, bool *is_usage, char *text, size_t size);

#endif
