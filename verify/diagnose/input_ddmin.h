/* Finds which input values make a point fail that passes with other values. */
#ifndef UNSEEN_INPUT_DDMIN_H
#define UNSEEN_INPUT_DDMIN_H

#include "shrinking.h"
#include "verify/session/task.h"

/* Asks about the simplest failure, shrinking->best, or about another one that is known to pass with other
 * values. Makes at most `runs` single-call runs. Does not set out->present if no passing values are found, if
 * the failure does not repeat in one call, or if a call takes long. */
void input_ddmin_values(const struct task *task, struct shrinking *shrinking, int runs,
                        struct result_content *out);

#endif
