/* Shared by the parts of the export. */
#ifndef UNSEEN_EXPORT_INTERNAL_H
#define UNSEEN_EXPORT_INTERNAL_H

#include "export.h"

/* Configuration i of the set, seen ones first; NULL beyond the last. *place counts from 1 within "seen" or
 * "unseen". */
const struct drawn *export_at(const struct export_set *set, int i, const char **name, int *place);

/* File name below the folder of inputs: "seen-1/x.npy", "seen-1.safetensors". */
void export_file(char *path, size_t size, const struct tensor_file_format *as, const char *name, int place,
                 const char *tensor);

#endif
