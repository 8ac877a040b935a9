/* Records the kernels that a candidate launches, and the library that launched each (--forbid). CUPTI calls
 * back when the driver is asked to launch, and the call stack shows the caller. Kernel names alone do not
 * identify the caller: cuBLAS launches kernels that are built from CUTLASS.
 *
 * CUPTI is loaded on demand, and the parts of its interface used here are declared here, so neither its
 * headers nor the library is required. CUPTI, "Callback API": https://docs.nvidia.com/cupti/main/main.html */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "runner_internal.h"

enum { DRIVER_API = 1, MOST_IDS = 2000, FRAMES = 48, KERNELS = 256, NAME = 160, OBJECT = 200 };

struct api_call {
    int site; /* 0: at entry of the call */
    const char *function;
    const void *parameters;
    void *result;
    const char *symbol; /* the kernel's symbol, if the call is a launch */
};
typedef void (*callback)(void *data, int domain, uint32_t id, const void *call);

static struct {
    bool wanted, open;
    pthread_mutex_t lock;
    atomic_bool listening;
    int count, told;
    struct {
        uint64_t key;
        char name[NAME], object[OBJECT];
    } kernel[KERNELS];
} launches = {.lock = PTHREAD_MUTEX_INITIALIZER};

void launches_want(void)
{
    launches.wanted = true;
}

static uint64_t key_of(const char *name)
{
    uint64_t key = 14695981039346656037u; /* FNV-1a */
    for (; *name; name++)
        key = (key ^ (unsigned char)*name) * 1099511628211u;
    return key;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Is the object between the launching code and the device, or part of this runner? */
static bool is_between(const char *path)
{
    static const char *const names[] = {"libcupti",         "libcuda.", "libcudart", "libnvidia-",
                                        "libunseen-runner", "libc.so",  "libgcc_s",  "ld-linux"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(name, names[i]))
            return true;
    return *name == '\0'; /* the program itself */
}

/* The innermost other object on the stack; "": none. */
static const char *asker(void)
{
    void *frame[FRAMES];
    const int frames = backtrace(frame, FRAMES);
    for (int i = 1; i < frames; i++) {
        Dl_info about;
        struct link_map *map = NULL;
        if (dladdr1(frame[i], &about, (void **)&map, RTLD_DL_LINKMAP) && map && !is_between(map->l_name))
            return map->l_name;
    }
    return "";
}

/* Called on the launching thread. */
static void on_call(void *data, int domain, uint32_t id, const void *what)
{
    const struct api_call *call = what;
    (void)data, (void)domain, (void)id;
    if (call->site != 0 || !atomic_load(&launches.listening))
        return;
    const char *name = call->symbol && *call->symbol ? call->symbol : call->function;
    const uint64_t key = key_of(name);
    pthread_mutex_lock(&launches.lock);
    bool known = launches.count == KERNELS;
    for (int i = 0; i < launches.count && !known; i++)
        known = launches.kernel[i].key == key;
    if (!known) {
        launches.kernel[launches.count].key = key;
        snprintf(launches.kernel[launches.count].name, NAME, "%s", name);
        snprintf(launches.kernel[launches.count++].object, OBJECT, "%s", asker());
    }
    pthread_mutex_unlock(&launches.lock);
}

static void *find_library(void)
{
    static const char *const names[] = {
        "libcupti.so.13",
        "libcupti.so.12",
        "libcupti.so",
        "/usr/local/cuda/lib64/libcupti.so",
        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
    };
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static bool is_launch(const char *function)
{
    return (begins(function, "cuLaunch") && !begins(function, "cuLaunchHostFunc")) ||
           begins(function, "cuGraphAddKernelNode") || begins(function, "cuGraphAddNode") ||
           begins(function, "cuGraphKernelNodeSetParams") ||
           begins(function, "cuGraphExecKernelNodeSetParams");
}

void launches_begin(char *why)
{
    void *library, *subscriber, *first[1];
    int (*subscribe)(void **, callback, void *), (*enable)(uint32_t, void *, int, uint32_t),
        (*name_of)(int, uint32_t, const char **);
    if (!launches.wanted || launches.open)
        return;
    backtrace(first, 1); /* loads the code it needs in advance */
    library = find_library();
    if (!library) {
        snprintf(why, CHANNEL_TEXT, "no libcupti.so");
        return;
    }
    /* ISO C has no cast from an object to a function pointer; POSIX guarantees equal representations. */
    *(void **)&subscribe = dlsym(library, "cuptiSubscribe");
    *(void **)&enable = dlsym(library, "cuptiEnableCallback");
    *(void **)&name_of = dlsym(library, "cuptiGetCallbackName");
    const int result = subscribe && enable && name_of ? subscribe(&subscriber, on_call, NULL) : -1;
    if (result != 0) {
        snprintf(why, CHANNEL_TEXT, "libcupti.so refuses: CUptiResult %d", result);
        return;
    }
    for (uint32_t id = 1; id < MOST_IDS; id++) {
        const char *function = NULL;
        if (name_of(DRIVER_API, id, &function) == 0 && function && is_launch(function))
            enable(1, subscriber, DRIVER_API, id);
    }
    launches.open = true;
}

void launches_listen(bool on)
{
    if (launches.open)
        atomic_store(&launches.listening, on);
}

void launches_tell(char *text)
{
    size_t used = 0;
    pthread_mutex_lock(&launches.lock);
    for (; launches.told < launches.count; launches.told++) {
        const char *name = launches.kernel[launches.told].name,
                   *object = launches.kernel[launches.told].object;
        if (used + strlen(name) + strlen(object) + 3 > CHANNEL_TEXT)
            break;
        used += (size_t)snprintf(text + used, CHANNEL_TEXT - used, "%s\t%s\n", name, object);
    }
    pthread_mutex_unlock(&launches.lock);
}
