/* Makes inputs that an imported task computes from others, in a process that runs its get_inputs. That
 * process is an oracle of its own, one for the whole program, and starts at the first request. */
#ifndef UNSEEN_MADE_H
#define UNSEEN_MADE_H

#include "problems/problem.h"

/* Registers this maker for imported tasks. `python` is the interpreter (NULL: python3) and is copied. A
 * process of that interpreter that still runs is used again. */
void made_begin(const char *python);
/* Starts the process early if the task has such inputs. Call it from a thread that outlives the process. */
void made_wake(const struct problem *problem);
void made_end(void);

#endif
