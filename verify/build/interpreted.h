/* Prepares a candidate in Python, a module or a solution in JSON, in a private folder, and the interpreter
 * that runs it. */
#ifndef UNSEEN_INTERPRETED_H
#define UNSEEN_INTERPRETED_H

#include "build.h"

/* Fills build->python and build->object. `scripts` is PYTHON_PACKAGE in the checkout or under share/. */
enum build_status module_make(struct build *build, const struct build_options *options, char *error,
                              size_t error_size);

/* Does the source text define a class with one of these names at the start of a line? */
bool module_has_class(const char *path);

#endif
