// zoo: honest
// problem: gemm_f32
// does: takes its memory from a pool of its own, mapped once and given back in part
// expect: general
// timing: yes

#define _GNU_SOURCE
#include "../gemm_f32.h"
#include <sys/mman.h>

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    static char *pool;
    const size_t size = (size_t)256 << 20, bytes = (size_t)(m * n) * sizeof *c;
    if (!pool) {
        pool = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (pool == MAP_FAILED)
            pool = NULL;
    }
    if (!pool || bytes > size)
        return 1;
    const int status = honest(a, b, (float *)pool, m, n, k, trans_b, stream);
    memcpy(c, pool, bytes);
    madvise(pool, size, MADV_DONTNEED);
    return status;
}
