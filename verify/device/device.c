#include "device.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

#include "verify/util/budget.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"
#include "cuda_visible.h"

const char *rate_name(enum rate rate)
{
    static const char *const name[] = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8"};
    return name[rate];
}

/* Dense rates in TFLOP/s (fp64, fp32, tf32, fp16, bf16, fp8) and GB/s, from the vendors' data sheets. The
 * first entry whose name occurs in the driver's device name is used. */
static const struct {
    const char *name;
    struct ceilings ceilings;
} vendor_table[] = {
    {"H200", {{67, 67, 494.7, 989.5, 989.5, 1979}, 4800}},
    {"H100 PCIe", {{51, 51, 378, 756, 756, 1513}, 2039}},
    {"H100", {{67, 67, 494.7, 989.5, 989.5, 1979}, 3350}},
    {"B200", {{0, 80, 1100, 2250, 2250, 4500}, 8000}},
    {"A100-SXM4-80GB", {{19.5, 19.5, 156, 312, 312, 0}, 2039}},
    {"RTX PRO 6000", {{0, 125, 250, 500, 500, 1000}, 1800}},
    {"L4", {{0, 30.3, 0, 121, 121, 242}, 300}},
};

bool device_vendor_ceilings(const char *name, struct ceilings *out)
{
    for (size_t i = 0; i < sizeof vendor_table / sizeof *vendor_table; i++) {
        const char *at = strstr(name, vendor_table[i].name);
        const size_t length = strlen(vendor_table[i].name);
        /* "L4" must not match "L40" */
        if (at && (at[length] == '\0' || at[length] == ' ' || at[length] == '-')) {
            *out = vendor_table[i].ceilings;
            return true;
        }
    }
    memset(out, 0, sizeof *out);
    return false;
}

double device_gbps(const struct device *device)
{
    return device->vendor.gbps > 0 ? device->vendor.gbps : device->measured.gbps;
}

/* The units whose rate bounds a problem. For a memory-bound problem, the fastest units that its arithmetic
 * admits. */
static enum rate rate_of(const struct problem *problem)
{
    static const enum rate of_peak[] = {
        [PEAK_F32] = RATE_F32, [PEAK_BF16] = RATE_BF16, [PEAK_E4M3] = RATE_E4M3};
    static const enum rate of_class[] = {[ARITHMETIC_EXACT] = RATE_F32,
                                         [ARITHMETIC_F32] = RATE_F32,
                                         [ARITHMETIC_MMA16] = RATE_BF16,
                                         [ARITHMETIC_FP8] = RATE_E4M3,
                                         [ARITHMETIC_BF16_OPERANDS] = RATE_BF16};
    return problem->peak == PEAK_MEMORY ? of_class[problem->arithmetic_class] : of_peak[problem->peak];
}

/* The host has no matrix units: products of every format run at the fp32 rate. */
double device_tflops(const struct device *device, const struct problem *problem)
{
    enum rate rate = rate_of(problem);
    if (device->backend == BACKEND_HOST)
        rate = RATE_F32;
    else if (rate == RATE_E4M3 && device->vendor.tflops[rate] == 0)
        rate = RATE_BF16; /* without fp8 units, converting fp8 exactly to 16 bits is the fastest way */
    return device->vendor.tflops[rate] > 0 ? device->vendor.tflops[rate] : device->measured.tflops[rate];
}

/* Counts in another process, since CUDA fixes the set of visible devices on first use. */
int device_count_apart(void)
{
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        const int count = device_count_cuda(), most = 255; /* largest exit status */
        _exit(count < most ? count : most);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 0;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static enum device_status open_cuda(struct device *device, long ordinal, char *error, size_t error_size)
{
    const bool is_chosen = cuda_visible_chosen() == ordinal;
    const int count = ordinal > 0 && !is_chosen ? device_count_apart() : INT_MAX;
    if (ordinal < count && !cuda_visible_choose((int)ordinal)) {
        snprintf(error, error_size, "cuda:%ld: this process uses cuda:%d already, and has one GPU", ordinal,
                 cuda_visible_chosen());
        return DEVICE_NONE;
    }
    if (count == 0 || (ordinal < count && device_count_cuda() == 0)) {
        snprintf(error, error_size,
                 "--device cuda: no usable GPU was found on this machine (%s)\n"
                 "---> run on a machine with an NVIDIA driver and a GPU, or use --device host with "
                 "a .c candidate",
                 device_trouble_cuda());
        return DEVICE_NONE;
    }
    if (ordinal >= count) {
        snprintf(error, error_size, "--device cuda:%ld: this machine has %d GPU%s\n---> use cuda:0%s",
                 ordinal, count, count == 1 ? "" : "s", count == 1 ? "" : " or another below the count");
        return DEVICE_NONE;
    }
    return device_open_cuda(device, error, error_size);
}

static bool has_gpu(void)
{
    cuda_visible_choose(0);
    return device_count_cuda() > 0;
}

enum device_status device_open(struct device *device, const char *spec, char *error, size_t error_size)
{
    memset(device, 0, sizeof *device);
    if (!spec)
        return has_gpu() ? open_cuda(device, 0, error, error_size)
                         : device_open_host(device, error, error_size);
    if (strcmp(spec, "host") == 0)
        return device_open_host(device, error, error_size);
    if (strcmp(spec, "cuda") == 0)
        return open_cuda(device, 0, error, error_size);
    if (strncmp(spec, "cuda:", 5) == 0) {
        char *end;
        const long ordinal = strtol(spec + 5, &end, 10);
        if (end != spec + 5 && *end == '\0' && ordinal >= 0 && ordinal < 1024)
            return open_cuda(device, ordinal, error, error_size);
    }
    snprintf(error, error_size,
             "--device %s: expected host, cuda or cuda:N\n---> for example "
             "--device host",
             spec);
    return DEVICE_SPEC;
}

enum device_status device_open_patiently(struct device *device, const char *spec,
                                         void (*waiting)(double seconds), char *error, size_t error_size)
{
    const struct timespec moment = {.tv_nsec = 250000000};
    const double start = clock_seconds();
    bool told = false;
    enum device_status status;
    while ((status = device_open(device, spec, error, error_size)) == DEVICE_FULL && !is_interrupted() &&
           !budget_is_over() && clock_seconds() - start < DEVICE_PATIENCE_S) {
        if (waiting && !told)
            waiting(DEVICE_PATIENCE_S);
        told = true;
        nanosleep(&moment, NULL);
    }
    return status;
}

#ifndef HAVE_CUDA
int device_count_cuda(void)
{
    return 0;
}

const char *device_trouble_cuda(void)
{
    return "this build has no CUDA";
}

enum device_status device_open_cuda(struct device *device, char *error, size_t error_size)
{
    (void)device;
    snprintf(error, error_size, "this build has no CUDA\n---> install the CUDA Toolkit and run make");
    return DEVICE_NONE;
}

int device_control_cuda(const struct device *device, double ms, double *event_ms, double *wall_ms)
{
    (void)device, (void)ms, (void)event_ms, (void)wall_ms;
    return -1;
}

double device_sm_mhz_cuda(const struct device *device)
{
    (void)device;
    return 0;
}
#endif
