/* Checks that the tool can work with a loaded problem. It reports mistakes in problem.c that would otherwise
 * appear as a crash or a wrong number. */
#ifndef UNSEEN_VALIDATE_H
#define UNSEEN_VALIDATE_H

#include <stdbool.h>

#include "module.h"
#include "problems/problem.h"

/* `discrete`: reference.h judges all outputs without a judgement of their own. False with an error text: what
 * was found in problem.c, what was expected, what to do. */
bool problem_validate(const struct problem *problem, const struct module_source *source, const char *object,
                      bool discrete, char *error, size_t error_size);

#endif
