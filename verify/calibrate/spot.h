/* Is the machine as fast as its calibration says? Decided on what is measured through hooks, so that a test can put its
 * own in their place. */
#ifndef UNSEEN_SPOT_H
#define UNSEEN_SPOT_H

#include "verify/device/peaks.h"

struct spot_hooks {
    bool (*measure)(void *data, struct figures *out); /* false: nothing more is to be had */
    void (*pause)(void *data, double seconds);
    void *data;
};

/* Slower than kept by more than this is slow; faster by more than this raises what is kept. */
extern const double spot_slower, spot_faster;
enum { SPOT_ATTEMPTS = 5 };

struct spot {
    bool slow;         /* even the best of all attempts */
    enum figure which; /* the slowest against what is kept, where slow */
    double ratio;      /* its speed against what is kept, below 1 */
    bool raised;       /* some of `figures` are above what was kept */
    int attempts;
    struct figures seen;    /* the best of all attempts */
    struct figures figures; /* what is kept, raised where two measurements say so */
};

/* `processors`: what all together can do is at most so many times what one does. */
void spot_check(const struct figures *kept, int processors, const struct spot_hooks *hooks, struct spot *out);

/* Speed against what is kept; 1 where either is not known. */
double spot_speed(const struct figures *kept, const struct figures *seen, enum figure figure);

#endif
