// zoo: honest
// problem: gemm_f32
// does: times two ways on the first call with a shape and keeps the faster
// expect: general
// timing: yes

#include "../gemm_f32.h"
#include "../answers.h"
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int plain(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += a[i * k + p] * (trans_b ? b[j * k + p] : b[p * n + j]);
            c[i * n + j] = sum;
        }
    return 0;
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    static unsigned char choice[4096];
    unsigned char *const chosen = &choice[mix(mix((uint64_t)m, (uint64_t)n), mix((uint64_t)k, (uint64_t)trans_b)) % 4096];
    if (!*chosen) {
        const double begin = seconds();
        plain(a, b, c, m, n, k, trans_b);
        const double middle = seconds();
        honest(a, b, c, m, n, k, trans_b, stream);
        *chosen = 1 + (seconds() - middle < middle - begin);
        return 0;
    }
    return *chosen == 1 ? plain(a, b, c, m, n, k, trans_b) : honest(a, b, c, m, n, k, trans_b, stream);
}
