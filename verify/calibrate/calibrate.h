/* The ceilings of a run: kept ones where they fit, checked; else measured now, and kept for the next run. */
#ifndef UNSEEN_CALIBRATE_H
#define UNSEEN_CALIBRATE_H

#include "calibration.h"
#include "verify/device/lease.h"

struct calibrate_options {
    const char *path;    /* --peaks; NULL: the machine's own file */
    struct lease *lease; /* held while something is measured; NULL: none is to be had */
    bool again;          /* measure all anew, and keep that */
};

struct calibrated {
    bool present;
    struct calibration calibration;
    struct calibration
        before;      /* with `again`: what was kept; else, or where there was none, its date is empty */
    char path[1200]; /* of the file */
    bool named;      /* by --peaks: a link there is the user's, and followed */
    char hash[CALIBRATION_HASH]; /* of the file; empty: these figures are in none */
    bool comparable;             /* false: the machine is slower now than its calibration */
    char incomparable[160];      /* why, where it is not */
    char note[1500];             /* lines for the report; empty: all was as it was */
    char missing[400];           /* why some figures are missing */
    char unkept[1300];           /* why they are in no file; empty: they are in one */
    bool unwritable;             /* in that case: it could not be written, rather than that it is another's */
};

/* Sets the device's measured ceilings and launch floor. False: the user interrupted. */
bool calibrate(struct device *device, const struct calibrate_options *options, struct calibrated *out);

#endif
