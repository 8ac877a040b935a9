/* The ceilings of a run: stored ones if they fit, after a check; else measured now, and stored for the next
 * run. */
#ifndef UNSEEN_CALIBRATE_H
#define UNSEEN_CALIBRATE_H

#include "calibration.h"
#include "lease.h"

struct calibrate_options {
    const char *path;    /* --peaks; NULL: this machine's own file */
    struct lease *lease; /* held while measuring; NULL: none is available */
    bool again;          /* measure everything again, and store it */
};

struct calibrated {
    bool present;
    struct calibration calibration;
    struct calibration before; /* with `again`: the previously stored figures; otherwise its date is empty */
    char path[1200];           /* of the calibration file */
    bool named;                /* by --peaks: the user's own symbolic link is followed */
    char hash[CALIBRATION_HASH]; /* hash of the file; empty: these figures are in no file */
    bool comparable;             /* false: the machine is slower now than at its calibration */
    char incomparable[160];      /* the reason */
    char note[1500];             /* lines for the report; empty: nothing changed */
    char missing[400];           /* why some figures are missing */
    char unkept[1300];           /* why they are in no file; empty: they are stored */
    /* in that case: the file could not be written (otherwise it belongs to something else) */
    bool unwritable;
};

/* Sets the device's measured ceilings and launch time. False: the user interrupted. */
bool calibrate(struct device *device, const struct calibrate_options *options, struct calibrated *out);

#endif
