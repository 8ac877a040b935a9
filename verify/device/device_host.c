/* The host as a device: how fast its memory copies and its cores multiply. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "verify/system/clock.h"
#include "device.h"
#include "processors.h"

static void read_name(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "host CPU");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(name, size, "%.100s", strchr(line, ':') + 2);
            break;
        }
    if (file)
        fclose(file);
}

/* Best of a few copies by all cores, counting bytes read and written. */
static double measure_copy(int cores)
{
    const size_t bytes = (size_t)64 << 20, part = (size_t)1 << 20;
    char *from = malloc(bytes), *to = malloc(bytes);
    double best = 0;
    if (!from || !to) {
        free(from);
        free(to);
        return 0;
    }
    memset(from, 1, bytes);
    memset(to, 2, bytes);
    for (int round = 0; round < 6; round++) {
        const double start = clock_seconds();
#pragma omp parallel for num_threads(cores) schedule(static)
        for (size_t i = 0; i < bytes; i += part)
            memcpy(to + i, from + i, part);
        const double rate = 2 * (double)bytes / (clock_seconds() - start) / 1e9;
        best = rate > best ? rate : best;
    }
    free(from);
    free(to);
    return best;
}

enum { CHAINS = 256 };

/* Independent fused multiply-adds, enough of them to hide their latency. Returns a value that depends
 * on all, so that none is optimized away. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static float
multiply_add(int64_t rounds, float factor)
{
    float chain[CHAINS], total = 0;
    for (int i = 0; i < CHAINS; i++)
        chain[i] = (float)i;
    for (int64_t r = 0; r < rounds; r++)
#pragma omp simd
        for (int i = 0; i < CHAINS; i++)
            chain[i] = chain[i] * factor + 0.5f;
    for (int i = 0; i < CHAINS; i++)
        total += chain[i];
    return total;
}

static double measure_fma(int cores)
{
    const int64_t rounds = 200000;
    volatile float sink = 0;
    double best = 0;
    for (int round = 0; round < 3; round++) {
        const double start = clock_seconds();
        float total = 0;
#pragma omp parallel num_threads(cores) reduction(+ : total)
        total += multiply_add(rounds, 0.999f);
        sink = sink + total;
        const double rate = 2.0 * CHAINS * (double)rounds * cores / (clock_seconds() - start) / 1e12;
        best = rate > best ? rate : best;
    }
    return best;
}

enum device_status device_open_host(struct device *device, char *error, size_t error_size)
{
    struct utsname system;
    (void)error;
    (void)error_size;
    device->backend = BACKEND_HOST;
    strcpy(device->uuid, "host");
    device->processors = processors_available();
    read_name(device->name, sizeof device->name);
    snprintf(device->driver, sizeof device->driver, "%.60s", uname(&system) == 0 ? system.release : "");
    device->memory_bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    device->launch_ms = 1e-4; /* a call through a function pointer and two clock readings */
    device->measured.gbps = measure_copy(device->processors);
    device->measured.tflops[RATE_F32] = measure_fma(device->processors);
    return DEVICE_OK;
}
