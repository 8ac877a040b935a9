/* Exports a drawn set for other programs: `unseen export`. doc/formats.md describes the formats. */
#ifndef UNSEEN_EXPORT_H
#define UNSEEN_EXPORT_H

#include <stddef.h>
#include <stdio.h>

#include "tensor_file.h"
#include "verify/session/task.h"

enum export_format {
    EXPORT_JSON,
    EXPORT_CSV,
    EXPORT_PYTHON,
    EXPORT_FLASHINFER,
    EXPORT_GPUMODE,
    EXPORT_ARENA, /* a folder: export_arena.h */
    EXPORT_FORMATS
};

/* The names "json", "csv", ..; NULL beyond the last. */
const char *export_name(int format);

struct export_set {
    const struct task *task; /* the task with the drawn sets */
    bool seen_only;
    const char *inputs;                  /* folder for export_inputs; NULL: none */
    const struct tensor_file_format *as; /* format of these files, if any */
};

/* Returns 0, or -1 when out of memory; the caller checks ferror. */
int export_write(FILE *out, const struct export_set *set, enum export_format format);

/* Writes the inputs of every configuration as files to the new folder set->inputs, at most `most` bytes of
 * values in total. Returns 0; or -1, `text` says why, no file remains, and *is_usage tells whether the user's
 * arguments are wrong. */
int export_inputs(const struct export_set *set, double most, bool *is_usage, char *text, size_t size);

#endif
