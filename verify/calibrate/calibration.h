/* What was measured of a device once, in a file that later runs read instead of measuring again. */
#ifndef UNSEEN_CALIBRATION_H
#define UNSEEN_CALIBRATION_H

#include "verify/device/peaks.h"

enum { CALIBRATION_HASH = 65, CALIBRATION_DATE = 24 };

struct calibration {
    char uuid[48], name[128], driver[64];
    int processors, protocol;
    double clock_mhz, memory_clock_mhz;                    /* 0: not known */
    char date[CALIBRATION_DATE], raised[CALIBRATION_DATE]; /* UTC; raised: empty where it never was */
    char version[32], git[48];                             /* of the tool */
    struct figures figures;
};

enum calibration_fit {
    CALIBRATION_FITS,
    CALIBRATION_MISSING, /* there is no such file */
    CALIBRATION_STALE,   /* of this device, with another driver or by an earlier protocol: may be replaced */
    CALIBRATION_FOREIGN  /* anything else: it stays as it is */
};

/* Of this device as it is now, without figures. */
void calibration_describe(const struct device *device, struct calibration *out);
void calibration_now(char date[CALIBRATION_DATE]);

/* The machine's own file for the device, in the cache folder. False: there is none, and why. */
bool calibration_path(const struct device *device, char *path, size_t size, char *why, size_t why_size);

/* Read it and hold it against the device. But where it fits or is missing `why` says what was found; `hash` is the file's
 * SHA-256 where it fits. */
enum calibration_fit calibration_read(const char *path, const struct device *device, struct calibration *out,
                                      char hash[CALIBRATION_HASH], char *why, size_t why_size);

/* Replace the file as a whole. `named`: the user gave the path, so that a link there is followed; else the link is replaced.
 * 0, and its hash; or -1 and why. */
int calibration_write(const char *path, bool named, const struct calibration *calibration,
                      char hash[CALIBRATION_HASH], char *why, size_t why_size);

#endif
