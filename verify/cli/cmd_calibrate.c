/* unseen calibrate */
#include <stdio.h>

#include "prepare.h"
#include "verify/device/calibrate.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/interrupt.h"

static void print_row(enum figure figure, const struct calibrated *c, double vendor)
{
    const double measured = c->calibration.figures.value[figure], before = c->before.figures.value[figure];
    if (measured <= 0 && vendor <= 0)
        return;
    printf("  %-12s ", figure_title(figure));
    if (measured > 0)
        printf("%10.4g %-8s %5.1f%%", measured, figure_unit(figure),
               100 * c->calibration.figures.spread[figure]);
    else
        printf("%10s %-8s %6s", "-", figure_unit(figure), "");
    if (vendor > 0 && measured > 0)
        printf(" %10.4g   %3.0f%%", vendor, 100 * measured / vendor);
    else if (vendor > 0)
        printf(" %10.4g", vendor);
    if (before > 0 && measured > 0)
        printf("%s   was %.4g", vendor > 0 ? "" : "                 ", before);
    printf("\n");
}

static double vendor_of(const struct device *device, enum figure figure)
{
    if (figure == FIGURE_COPY)
        return device->vendor.gbps;
    return figure >= FIGURE_RATE && figure < FIGURE_LAUNCH ? device->vendor.tflops[figure - FIGURE_RATE] : 0;
}

static void print_all(const struct device *device, const struct calibrated *c)
{
    printf("%s (%s), %d %s", device->name, device->driver, device->processors,
           device->backend == BACKEND_CUDA ? "multiprocessors" : "cores");
    if (device->clock_mhz > 0)
        printf(", %.0f MHz", device->clock_mhz);
    if (device->memory_clock_mhz > 0)
        printf(", memory %.0f MHz", device->memory_clock_mhz);
    printf("\n  %-12s %10s %-8s %6s %10s\n", "", "measured", "", "spread", "vendor");
    for (int f = 0; f < FIGURE_COUNT; f++)
        print_row((enum figure)f, c, vendor_of(device, (enum figure)f));
    if (c->unkept[0] == '\0')
        printf("kept in %s\n", c->path);
}

static struct lease *open_lease(const struct device *device, const struct options *options)
{
    char why[400];
    const struct lease_options lease = {
        .device = device->uuid, .waiting = prepare_waiting, .attend = options->no_lease};
    return lease_open(&lease, why, sizeof why);
}

int command_calibrate(const struct options *options)
{
    struct device device;
    struct calibrated c;
    char error[512];
    const enum device_status status =
        device_open_patiently(&device, options->device, prepare_device_full, error, sizeof error);
    if (status != DEVICE_OK) {
        options_error("%s", error);
        return status == DEVICE_SPEC ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    struct lease *const lease = open_lease(&device, options);
    const struct calibrate_options asked = {.path = options->peaks, .lease = lease, .again = true};
    catch_signals(child_stop_all);
    const bool done = calibrate(&device, &asked, &c);
    lease_close(lease);
    if (!done) {
        options_error("interrupted");
        return EXIT_INTERRUPTED;
    }
    if (c.missing[0] != '\0')
        options_error("%s", c.missing); /* the other figures are still worth printing */
    print_all(&device, &c);
    if (c.unkept[0] == '\0')
        return EXIT_GENERAL;
    options_error("the calibration is not kept: %s", c.unkept);
    return c.unwritable ? EXIT_ENVIRONMENT : EXIT_USAGE;
}
