/* Solutions of several files, in Python: a folder, or FlashInfer-Bench's JSON file with `sources` (path, content) and `spec` (entry_point "FILE::NAME",
 * destination_passing_style). */
#ifndef UNSEEN_SOLUTION_H
#define UNSEEN_SOLUTION_H

#include <stdbool.h>

#include "build.h"

/* Writes the sources into build->python.folder; sets object, entry (with "!" behind it where it writes where it is told to)
 * and sha256. */
enum build_status solution_unpack(struct build *build, const char *path, char *error, size_t error_size);

/* Copies the folder at options->path into build->python.folder, without hidden files and __pycache__. Its entry file is
 * options->entry as FILE:NAME, `spec` of its solution.json, or the one file that can be meant. Sets object and sha256 (of the
 * names and hashes of all files), and entry where the file is named with it. BUILD_INPUT: no entry file or several, links, too
 * many files. */
enum build_status solution_take_folder(struct build *build, const struct build_options *options, char *error,
                                       size_t error_size);

/* Sets object and entry by `spec` of the solution.json at `path`. `whole`: it has its sources in it, which are unpacked as
 * solution_unpack does it; else they lie beside it. */
enum build_status solution_read_spec(struct build *build, const char *path, bool *whole, char *error,
                                     size_t error_size);

/* Do `length` characters of `path` name a file below a folder, without a way out of it? */
bool solution_is_inside(const char *path, size_t length);

#endif
