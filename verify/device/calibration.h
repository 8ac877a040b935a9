/* Measurements of a device, stored in a file that later runs read. */
#ifndef UNSEEN_CALIBRATION_H
#define UNSEEN_CALIBRATION_H

#include "peaks.h"

enum { CALIBRATION_HASH = 65, CALIBRATION_DATE = 24 };

struct calibration {
    char uuid[48], name[128], driver[64];
    int processors, protocol;
    double clock_mhz, memory_clock_mhz;                    /* 0: unknown */
    char date[CALIBRATION_DATE], raised[CALIBRATION_DATE]; /* UTC; raised: empty if it never was */
    char version[32], git[48];                             /* of the tool */
    struct figures figures;
};

enum calibration_fit {
    CALIBRATION_FITS,
    CALIBRATION_MISSING, /* the file does not exist */
    CALIBRATION_STALE,   /* of this device, but with another driver or an earlier protocol: may be replaced */
    CALIBRATION_FOREIGN  /* any other file: it is not overwritten */
};

/* Describes the device's current state, without figures. */
void calibration_describe(const struct device *device, struct calibration *out);
void calibration_now(char date[CALIBRATION_DATE]);

/* The machine's own file for the device, in the cache folder. False, and why, if there is none. */
bool calibration_path(const struct device *device, char *path, size_t size, char *why, size_t why_size);

/* Reads the file and compares it with the device. Unless it fits or is missing, `why` says what was found.
 * `hash` is the file's SHA-256 if it fits. */
enum calibration_fit calibration_read(const char *path, const struct device *device, struct calibration *out,
                                      char hash[CALIBRATION_HASH], char *why, size_t why_size);

/* Replaces the file atomically. `named`: the user gave the path, so a symbolic link is followed; otherwise
 * the link is replaced. Returns 0 with the hash, or -1 and why. */
int calibration_write(const char *path, bool named, const struct calibration *calibration,
                      char hash[CALIBRATION_HASH], char *why, size_t why_size);

#endif
