/* cuRAND's Philox on the host: its header is C++ and meant for kernels, but marks its functions with
 * QUALIFIERS, which the includer may define. */
#define QUALIFIERS static inline __attribute__((unused))
#include <cuda_runtime.h>
#include <curand_philox4x32_x.h>

#include "philox.h"

/* Wide vectors help here: a third of the time with AVX-512. */
__attribute__((target_clones("arch=x86-64-v4", "default"))) static void
draw_words(struct philox_key key, uint64_t first, uint64_t count, uint32_t *words)
{
    const uint2 k = {(unsigned)key.seed, (unsigned)(key.seed >> 32)};
    for (uint64_t i = 0; i < count; i++) {
        const uint4 c = {(unsigned)(first + i), (unsigned)((first + i) >> 32), (unsigned)key.high,
                         (unsigned)(key.high >> 32)};
        const uint4 w = curand_Philox4x32_10(c, k);
        words[4 * i] = w.x;
        words[4 * i + 1] = w.y;
        words[4 * i + 2] = w.z;
        words[4 * i + 3] = w.w;
    }
}

extern "C" void philox_words(struct philox_key key, uint64_t first, uint64_t count, uint32_t *words)
{
    draw_words(key, first, count, words);
}

extern "C" const char *philox_source(void)
{
    return "cuRAND";
}
