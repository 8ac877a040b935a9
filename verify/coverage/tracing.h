/* Calls an instrumented candidate once for each of some configurations, and reads what it executed.
 * Nothing is judged. */
#ifndef UNSEEN_TRACING_H
#define UNSEEN_TRACING_H

#include "verify/runner/coverage_map.h"
#include "verify/session/buffers.h"
#include "verify/session/task.h"

enum trace_status {
    TRACE_OK,    /* the call returned */
    TRACE_ENDED, /* it crashed, or held more than it may; `why` has the words */
    TRACE_HUNG,  /* likewise */
    TRACE_BROKEN /* no further call makes sense: `why` says why */
};

struct tracing {
    const struct build *build;
    struct child_options options;
    struct status status;
    struct buffers buffers;
    struct region map;
    uint32_t slots; /* of the map */
    struct child *child;
    double timeout; /* of a call in seconds */
    char why[256];
};

/* `points`: number of points of the object; `memory` as in struct run_options. False: `why` says why. */
bool tracing_open(struct tracing *tracing, const struct task *task, const struct build *build, int points,
                  double memory);
void tracing_close(struct tracing *tracing);

/* Makes the call. The map has what was executed, also after TRACE_ENDED. */
enum trace_status tracing_call(struct tracing *tracing, const struct config *config);

/* Copies what the last call did at a point; false: it did not reach it. */
bool tracing_point(const struct tracing *tracing, uint32_t place, struct coverage_point *point);

/* How often the last call reached a point, all together. */
double tracing_hits(const struct tracing *tracing);

#endif
