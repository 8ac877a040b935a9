/* Two clocks of one call, and the conclusion from a disagreement. */
#ifndef UNSEEN_CLOCKS_H
#define UNSEEN_CLOCKS_H

#include <stdbool.h>

struct clocks {
    /* of one call: time between the stream's events; wall time until the device is idle */
    double event_ms, wall_ms;
};

/* Do they differ by more than a kernel launch explains? */
bool clocks_disagree(const struct clocks *clocks);

/* Compares calls of a candidate with interleaved kernels of ours of the same length. Do they prove that work
 * outlives the candidate's call? */
bool clocks_prove(const struct clocks *candidate, const struct clocks *control, int count);

/* Calls per proof. By chance a neighbour would have to disturb all of the candidate's calls, and none of our
 * interleaved kernels. */
enum { CLOCKS_CALLS = 12 };

#endif
