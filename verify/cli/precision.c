#include "precision.h"

/* On a GPU calls take microseconds, and the exchange about each a millisecond. */
double precision_seconds(const struct options *options, const struct device *device)
{
    if (options->scores || options->reward)
        return 0.2;
    if (device->backend == BACKEND_CUDA)
        return 0.1;
    return options->effort == EFFORT_QUICK || options->effort == EFFORT_REWARD ? 0.01 : 0.04;
}

/* A number that is acted on hangs on no process's luck; and whoever asks for one time only has time. */
int precision_processes(const struct options *options)
{
    enum { SEVERAL = 4, MANY = 24 };
    if (options->timed)
        return MANY;
    return options->scores || options->reward || options->effort == EFFORT_DEEP ? SEVERAL : 1;
}
