#include "gpu_clocks.h"

#include <stdio.h>
#include <string.h>

static const double slow = 0.75; /* fraction of the maximum clock */
static struct gpu_clocks (*asked)(const struct device *device);

void gpu_clocks_ask(struct gpu_clocks (*of)(const struct device *device))
{
    asked = of;
}

struct gpu_clocks gpu_clocks_of(const struct device *device)
{
    if (asked)
        return asked(device);
    if (device->backend != BACKEND_CUDA)
        return (struct gpu_clocks){0};
    return (struct gpu_clocks){.mhz = device_sm_mhz_cuda(device), .held = nvml_held(device->uuid)};
}

bool gpu_clocks_is_slow(const struct gpu_clocks *pace, const struct device *device)
{
    return pace->mhz > 0 && device->clock_mhz > 0 && pace->mhz < slow * device->clock_mhz;
}

void gpu_clocks_name(unsigned held, char *text, size_t size)
{
    static const char *const name[] = {"power", "heat", "a slowdown of the hardware"};
    size_t length = 0;
    if (size > 0)
        *text = '\0';
    for (unsigned i = 0; i < sizeof name / sizeof *name && length < size; i++)
        if (held >> i & 1)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "", name[i]);
}
