/* The host as a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

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

/* The maximum clock; without a cpufreq driver, the current clock. */
static double read_clock(void)
{
    char line[256];
    double khz = 0, mhz = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "re");
    if (file) {
        const bool found = fscanf(file, "%lf", &khz) == 1;
        fclose(file);
        if (found)
            return khz / 1e3;
    }
    file = fopen("/proc/cpuinfo", "re");
    while (file && mhz <= 0 && fgets(line, sizeof line, file))
        if (strncmp(line, "cpu MHz", 7) == 0 && strchr(line, ':'))
            mhz = strtod(strchr(line, ':') + 1, NULL);
    if (file)
        fclose(file);
    return mhz;
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
    device->clock_mhz = read_clock();
    return DEVICE_OK;
}
