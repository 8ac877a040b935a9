/* What the hardware can do, measured so that it repeats, also beside neighbours: of many short windows the best, which a
 * busy machine makes rarer and not worse; of many empty calls a low quantile, or the least of several contexts' medians. */
#ifndef UNSEEN_PEAKS_H
#define UNSEEN_PEAKS_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changed whenever figures of another version of the tool would not be the same figures. */
enum { PEAKS_PROTOCOL = 3 };

enum figure {
    FIGURE_COPY,      /* GB/s read plus written, by all cores at once, far beyond the caches */
    FIGURE_COPY_CORE, /* the same by one core; host */
    FIGURE_L2,        /* GB/s read from what lies in the L2; CUDA */
    FIGURE_RATE,      /* TFLOP/s, one for each enum rate */
    FIGURE_LAUNCH = FIGURE_RATE + RATE_COUNT, /* us of an empty call */
    FIGURE_GRAPH,                             /* us of a graph that holds one; CUDA */
    FIGURE_COUNT
};
const char *figure_name(enum figure figure);  /* "copy_gbps": as in files */
const char *figure_title(enum figure figure); /* "copy": as in print */
const char *figure_unit(enum figure figure);
bool figure_is_time(enum figure figure); /* less is better */

struct figures {
    double value[FIGURE_COUNT]; /* 0: not known here */
    double spread
        [FIGURE_COUNT]; /* between the best and the worst round, as a part of the best; 0: of one round */
};

/* A spot check measures part of them (copy, launch, on the host fp32 and one core's copy) and takes a few tenths of a second; all
 * of them some seconds. */
enum peaks_depth { PEAKS_SPOT, PEAKS_ALL };

/* Returns 0; or -1 and why some are missing, while `out` has the others. */
int peaks_measure(const struct device *device, enum peaks_depth depth, struct figures *out, char *error,
                  size_t error_size);

/* Make them the device's measured ceilings and its launch floor. */
void peaks_use(const struct figures *figures, struct device *device);

/* Fold one round's value into a figure: the best stays, and so does the worst, as the spread. */
void figures_round(struct figures *figures, enum figure figure, double value);

/* back-end halves */
int peaks_measure_host(const struct device *device, enum peaks_depth depth, struct figures *out, char *error,
                       size_t error_size);
int peaks_measure_cuda(const struct device *device, enum peaks_depth depth, struct figures *out, char *error,
                       size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
