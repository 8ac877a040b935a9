/* Formats of tensor files, in one table: which tensors share a file, the names of dtypes, and the header
 * before the values. */
#ifndef UNSEEN_TENSOR_FILE_H
#define UNSEEN_TENSOR_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "problems/problem.h"

/* Contents of one file: tensors of one configuration in this order, with consecutive rows and no padding. */
struct tensor_file {
    const struct config *config;
    const struct instance *instance;
    const char *set, *why; /* "unseen", and the reason for drawing the configuration */
    int tensor[PROBLEM_MAX_TENSORS], count;
};

struct tensor_file_format {
    const char *name;
    bool together;                         /* all tensors of a configuration share one file */
    const char *(*type)(enum dtype dtype); /* the dtype's name in the file */
    int (*begin)(FILE *out,
                 /* writes the header; 0, or -1 when out of memory; the caller checks ferror */
                 const struct tensor_file *file);
};

/* NumPy's .npy (format 1.0). A dtype that it lacks is written as the unsigned integer with the same bits. */
extern const struct tensor_file_format stored_npy;
/* Safetensors: 8 bytes with the length of the header, little-endian; the header in JSON, padded with blanks
 * so that values begin at a multiple of 8; values. Readers require that tensors have no gaps. So the widest
 * dtypes come first, and each tensor is aligned to its element size. */
extern const struct tensor_file_format stored_safetensors;

/* Finds a format by name (NULL: the first). NULL: there is none, and `names` lists all. */
const struct tensor_file_format *tensor_file_find(const char *name, char *names, size_t size);

#endif
