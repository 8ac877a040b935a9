#include "precision.h"

/* On a GPU calls take microseconds, and the exchange around each call about a millisecond. */
double precision_seconds(const struct options *options, const struct device *device)
{
    if (options->scores || options->reward)
        return 0.2;
    if (device->backend == BACKEND_CUDA)
        return 0.1;
    return options->effort == EFFORT_QUICK || options->effort == EFFORT_REWARD ? 0.01 : 0.04;
}

/* A score or reward must not depend on one process's random placement, so it uses several processes. A single
 * check has time for many. */
int precision_processes(const struct options *options)
{
    enum { SEVERAL = 4, MANY = 24 };
    if (options->timed)
        return MANY;
    return options->scores || options->reward || options->effort == EFFORT_DEEP ? SEVERAL : 1;
}
