/* How sure a counted share is. */
#ifndef UNSEEN_PROPORTION_H
#define UNSEEN_PROPORTION_H

struct proportion {
    double value, low, high;
};

/* pass of count (at least 1) with Wilson's score interval, z standard deviations to either side. */
struct proportion proportion_wilson(int pass, int count, double z);

#endif
