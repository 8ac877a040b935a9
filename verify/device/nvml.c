/* NVML, loaded at run time like the driver: libnvidia-ml.so.1 comes with the driver, but not on every
 * machine. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "other_processes.h"
#include "gpu_clocks.h"

/* Types and values from NVML's documentation: nvmlReturn_t, nvmlDevice_t, nvmlUtilization_t, and two layouts
 * of nvmlProcessInfo_t. Functions _v2 and _v3 use the longer one. */
enum { SUCCESS = 0, SETTLE_MS = 1300 };
typedef void *handle;

struct utilization {
    unsigned gpu, memory;
};

struct process_short {
    unsigned pid;
    unsigned long long memory;
};

struct process_long {
    unsigned pid;
    unsigned long long memory;
    unsigned instance, compute_instance;
};

static struct {
    int (*init)(void);
    int (*device)(const char *uuid, handle *device);
    int (*processes)(handle device, unsigned *count, void *info);
    int (*utilization)(handle device, struct utilization *utilization);
    int (*reasons)(handle device, unsigned long long *reasons); /* NULL: this driver lacks it */
    size_t process_bytes;
} library;
static bool usable;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ISO C has no cast from an object to a function pointer; POSIX guarantees equal representations. */
static bool find(void *opened, const char *name, void *function)
{
    void *const found = dlsym(opened, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void resolve(void)
{
    void *opened = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!opened)
        return;
    library.process_bytes = sizeof(struct process_long);
    if (!find(opened, "nvmlDeviceGetComputeRunningProcesses_v3", &library.processes) &&
        !find(opened, "nvmlDeviceGetComputeRunningProcesses_v2", &library.processes)) {
        library.process_bytes = sizeof(struct process_short);
        if (!find(opened, "nvmlDeviceGetComputeRunningProcesses", &library.processes))
            return;
    }
    if (!find(opened, "nvmlDeviceGetCurrentClocksEventReasons", &library.reasons))
        find(opened, "nvmlDeviceGetCurrentClocksThrottleReasons",
             &library.reasons); /* its name before driver 535 */
    usable = find(opened, "nvmlInit_v2", &library.init) &&
             find(opened, "nvmlDeviceGetHandleByUUID", &library.device) &&
             find(opened, "nvmlDeviceGetUtilizationRates", &library.utilization) && library.init() == SUCCESS;
}

static bool find_device(const char *uuid, handle *device)
{
    pthread_once(&once, resolve);
    return usable && library.device(uuid, device) == SUCCESS;
}

static int list_processes(const char *uuid, int *pid, int most)
{
    handle device;
    unsigned count = (unsigned)most;
    char *info = find_device(uuid, &device) ? calloc((size_t)most, library.process_bytes) : NULL;
    if (!info)
        return -1;
    const int status = library.processes(device, &count, info);
    /* the pid is the first field in both layouts */
    for (unsigned i = 0; status == SUCCESS && i < count; i++) {
        unsigned number;
        memcpy(&number, info + i * library.process_bytes, sizeof number);
        pid[i] = (int)number;
    }
    free(info);
    return status == SUCCESS ? (int)count : -1;
}

static int ask_utilization(const char *uuid)
{
    handle device;
    struct utilization percent;
    return find_device(uuid, &device) && library.utilization(device, &percent) == SUCCESS ? (int)percent.gpu
                                                                                          : -1;
}

/* Bits of nvmlClocksEventReasons from NVML's documentation. Idling, settings and other GPUs do not count as
 * throttling. */
unsigned nvml_held(const char *uuid)
{
    static const struct {
        unsigned long long bit;
        unsigned held;
    } reason[] = {{0x4, GPU_CLOCKS_POWER},
                  {0x80, GPU_CLOCKS_POWER},
                  {0x20, GPU_CLOCKS_HEAT},
                  {0x40, GPU_CLOCKS_HEAT},
                  {0x8, GPU_CLOCKS_HARDWARE}};
    handle device;
    unsigned long long bits = 0;
    unsigned held = 0;
    if (!find_device(uuid, &device) || !library.reasons || library.reasons(device, &bits) != SUCCESS)
        return 0;
    for (size_t i = 0; i < sizeof reason / sizeof *reason; i++)
        held |= bits & reason[i].bit ? reason[i].held : 0;
    return held;
}

const struct nvml nvml_library = {list_processes, ask_utilization, SETTLE_MS};
