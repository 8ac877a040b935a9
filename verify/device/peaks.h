/* Repeatable measurements of the hardware's ceilings, also beside other processes. A rate is the best of many
 * short windows: on a busy machine undisturbed windows are rarer, not worse. A launch time is a low quantile
 * of many empty calls, or the least of several contexts' medians. */
#ifndef UNSEEN_PEAKS_H
#define UNSEEN_PEAKS_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Increased whenever figures of an earlier version are no longer comparable. */
enum { PEAKS_PROTOCOL = 3 };

enum figure {
    FIGURE_COPY,      /* GB/s read plus written by all cores at once, with data far larger than the caches */
    FIGURE_COPY_CORE, /* the same by one core; host only */
    FIGURE_L2,        /* GB/s read from data in the L2; CUDA only */
    FIGURE_RATE,      /* TFLOP/s, one per enum rate */
    FIGURE_LAUNCH = FIGURE_RATE + RATE_COUNT, /* us of an empty call */
    FIGURE_GRAPH,                             /* us of a graph that contains one empty kernel; CUDA only */
    FIGURE_COUNT
};
const char *figure_name(enum figure figure);  /* key in files: "copy_gbps" */
const char *figure_title(enum figure figure); /* printed title: "copy" */
const char *figure_unit(enum figure figure);
bool figure_is_time(enum figure figure); /* lower is better */

struct figures {
    double value[FIGURE_COUNT]; /* 0: unknown here */
    double spread
        [FIGURE_COUNT]; /* difference of the best and worst round relative to the best; 0: a single round */
};

/* A spot check measures some figures (copy, launch, and on the host fp32 and one core's copy) in a few tenths
 * of a second. All figures take some seconds. */
enum peaks_depth { PEAKS_SPOT, PEAKS_ALL };

/* Returns 0; or -1 and why some figures are missing; `out` has the others. */
int peaks_measure(const struct device *device, enum peaks_depth depth, struct figures *out, char *error,
                  size_t error_size);

/* Sets the device's measured ceilings and launch time. */
void peaks_use(const struct figures *figures, struct device *device);

/* Adds one round to a figure: keeps the best value, and the spread to the worst. */
void figures_round(struct figures *figures, enum figure figure, double value);

/* backends */
int peaks_measure_host(const struct device *device, enum peaks_depth depth, struct figures *out, char *error,
                       size_t error_size);
int peaks_measure_cuda(const struct device *device, enum peaks_depth depth, struct figures *out, char *error,
                       size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
