/* How inputs are kept as files: two formats behind one table. What differs is in which file a tensor lies, what its type is
 * called, and what stands before the values. */
#ifndef UNSEEN_STORED_H
#define UNSEEN_STORED_H

#include <stdbool.h>
#include <stdio.h>

#include "problems/problem.h"

/* What one file holds: tensors of one configuration, rows one after the other, in this order and without gaps. */
struct stored_file {
    const struct config *config;
    const struct instance *instance;
    const char *set, *why; /* "unseen", and why it was drawn */
    int tensor[PROBLEM_MAX_TENSORS], count;
};

struct stored_format {
    const char *name;
    bool together;                         /* all tensors of a configuration in one file */
    const char *(*type)(enum dtype dtype); /* what a file calls it */
    int (*begin)(FILE *out,
                 const struct stored_file *file); /* 0, or -1 when out of memory; ferror is the caller's */
};

/* .npy (format 1.0) of NumPy; a type that it lacks is the unsigned integer with the same bits. */
extern const struct stored_format stored_npy;
/* Safetensors: 8 bytes that count the header's, little-endian; the header in JSON, filled up with blanks, so that values begin at a
 * multiple of 8; values. Readers ask for tensors without gaps, so the widest types come first, and each lies at a multiple of
 * its size. */
extern const struct stored_format stored_safetensors;

/* By its name, NULL for the first; NULL: there is none such, and `names` lists all. */
const struct stored_format *stored_find(const char *name, char *names, size_t size);

#endif
