/* How fast a GPU's multiprocessors run while times are taken, and what holds them back. */
#ifndef UNSEEN_PACE_H
#define UNSEEN_PACE_H

#include <stdbool.h>
#include <stddef.h>

#include "device.h"

/* What holds clocks back, as NVML tells apart: a set of these. */
enum pace_held { PACE_POWER = 1, PACE_HEAT = 2, PACE_HARDWARE = 4 };

struct pace {
    double mhz;    /* cycles of a multiprocessor against the global timer, over some 50 us; 0: not known */
    unsigned held; /* 0 where NVML knows of nothing, or is not there */
};

/* Makes the device work for a moment. Of the host nothing is known. */
struct pace pace_of(const struct device *device);

/* Below three quarters of the highest clock; false where one of them is not known. */
bool pace_is_slow(const struct pace *pace, const struct device *device);

/* "power, heat" */
void pace_name(unsigned held, char *text, size_t size);

/* Who is asked, so that a test can put its own in its place; NULL: the device itself. */
void pace_ask(struct pace (*of)(const struct device *device));

/* nvml.c: PACE_.. as the driver says it now. */
unsigned nvml_held(const char *uuid);

#endif
