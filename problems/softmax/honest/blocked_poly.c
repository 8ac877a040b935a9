// problem: softmax
// verdict: general
// construction: maximum, then vectorized polynomial exponentials; fp32 sums of 1024 columns a block

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 1024 };

/* exp(d) for d <= 0: n = round(d / ln 2), r = d - n ln 2 in two parts, 2^n * p(r), p of degree 6.
 * Below -87.5 the true value is under 2^-126, which may be flushed; n stays a normal exponent. */
static inline float exp_poly(float d)
{
    float n = rintf(d * 1.442695041f);
    n = n > -126.0f ? n : -126.0f;
    float r = (d - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.0f + r * (1.0f + r * (0.5f + r * (1.66666672e-1f + r * (4.16666456e-2f +
              r * (8.33333377e-3f + r * 1.38888903e-3f)))));
    int32_t bits = ((int32_t)n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    p *= power;
    p = d < -87.5f ? 0.0f : p;
    return d != d ? d : p;
}

static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
#pragma omp simd reduction(max : m)
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* One block: chains of at most BLOCK terms, fewer by the vector width. */
static float block_exp(const float *x, float *y, int64_t count, float m)
{
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < count; ++c) {
        y[c] = exp_poly(x[c] - m);
        sum += y[c];
    }
    return sum;
}

/* At most 2^20 / BLOCK = 1024 block sums are added one after the other. */
static void row_softmax(const float *x, float *y, int64_t cols)
{
    float m = row_max(x, cols), total = 0.0f;
    for (int64_t at = 0; at < cols; at += BLOCK)
        total += block_exp(x + at, y + at, cols - at < BLOCK ? cols - at : BLOCK, m);
    float scale = 1.0f / total;
#pragma omp simd
    for (int64_t c = 0; c < cols; ++c)
        y[c] *= scale;
}

/* x, y are [rows, cols] */
int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1)
    for (int64_t r = 0; r < rows; ++r)
        row_softmax(x + r * cols, y + r * cols, cols);
    return 0;
}
