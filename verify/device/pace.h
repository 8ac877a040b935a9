/* Clock of a GPU's multiprocessors during timing, and reasons for throttling. */
#ifndef UNSEEN_PACE_H
#define UNSEEN_PACE_H

#include <stdbool.h>
#include <stddef.h>

#include "device.h"

/* Reasons for throttling that NVML distinguishes: a bit set. */
enum pace_held { PACE_POWER = 1, PACE_HEAT = 2, PACE_HARDWARE = 4 };

struct pace {
    double mhz;    /* cycles of a multiprocessor relative to the global timer, over about 50 us; 0: unknown */
    unsigned held; /* 0 if NVML reports no reason, or is absent */
};

/* Measures the clock, which occupies the device for a moment. For the host nothing is known. */
struct pace pace_of(const struct device *device);

/* Is the clock below three quarters of the maximum? False if either is unknown. */
bool pace_is_slow(const struct pace *pace, const struct device *device);

/* "power, heat" */
void pace_name(unsigned held, char *text, size_t size);

/* Replaces the measurement, for a test; NULL: measure the device itself. */
void pace_ask(struct pace (*of)(const struct device *device));

/* Current throttling reasons from the driver (PACE_..); in nvml.c. */
unsigned nvml_held(const char *uuid);

#endif
