/* A timeout counts only if it repeats alone: with no other work of this run, and without another `unseen`
 * that times. The limit of that attempt comes from the problem's own baseline on this machine. */
#ifndef UNSEEN_ALONE_H
#define UNSEEN_ALONE_H

#include "run.h"

/* Time limit of a candidate's call when it runs alone. */
struct alone_limit {
    double seconds;
    char why[160]; /* "30 times the baseline's 1.2 s" */
};

struct alone; /* the baseline, compiled once on demand, in a session of its own */

struct alone *alone_open(const struct task *task,
                         const struct session_options *options); /* NULL: out of memory */
void alone_close(struct alone *alone);

/* Computes the limit for one configuration. It runs the baseline, and compiles it on first use. */
struct alone_limit alone_limit(struct alone *alone, const struct config *config);

#endif
