/* Precision of times, depending on the requested output. */
#ifndef UNSEEN_PRECISION_H
#define UNSEEN_PRECISION_H

#include "options.h"
#include "verify/device/device.h"

/* Time limit in seconds for timing one unseen configuration. */
double precision_seconds(const struct options *options, const struct device *device);

/* Number of successive processes in which short configurations are timed. */
int precision_processes(const struct options *options);

#endif
