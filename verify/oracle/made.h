/* Inputs that an imported task computes of others, from a process that runs its get_inputs: an oracle of its own, which starts with the
 * first that is asked for. One for the whole program. */
#ifndef UNSEEN_MADE_H
#define UNSEEN_MADE_H

#include "problems/problem.h"

/* From now on imported tasks get theirs so, in that interpreter (NULL: python3), which is copied. */
void made_begin(const char *python);
/* Starts that process for a task that has such inputs, from a thread that lives on. */
void made_wake(const struct problem *problem);
void made_end(void);

#endif
