/* Checks whether the machine is as fast as its calibration. Measurements go through hooks, so that a test can
 * replace them. */
#ifndef UNSEEN_SPOT_CHECK_H
#define UNSEEN_SPOT_CHECK_H

#include "peaks.h"

struct spot_hooks {
    bool (*measure)(void *data, struct figures *out); /* false: no further measurement is possible */
    void (*pause)(void *data, double seconds);
    void *data;
};

/* Slower than stored by more than spot_slower counts as slow; faster by more than spot_faster raises the
 * stored value. */
extern const double spot_slower, spot_faster;
enum { SPOT_ATTEMPTS = 5 };

struct spot {
    bool slow;         /* even in the best of all attempts */
    enum figure which; /* if slow: the figure that is slowest relative to its stored value */
    double ratio;      /* its speed relative to the stored value, below 1 */
    bool raised;       /* some of `figures` are above the stored ones */
    int attempts;
    struct figures seen;    /* the best of all attempts */
    struct figures figures; /* the stored figures, raised if two measurements agree */
};

/* `processors`: all cores together can reach at most so many times the rate of one core. */
void spot_check(const struct figures *kept, int processors, const struct spot_hooks *hooks, struct spot *out);

/* Speed relative to the stored value; 1 if either is unknown. */
double spot_speed(const struct figures *kept, const struct figures *seen, enum figure figure);

#endif
