/* A proportion and its confidence interval. */
#ifndef UNSEEN_PROPORTION_H
#define UNSEEN_PROPORTION_H

struct proportion {
    double value, low, high;
};

/* Returns pass / count (count is at least 1) with Wilson's score interval of z standard deviations to either
 * side. */
struct proportion proportion_wilson(int pass, int count, double z);

#endif
