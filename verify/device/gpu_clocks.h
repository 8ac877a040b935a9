/* Clock of a GPU's multiprocessors during timing, and reasons for throttling. */
#ifndef UNSEEN_GPU_CLOCKS_H
#define UNSEEN_GPU_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "device.h"

/* Reasons for throttling that NVML distinguishes: a bit set. */
enum gpu_clocks_held { GPU_CLOCKS_POWER = 1, GPU_CLOCKS_HEAT = 2, GPU_CLOCKS_HARDWARE = 4 };

struct gpu_clocks {
    double mhz;    /* cycles of a multiprocessor relative to the global timer, over about 50 us; 0: unknown */
    unsigned held; /* 0 if NVML reports no reason, or is absent */
};

/* Measures the clock, which occupies the device for a moment. For the host nothing is known. */
struct gpu_clocks gpu_clocks_of(const struct device *device);

/* Is the clock below three quarters of the maximum? False if either is unknown. */
bool gpu_clocks_is_slow(const struct gpu_clocks *pace, const struct device *device);

/* "power, heat" */
void gpu_clocks_name(unsigned held, char *text, size_t size);

/* Replaces the measurement, for a test; NULL: measure the device itself. */
void gpu_clocks_ask(struct gpu_clocks (*of)(const struct device *device));

/* Current throttling reasons from the driver (PACE_..); in nvml.c. */
unsigned nvml_held(const char *uuid);

#endif
