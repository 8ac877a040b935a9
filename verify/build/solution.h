/* FlashInfer-Bench's solutions: a JSON file with `sources` (path, content) and `spec` (entry_point "FILE::NAME",
 * destination_passing_style). */
#ifndef UNSEEN_SOLUTION_H
#define UNSEEN_SOLUTION_H

#include "build.h"

/* Writes the sources into build->python.folder; sets object, entry (with "!" behind it where it writes where it is told to)
 * and sha256. */
enum build_status solution_unpack(struct build *build, const char *path, char *error, size_t error_size);

#endif
