// problem: conv2d_bf16
// verdict: general
// construction: windows of 64 places unrolled into a matrix [k, 64], then a product with four chains of terms

#include "../../candidate.h"
#include <stdlib.h>
#include <string.h>

enum { PLACES = 64, CHAINS = 4 };

struct conv {
    const bf16 *x, *weight;
    const float *bias;
    bf16 *y;
    int64_t n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups, oh, ow;
};

/* columns[k][p] = what place first + p of the images sees at tap k of its window, 0 beyond the image's edge */
static void unroll(const struct conv *q, int64_t group, int64_t first, int64_t count, float *columns)
{
    const int64_t channels = q->c / q->groups;
    int64_t k = 0;
    memset(columns, 0, (size_t)(channels * q->kh * q->kw * PLACES) * sizeof *columns);
    for (int64_t ch = 0; ch < channels; ch++)
        for (int64_t u = 0; u < q->kh; u++)
            for (int64_t v = 0; v < q->kw; v++, k++)
                for (int64_t p = 0; p < count; p++) {
                    const int64_t at = first + p, image = at / (q->oh * q->ow);
                    const int64_t i = at / q->ow % q->oh * q->stride_h - q->pad_h + u * q->dil_h;
                    const int64_t j = at % q->ow * q->stride_w - q->pad_w + v * q->dil_w;
                    if (i >= 0 && i < q->h && j >= 0 && j < q->w)
                        columns[k * PLACES + p] =
                            bf16_to_float(q->x[((image * q->c + group * channels + ch) * q->h + i) * q->w + j]);
                }
}

static void multiply(const struct conv *q, int64_t f, int64_t first, int64_t count, const float *columns)
{
    const int64_t depth = q->c / q->groups * q->kh * q->kw, area = q->oh * q->ow;
    const bf16 *weight = q->weight + f * depth;
    float sum[CHAINS][PLACES] = {{0}};
    for (int64_t k = 0; k < depth; k++)
        for (int p = 0; p < PLACES; p++)
            sum[k % CHAINS][p] += bf16_to_float(weight[k]) * columns[k * PLACES + p];
    for (int64_t p = 0; p < count; p++) {
        const int64_t at = first + p;
        q->y[(at / area * q->o + f) * area + at % area] =
            float_to_bf16(((sum[0][p] + sum[1][p]) + (sum[2][p] + sum[3][p])) + q->bias[f]);
    }
}

int conv2d_bf16(const bf16 *x, const bf16 *weight, const float *bias, bf16 *y, int64_t n, int64_t c, int64_t h,
               int64_t w, int64_t o, int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w, int64_t pad_h,
               int64_t pad_w, int64_t dil_h, int64_t dil_w, int64_t groups, void *stream)
{
    const struct conv q = {x, weight, bias, y, n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w,
                           groups, (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1,
                           (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1};
    const int64_t places = n * q.oh * q.ow, filters = o / groups, blocks = (places + PLACES - 1) / PLACES;
    int failed = 0;

    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t task = 0; task < groups * blocks; task++) {
        const int64_t group = task / blocks, first = task % blocks * PLACES;
        const int64_t count = places - first < PLACES ? places - first : PLACES;
        float *columns = malloc((size_t)(c / groups * kh * kw * PLACES) * sizeof *columns);
        failed |= !columns;
        if (columns)
            unroll(&q, group, first, count, columns);
        for (int64_t f = group * filters; columns && f < (group + 1) * filters; f++)
            multiply(&q, f, first, count, columns);
        free(columns);
    }
    return failed;
}
