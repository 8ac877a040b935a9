/* Where candidates run, and what that hardware can do. */
#ifndef UNSEEN_DEVICE_H
#define UNSEEN_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/problem.h"
#include "region.h"

#ifdef __cplusplus
extern "C" {
#endif

enum rate { RATE_F64, RATE_F32, RATE_TF32, RATE_F16, RATE_BF16, RATE_E4M3, RATE_COUNT };
const char *rate_name(enum rate rate);

/* Dense peak rates; 0 where unknown or where the hardware lacks the format. */
struct ceilings {
    double tflops[RATE_COUNT];
    double gbps;
};

struct device {
    enum backend backend;
    int ordinal; /* 0: visible.h */
    char name[128], driver[64];
    char uuid[48];  /* as NVML writes it, "GPU-..."; "host" */
    int capability; /* 10*major + minor; 0 for the host */
    char arch[8];   /* "90a": what candidates are compiled for */
    int processors; /* multiprocessors; host: cores */
    size_t memory_bytes, l2_bytes;
    double clock_mhz, memory_clock_mhz; /* the highest, where the system says; else 0 */
    double launch_ms;                   /* an empty call; 0 until it is known (peaks.h) */
    struct ceilings vendor, measured;   /* measured: likewise */
};

#define DEVICE_PATIENCE_S 120

enum device_status {
    DEVICE_OK,
    DEVICE_SPEC, /* malformed: the user's */
    DEVICE_NONE, /* there is no such device, or it cannot be used: the environment's */
    DEVICE_FULL  /* other programs hold all its memory now: not even a context can be made */
};

/* spec: "host", "cuda", "cuda:N"; NULL: CUDA where a GPU is present, else the host. Measures nothing.
 * But for DEVICE_OK error says what was found and what to do. */
enum device_status device_open(struct device *device, const char *spec, char *error, size_t error_size);

/* The same, and waits up to DEVICE_PATIENCE_S seconds for memory that other programs hold; `waiting` (or NULL) is told once
 * how long. An interruption, or a budget that is over, ends it. */
enum device_status device_open_patiently(struct device *device, const char *spec,
                                         void (*waiting)(double seconds), char *error, size_t error_size);

/* Vendor figures by the name that the driver reports; false when the device is not in the table. */
bool device_vendor_ceilings(const char *name, struct ceilings *out);

/* What bounds a problem: the ceiling used for scores, vendor's where known. */
double device_gbps(const struct device *device);
double device_tflops(const struct device *device, const struct problem *problem);

/* A kernel of our own that holds the GPU for about `ms`, between two events: what these show, and the clock
 * of this process until the device has drained, as the runner takes both of a candidate. Returns 0, or -1
 * where the device failed. */
int device_control_cuda(const struct device *device, double ms, double *event_ms, double *wall_ms);

/* The clock of the multiprocessor that a kernel of ours falls on, MHz, over some 50 us; 0 where the device failed. */
double device_sm_mhz_cuda(const struct device *device);

/* back-end halves */
enum device_status device_open_host(struct device *device, char *error, size_t error_size);
enum device_status device_open_cuda(struct device *device, char *error,
                                    size_t error_size); /* the chosen one */
int device_count_cuda(void);                            /* 0 without a driver or without CUDA in this build */
int device_count_apart(void); /* the same before CUDA is used here: of all, and not of the chosen one */
const char *device_trouble_cuda(void); /* why it is 0, in the runtime's words; "": it is not */

#ifdef __cplusplus
}
#endif

#endif
