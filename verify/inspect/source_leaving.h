/* Statements that end the block around them. */
#ifndef UNSEEN_SOURCE_LEAVING_H
#define UNSEEN_SOURCE_LEAVING_H

#include "source_tokens.h"

/* Does such a statement begin at `at`: return, break, exit(1)? */
bool leaving_begins(const struct source *source, int at);

/* Is the statement at `at` in a block whose end is known? */
bool leaving_is_bounded(const struct source *source, int at);

#endif
