/* Devices that run candidates, and their ceilings. */
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

/* Dense peak rates; 0 if unknown or if the hardware lacks the format. */
struct ceilings {
    double tflops[RATE_COUNT];
    double gbps;
};

struct device {
    enum backend backend;
    int ordinal; /* always 0 (cuda_visible.h) */
    char name[128], driver[64];
    char uuid[48];  /* as NVML writes it, "GPU-..."; "host" for the host */
    int capability; /* 10*major + minor; 0 for the host */
    char arch[8];   /* architecture for which candidates are compiled: "90a" */
    int processors; /* multiprocessors; host: cores */
    size_t memory_bytes, l2_bytes;
    double clock_mhz, memory_clock_mhz; /* maximum clocks, if the system reports them; else 0 */
    double launch_ms;                   /* time of an empty call; 0 until known (peaks.h) */
    struct ceilings vendor, measured;   /* measured: 0 until known (peaks.h) */
};

#define DEVICE_PATIENCE_S 120

enum device_status {
    DEVICE_OK,
    DEVICE_SPEC, /* malformed specification: bad input */
    DEVICE_NONE, /* no such device, or it cannot be used: environment error */
    DEVICE_FULL  /* other programs use all of its memory: not even a context can be created */
};

/* spec: "host", "cuda", "cuda:N"; NULL: CUDA if a GPU is present, else the host. Measures nothing. Unless the
 * result is DEVICE_OK, error says what was found and what to do. */
enum device_status device_open(struct device *device, const char *spec, char *error, size_t error_size);

/* Like device_open, but waits up to DEVICE_PATIENCE_S seconds for memory that other programs hold. Calls
 * `waiting` (or NULL) once with the duration. Ends early on an interrupt, or when the budget runs out. */
enum device_status device_open_patiently(struct device *device, const char *spec,
                                         void (*waiting)(double seconds), char *error, size_t error_size);

/* Vendor figures by the driver's device name; false if the device is not in the table. */
bool device_vendor_ceilings(const char *name, struct ceilings *out);

/* The ceiling that bounds a problem, used for scores: the vendor's if known. */
double device_gbps(const struct device *device);
double device_tflops(const struct device *device, const struct problem *problem);

/* Runs our own kernel that occupies the GPU for about `ms` between two events. Returns the events' time, and
 * this process's clock until the device is idle, as the runner measures a candidate. Returns 0, or -1 if the
 * device failed. */
int device_control_cuda(const struct device *device, double ms, double *event_ms, double *wall_ms);

/* The clock of one multiprocessor in MHz, averaged over about 50 us; 0 if the device failed. */
double device_sm_mhz_cuda(const struct device *device);

/* backends */
enum device_status device_open_host(struct device *device, char *error, size_t error_size);
enum device_status device_open_cuda(struct device *device, char *error,
                                    size_t error_size); /* opens the chosen device */
int device_count_cuda(void);                            /* 0 without a driver or in a build without CUDA */
int device_count_apart(void); /* counts all devices in a child process, before this process uses CUDA */
const char *device_trouble_cuda(void); /* why the count is 0, as the runtime reports it; "" if it is not */

#ifdef __cplusplus
}
#endif

#endif
