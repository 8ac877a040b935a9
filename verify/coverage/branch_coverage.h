/* Which branches of a candidate its configurations reach. A second, instrumented build of the candidate
 * is called once for each of them (tracing.h). Its answers are not judged, and verdicts come from the
 * plain build alone.
 *
 * So far this serves candidates in C and C++ on the host. CUDA needs the same three steps behind the same
 * interface: an object that counts, its list of branches, and a call that fills a map. */
#ifndef UNSEEN_BRANCH_COVERAGE_H
#define UNSEEN_BRANCH_COVERAGE_H

#include "branches.h"
#include "verify/session/task.h"

struct branch_limits {
    /* Work of all calls in seconds, as sizes and points reached suggest, so that equal seeds give equal
     * sets. */
    double work, steering;
    double seconds; /* of the clock, if the estimates are far too low; the note then says so */
    int steered;    /* most configurations that are added for branches */
    double memory;  /* bytes of the candidate's processes; 0: the default of a session */
};

struct branch_coverage {
    bool present; /* else `note` says why there is none */
    struct branches branches;
    int called, configurations; /* called so many of the task's, the cheapest first */
    int steered;                /* configurations added to the directed ones */
    int ended;                  /* calls that crashed or hung */
    bool cut;                   /* by the clock */
    bool machine;               /* not present for lack of a program or of memory here */
    double seconds;
    char note[400]; /* phrases about what is lacking; empty: nothing */
};

/* The limits of `verify` with this effort: a fifth of a run on the host. `alone`: those of `cover`. */
struct branch_limits branch_limits(enum effort effort, bool alone);

/* Runs after task_draw. With limits->steered > 0 it adds configurations to the unseen set that take
 * branches which no other takes, and renews the commitment of the directed ones. Returns 0; -1 when
 * memory is out or the user interrupted it. */
int branch_coverage_open(struct branch_coverage *coverage, struct task *task,
                         const struct branch_limits *limits);
void branch_coverage_close(struct branch_coverage *coverage);

#endif
