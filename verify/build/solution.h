/* Python solutions of several files: a folder, or FlashInfer-Bench's JSON file with `sources` (path, content)
 * and `spec` (entry_point "FILE::NAME", destination_passing_style). */
#ifndef UNSEEN_SOLUTION_H
#define UNSEEN_SOLUTION_H

#include <stdbool.h>

#include "build.h"

/* Writes the sources into build->python.folder. Sets object, sha256 and entry (with a "!" appended for
 * destination-passing style). */
enum build_status solution_unpack(struct build *build, const char *path, char *error, size_t error_size);

/* Copies the folder at options->path into build->python.folder, without hidden files and __pycache__. The
 * entry file is options->entry as FILE:NAME, `spec` of its solution.json, or the only possible file. Sets
 * object and sha256 (of the names and hashes of all files), and entry if it is given with the file.
 * BUILD_INPUT: no entry file or several, links, too many files. */
enum build_status solution_take_folder(struct build *build, const struct build_options *options, char *error,
                                       size_t error_size);

/* Sets object and entry from `spec` of the solution.json at `path`. `whole`: the file contains its sources,
 * which are unpacked as by solution_unpack; otherwise they are beside it. */
enum build_status solution_read_spec(struct build *build, const char *path, bool *whole, char *error,
                                     size_t error_size);

/* Do the first `length` characters of `path` name a file below a folder, without leaving it? */
bool solution_is_inside(const char *path, size_t length);

#endif
