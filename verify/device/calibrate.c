#include "calibrate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "spot_check.h"
#include "lockfile.h"
#include "verify/util/interrupt.h"

static __attribute__((format(printf, 2, 3))) void note(struct calibrated *out, const char *format, ...)
{
    const size_t used = strlen(out->note);
    va_list arguments;
    va_start(arguments, format);
    if (used < sizeof out->note)
        vsnprintf(out->note + used, sizeof out->note - used, format, arguments);
    va_end(arguments);
}

/* --- locking the file --- */

/* Locks the file against other processes that read and update it. -1: no lock is available; replacing the
 * file is atomic in any case. */
static int lock_file(const char *path)
{
    char lock[1300];
    snprintf(lock, sizeof lock, "%s.lock", path);
    const int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        lockfile_lock(fd, LOCK_EX);
    return fd;
}

static void unlock_file(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* --- measuring --- */

/* Measures under the lease, since two processes that measure at once disturb each other. The lease is taken
 * after the file lock, never before it. False: interrupted. If --budget ran out while others had the lease,
 * nothing is measured, and the run takes no times. */
static bool measure_all(const struct device *device, struct lease *lease, struct calibrated *out)
{
    calibration_describe(device, &out->calibration);
    if (!lease_take(lease))
        return !is_interrupted();
    peaks_measure(device, PEAKS_ALL, &out->calibration.figures, out->missing, sizeof out->missing);
    lease_give(lease);
    return !is_interrupted();
}

static void keep(struct calibrated *out)
{
    char why[1024] = "there was no time or no memory to measure what copies take";
    const double *const figure = out->calibration.figures.value;
    if (figure[FIGURE_COPY] > 0 && figure[FIGURE_LAUNCH] > 0 &&
        calibration_write(out->path, out->named, &out->calibration, out->hash, why, sizeof why) == 0)
        return;
    out->unwritable = true;
    out->hash[0] = '\0';
    snprintf(out->unkept, sizeof out->unkept, "%.1000s", why);
}

/* --- checking --- */

struct measuring {
    const struct device *device;
    struct lease *lease;
};

static bool measure_spot(void *data, struct figures *out)
{
    const struct measuring *const m = data;
    char why[400];
    if (!lease_take(m->lease))
        return false;
    peaks_measure(m->device, PEAKS_SPOT, out, why, sizeof why);
    lease_give(m->lease);
    return !is_interrupted();
}

static void wait_seconds(void *data, double seconds)
{
    const struct timespec moment = {0, (long)(seconds * 1e9)};
    (void)data;
    nanosleep(&moment, NULL);
}

/* Merges with another process's update: the better value of each figure stays. */
static void raise_file(const struct device *device, struct calibrated *out)
{
    struct calibration now;
    char hash[CALIBRATION_HASH], why[400];
    const int lock = lock_file(out->path);
    if (calibration_read(out->path, device, &now, hash, why, sizeof why) == CALIBRATION_FITS)
        for (int f = 0; f < FIGURE_COUNT; f++)
            if (spot_speed(&out->calibration.figures, &now.figures, (enum figure)f) > 1)
                out->calibration.figures.value[f] = now.figures.value[f];
    calibration_now(out->calibration.raised);
    keep(out);
    unlock_file(lock);
    if (out->unwritable)
        note(out, "the raised ceilings are of this run only: %.*s\n", (int)strcspn(out->unkept, "\n"),
             out->unkept);
}

static void say_raised(const struct figures *before, struct calibrated *out)
{
    for (int f = 0; f < FIGURE_COUNT; f++) {
        const double was = before->value[f], is = out->calibration.figures.value[f];
        if (was != is)
            note(out, "the calibration is raised: %s %.4g, was %.4g %s\n", figure_title((enum figure)f), is,
                 was, figure_unit((enum figure)f));
    }
}

static bool check_kept(const struct device *device, struct lease *lease, struct calibrated *out)
{
    struct measuring measuring = {device, lease};
    const struct spot_hooks hooks = {measure_spot, wait_seconds, &measuring};
    const struct figures before = out->calibration.figures;
    struct spot spot;
    spot_check(&before, device->processors, &hooks, &spot);
    if (is_interrupted())
        return false;
    out->comparable = !spot.slow;
    if (spot.slow) {
        snprintf(out->incomparable, sizeof out->incomparable,
                 "the machine reaches %.0f%% of its calibrated speed (%s, best of %d attempts)",
                 100 * spot.ratio, figure_title(spot.which), spot.attempts);
        note(out,
             "speed scores of this run are not comparable with others: %s; wait until it is at rest, or run "
             "unseen calibrate where this is all it can\n",
             out->incomparable);
    }
    if (spot.raised) {
        out->calibration.figures = spot.figures;
        raise_file(device, out);
        say_raised(&before, out);
    }
    return true;
}

/* --- ways to obtain ceilings --- */

/* The file is missing or of another driver. Creates it under the lock, so that a simultaneous process finds
 * it. */
static bool begin_file(const struct device *device, const struct calibrate_options *options,
                       enum calibration_fit fit, const char *why, struct calibrated *out)
{
    if (!measure_all(device, options->lease, out))
        return false;
    keep(out);
    if (out->unwritable)
        note(out, "the ceilings were measured for this run only: %.*s\n", (int)strcspn(out->unkept, "\n"),
             out->unkept);
    else if (fit == CALIBRATION_STALE)
        note(out, "the ceilings were measured anew (%s) and kept in %.600s\n", why, out->path);
    else
        note(out, "the ceilings were measured now and kept in %.600s\n", out->path);
    return true;
}

static bool leave_file(const struct device *device, const struct calibrate_options *options, const char *why,
                       struct calibrated *out)
{
    snprintf(out->unkept, sizeof out->unkept,
             "%.800s: %.300s\n---> remove it, or give another file as --peaks", out->path, why);
    note(out, "the ceilings were measured for this run only: %.600s: %s\n", out->path, why);
    return measure_all(device, options->lease, out);
}

static bool with_file(const struct device *device, const struct calibrate_options *options,
                      struct calibrated *out)
{
    struct calibration kept;
    char why[400];
    int lock = lock_file(out->path);
    bool ok = true;
    const enum calibration_fit fit = calibration_read(out->path, device, &kept, out->hash, why, sizeof why);
    if (fit == CALIBRATION_FITS && !options->again) {
        unlock_file(lock);
        lock = -1;
        out->calibration = kept;
        ok = check_kept(device, options->lease, out);
    } else if (fit == CALIBRATION_FOREIGN) {
        unlock_file(lock);
        lock = -1;
        out->hash[0] = '\0';
        ok = leave_file(device, options, why, out);
    } else {
        if (fit != CALIBRATION_MISSING)
            out->before = kept;
        ok = begin_file(device, options, fit, why, out);
    }
    unlock_file(lock);
    return ok;
}

bool calibrate(struct device *device, const struct calibrate_options *options, struct calibrated *out)
{
    char why[1000];
    bool ok;
    *out = (struct calibrated){.present = true, .comparable = true, .named = options->path != NULL};
    if (options->path)
        snprintf(out->path, sizeof out->path, "%s", options->path);
    if (options->path || calibration_path(device, out->path, sizeof out->path, why, sizeof why)) {
        ok = with_file(device, options, out);
    } else {
        out->unwritable = true;
        snprintf(out->unkept, sizeof out->unkept,
                 "%.400s\n---> set XDG_CACHE_HOME to a directory of yours, or give a file as --peaks", why);
        note(out, "the ceilings were measured for this run only: %.400s\n", why);
        ok = measure_all(device, options->lease, out);
    }
    peaks_use(&out->calibration.figures, device);
    return ok;
}
