#include "peaks.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *name, *title, *unit;
} traits[FIGURE_COUNT] = {
    [FIGURE_COPY] = {"copy_gbps", "copy", "GB/s"},
    [FIGURE_COPY_CORE] = {"copy_core_gbps", "copy, 1 core", "GB/s"},
    [FIGURE_L2] = {"l2_gbps", "L2 read", "GB/s"},
    [FIGURE_RATE + RATE_F64] = {"fp64_tflops", "fp64", "TFLOP/s"},
    [FIGURE_RATE + RATE_F32] = {"fp32_tflops", "fp32", "TFLOP/s"},
    [FIGURE_RATE + RATE_TF32] = {"tf32_tflops", "tf32", "TFLOP/s"},
    [FIGURE_RATE + RATE_F16] = {"fp16_tflops", "fp16", "TFLOP/s"},
    [FIGURE_RATE + RATE_BF16] = {"bf16_tflops", "bf16", "TFLOP/s"},
    [FIGURE_RATE + RATE_E4M3] = {"fp8_tflops", "fp8", "TFLOP/s"},
    [FIGURE_LAUNCH] = {"launch_us", "empty call", "us"},
    [FIGURE_GRAPH] = {"graph_launch_us", "empty graph", "us"},
};

const char *figure_name(enum figure figure)
{
    return traits[figure].name;
}

const char *figure_title(enum figure figure)
{
    return traits[figure].title;
}

const char *figure_unit(enum figure figure)
{
    return traits[figure].unit;
}

bool figure_is_time(enum figure figure)
{
    return figure == FIGURE_LAUNCH || figure == FIGURE_GRAPH;
}

void figures_round(struct figures *figures, enum figure figure, double value)
{
    double *const best = &figures->value[figure], *const spread = &figures->spread[figure];
    if (!(value > 0) || !isfinite(value))
        return;
    if (*best <= 0) {
        *best = value;
        *spread = 0;
        return;
    }
    const bool time = figure_is_time(figure);
    double worst = time ? *best * (1 + *spread) : *best * (1 - *spread);
    worst = time ? fmax(worst, value) : fmin(worst, value);
    *best = time ? fmin(*best, value) : fmax(*best, value);
    *spread = fabs(worst - *best) / *best;
}

int peaks_measure(const struct device *device, enum peaks_depth depth, struct figures *out, char *error,
                  size_t error_size)
{
    *out = (struct figures){0};
    if (error_size > 0)
        *error = '\0';
    return device->backend == BACKEND_CUDA ? peaks_measure_cuda(device, depth, out, error, error_size)
                                           : peaks_measure_host(device, depth, out, error, error_size);
}

void peaks_use(const struct figures *figures, struct device *device)
{
    device->measured.gbps = figures->value[FIGURE_COPY];
    for (int r = 0; r < RATE_COUNT; r++)
        device->measured.tflops[r] = figures->value[FIGURE_RATE + r];
    device->launch_ms = figures->value[FIGURE_LAUNCH] * 1e-3;
}

#ifndef HAVE_CUDA
int peaks_measure_cuda(const struct device *device, enum peaks_depth depth, struct figures *out, char *error,
                       size_t error_size)
{
    (void)device, (void)depth, (void)out;
    snprintf(error, error_size, "this build has no CUDA\n---> install the CUDA Toolkit and run make");
    return -1;
}
#endif
