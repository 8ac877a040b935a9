/* A point that fails with some values and passes with others: which of them make it fail. */
#ifndef UNSEEN_WHICH_VALUES_H
#define UNSEEN_WHICH_VALUES_H

#include "shrinking.h"
#include "verify/session/task.h"

/* Of the simplest failure, shrinking->best, or of another that is known to pass with other values; with so many runs of one call
 * at the most. Nothing is said (out->present is false) where no values are found that pass, where the failure does not repeat in one
 * call, and where a call takes long. */
void which_values(const struct task *task, struct shrinking *shrinking, int runs, struct result_content *out);

#endif
