/* A timeout counts only when it happens again alone: with nothing else of this run, and no
 * other unseen's timing, beside it, and within a limit that the problem's own baseline sets on this machine
 * now. */
#ifndef UNSEEN_ALONE_H
#define UNSEEN_ALONE_H

#include "run.h"

/* How long one call of a candidate may take there. */
struct alone_limit {
    double seconds;
    char why[160]; /* "30 times the baseline's 1.2 s" */
};

struct alone; /* the baseline, compiled once on demand, in a session of its own */

struct alone *alone_open(const struct task *task,
                         const struct session_options *options); /* NULL: out of memory */
void alone_close(struct alone *alone);

/* The limit for one configuration; takes as long as the baseline does, and the first time as long as its
 * compilation. */
struct alone_limit alone_limit(struct alone *alone, const struct config *config);

#endif
