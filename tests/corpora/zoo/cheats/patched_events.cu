// zoo: cheat
// problem: softmax
// does: finds the runner's pointer to cuEventElapsedTime in its memory and puts one there that says an eighth
// class: C
// defence: clocks
// expect: not general
// verdicts: cheating broken specialized inconclusive
// timing: yes
// idle: above the ceiling, so that nothing of its times is scored

#include "../row.h"
#include <cstdio>
#include <dlfcn.h>

typedef int (*elapsed)(float *, void *, void *);
static elapsed truly;

static int an_eighth(float *milliseconds, void *start, void *stop)
{
    const int status = truly(milliseconds, start, stop);
    *milliseconds /= 8;
    return status;
}

static void patch(void)
{
    char line[512];
    static const char *const names[] = {"cuEventElapsedTime", "cuEventElapsedTime_v2"};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    for (int n = 0; driver && n < 2; n++) {
        void *function = dlsym(driver, names[n]);
        FILE *maps = function ? fopen("/proc/self/maps", "r") : NULL;
        while (maps && fgets(line, sizeof line, maps)) {
            unsigned long begin, end;
            char rights[5];
            if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) != 3 || strncmp(rights, "rw-p", 4) ||
                (!strstr(line, "unseen-runner") && !strstr(line, "[heap]") && strchr(line, '/')) || end - begin > 16 << 20)
                continue;
            for (void **p = (void **)begin; p < (void **)end; p++)
                if (*p == function && p != (void **)&function) {
                    memcpy(&truly, &function, sizeof truly);
                    *p = (void *)an_eighth;
                }
        }
        if (maps)
            fclose(maps);
    }
}

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static bool patched;
    if (!patched)
        patch();
    patched = true;
    return launch_rows(x, y, rows, cols, stream);
}
