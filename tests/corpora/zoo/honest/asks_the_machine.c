// zoo: honest
// problem: softmax
// does: reads caches and cores from the system to choose its tiles, in a constructor
// expect: general
// timing: yes

#include "../softmax.h"
#include <stdio.h>
#include <unistd.h>

static int64_t tile = 1;

__attribute__((constructor)) static void ask(void)
{
    FILE *file = fopen("/sys/devices/system/cpu/online", "r");
    char words[64] = "";
    if (file && fgets(words, sizeof words, file))
        tile = 1 + words[0] % 7;
    if (file)
        fclose(file);
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1 && __builtin_cpu_supports("avx2"))
        tile *= 2;
    if ((file = fopen("/proc/cpuinfo", "r")))
        fclose(file);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    for (int64_t r = 0; r < rows; r += tile)
        honest(x + r * cols, y + r * cols, rows - r < tile ? rows - r : tile, cols, stream);
    return 0;
}
