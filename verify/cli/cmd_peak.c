/* unseen peak */
#include <stdio.h>

#include "verify/device/device.h"
#include "options.h"

static void print_row(const char *name, const char *unit, double measured, double vendor)
{
    if (measured <= 0 && vendor <= 0)
        return;
    printf("  %-12s ", name);
    if (measured > 0)
        printf("%10.4g %-8s", measured, unit);
    else
        printf("%10s %-8s", "-", unit);
    if (vendor > 0 && measured > 0)
        printf(" %10.4g   %3.0f%%", vendor, 100 * measured / vendor);
    else if (vendor > 0)
        printf(" %10.4g", vendor);
    printf("\n");
}

int command_peak(const struct options *options)
{
    struct device device;
    char error[512];
    const enum device_status status = device_open(&device, options->device, error, sizeof error);
    if (status == DEVICE_OK && device_measure_rates(&device, error, sizeof error) != 0)
        options_error("%s", error); /* the rest is still worth printing */
    if (status != DEVICE_OK) {
        options_error("%s", error);
        return status == DEVICE_SPEC ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    printf("%s (%s), %d %s\n", device.name, device.driver, device.processors,
           device.backend == BACKEND_CUDA ? "multiprocessors" : "cores");
    printf("  %-12s %10s %-8s %10s\n", "", "measured", "", "vendor");
    print_row("copy", "GB/s", device.measured.gbps, device.vendor.gbps);
    for (int r = 0; r < RATE_COUNT; r++)
        print_row(rate_name((enum rate)r), "TFLOP/s", device.measured.tflops[r], device.vendor.tflops[r]);
    printf("  %-12s %10.4g us\n", "empty call", device.launch_ms * 1e3);
    return EXIT_GENERAL;
}
