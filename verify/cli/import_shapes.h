/* unseen import PROBLEM --shapes FILE: a seen set from shapes that a running program had. */
#ifndef UNSEEN_IMPORT_SHAPES_H
#define UNSEEN_IMPORT_SHAPES_H

#include "options.h"

/* Returns an exit status: 0, every row of the operation fits; 1, some do not; 2, none, or bad input. */
int import_shapes(const struct options *options);

#endif
