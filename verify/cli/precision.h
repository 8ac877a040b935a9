/* How precise times are to be, by what is asked for. */
#ifndef UNSEEN_PRECISION_H
#define UNSEEN_PRECISION_H

#include "options.h"
#include "verify/device/device.h"

/* Seconds for one unseen configuration's times. */
double precision_seconds(const struct options *options, const struct device *device);

/* In so many processes, one after another, is timed what is short. */
int precision_processes(const struct options *options);

#endif
