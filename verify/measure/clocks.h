/* Two clocks of one call, and what it proves when they disagree. */
#ifndef UNSEEN_CLOCKS_H
#define UNSEEN_CLOCKS_H

#include <stdbool.h>

struct clocks {
    double event_ms, wall_ms; /* of one call: between the stream's events; until the device is idle */
};

/* Further apart than launching a kernel explains. */
bool clocks_disagree(const struct clocks *clocks);

/* Of calls of a candidate and, between them, kernels of ours of the same length: do they show that work
 * outlives the candidate's call? */
bool clocks_prove(const struct clocks *candidate, const struct clocks *control, int count);

/* Calls of a proof. A neighbour that falls by chance on all of the candidate's calls and on none of
 * ours between them would have to be right twice as often. */
enum { CLOCKS_CALLS = 12 };

#endif
