// problem: conv2d_f32
// verdict: general
// construction: Winograd's F(2x2, 3x3) where a window is 3 x 3, dense and moves by 1; direct elsewhere

#include "../../candidate.h"
#include <stdlib.h>

/* x is [n, c, h, w], weight is [o, c / groups, kh, kw], y is [n, o, oh, ow] */
struct conv {
    const float *x, *weight, *bias;
    float *y;
    int64_t n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups, oh, ow;
};

static float pixel(const struct conv *q, int64_t image, int64_t channel, int64_t i, int64_t j)
{
    if (i < 0 || i >= q->h || j < 0 || j >= q->w)
        return 0;
    return q->x[((image * q->c + channel) * q->h + i) * q->w + j];
}

/* out = G g G', G = (1 0 0), (1 1 1)/2, (1 -1 1)/2, (0 0 1) */
static void transform_weights(const float *g, float out[16])
{
    float half[4][3];
    for (int v = 0; v < 3; v++) {
        half[0][v] = g[v];
        half[1][v] = (g[v] + g[3 + v] + g[6 + v]) * 0.5f;
        half[2][v] = (g[v] - g[3 + v] + g[6 + v]) * 0.5f;
        half[3][v] = g[6 + v];
    }
    for (int u = 0; u < 4; u++) {
        out[4 * u] = half[u][0];
        out[4 * u + 1] = (half[u][0] + half[u][1] + half[u][2]) * 0.5f;
        out[4 * u + 2] = (half[u][0] - half[u][1] + half[u][2]) * 0.5f;
        out[4 * u + 3] = half[u][2];
    }
}

/* The 4 x 4 inputs from (i, j) on, d: B' d B, B' = (1 0 -1 0), (0 1 1 0), (0 -1 1 0), (0 1 0 -1) */
static void transform_inputs(const struct conv *q, int64_t image, int64_t channel, int64_t i, int64_t j, float out[16])
{
    float half[4][4];
    for (int v = 0; v < 4; v++) {
        const float d0 = pixel(q, image, channel, i, j + v), d1 = pixel(q, image, channel, i + 1, j + v);
        const float d2 = pixel(q, image, channel, i + 2, j + v), d3 = pixel(q, image, channel, i + 3, j + v);
        half[0][v] = d0 - d2;
        half[1][v] = d1 + d2;
        half[2][v] = d2 - d1;
        half[3][v] = d1 - d3;
    }
    for (int u = 0; u < 4; u++) {
        out[4 * u] = half[u][0] - half[u][2];
        out[4 * u + 1] = half[u][1] + half[u][2];
        out[4 * u + 2] = half[u][2] - half[u][1];
        out[4 * u + 3] = half[u][1] - half[u][3];
    }
}

/* Four outputs of filter f from the 16 sums: A' m A, A' = (1 1 1 0), (0 1 -1 -1); those past the edge are not stored. */
static void store_tile(const struct conv *q, int64_t image, int64_t f, int64_t i, int64_t j, const float *m)
{
    for (int u = 0; u < 2 && i + u < q->oh; u++) {
        float row[4];
        for (int v = 0; v < 4; v++)
            row[v] = u ? m[4 + v] - m[8 + v] - m[12 + v] : m[v] + m[4 + v] + m[8 + v];
        float *y = q->y + ((image * q->o + f) * q->oh + i + u) * q->ow + j;
        y[0] = row[0] + row[1] + row[2] + q->bias[f];
        if (j + 1 < q->ow)
            y[1] = row[1] - row[2] - row[3] + q->bias[f];
    }
}

/* Weights of all filters, transformed once: [o][channels][16]. */
static int winograd(const struct conv *q)
{
    const int64_t channels = q->c / q->groups, filters = q->o / q->groups;
    const int64_t down = (q->oh + 1) / 2, across = (q->ow + 1) / 2;
    float *weights = malloc((size_t)(q->o * channels) * 16 * sizeof *weights);
    int failed = !weights;

    if (!weights)
        return 1;
    for (int64_t i = 0; i < q->o * channels; i++)
        transform_weights(q->weight + i * 9, weights + i * 16);
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t task = 0; task < q->n * q->groups * down; task++) {
        const int64_t i = task % down * 2, group = task / down % q->groups, image = task / down / q->groups;
        float *inputs = malloc((size_t)channels * 16 * sizeof *inputs);
        failed |= !inputs;
        for (int64_t j = 0; inputs && j < across * 2; j += 2) {
            for (int64_t ch = 0; ch < channels; ch++)
                transform_inputs(q, image, group * channels + ch, i - q->pad_h, j - q->pad_w, inputs + ch * 16);
            for (int64_t f = group * filters; f < (group + 1) * filters; f++) {
                float sum[16] = {0};
                for (int64_t ch = 0; ch < channels; ch++)
                    for (int e = 0; e < 16; e++)
                        sum[e] += weights[(f * channels + ch) * 16 + e] * inputs[ch * 16 + e];
                store_tile(q, image, f, i, j, sum);
            }
        }
        free(inputs);
    }
    free(weights);
    return failed;
}

static int direct(const struct conv *q)
{
    const int64_t channels = q->c / q->groups, filters = q->o / q->groups;
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < q->n * q->o * q->oh * q->ow; at++) {
        const int64_t j = at % q->ow, i = at / q->ow % q->oh, f = at / q->ow / q->oh % q->o;
        const int64_t image = at / q->ow / q->oh / q->o;
        const float *weight = q->weight + f * channels * q->kh * q->kw;
        float sum = q->bias[f];
        for (int64_t ch = 0; ch < channels; ch++)
            for (int64_t u = 0; u < q->kh; u++)
                for (int64_t v = 0; v < q->kw; v++)
                    sum += *weight++ * pixel(q, image, f / filters * channels + ch,
                                             i * q->stride_h - q->pad_h + u * q->dil_h,
                                             j * q->stride_w - q->pad_w + v * q->dil_w);
        q->y[at] = sum;
    }
    return 0;
}

int conv2d_f32(const float *x, const float *weight, const float *bias, float *y, int64_t n, int64_t c, int64_t h,
               int64_t w, int64_t o, int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w, int64_t pad_h,
               int64_t pad_w, int64_t dil_h, int64_t dil_w, int64_t groups, void *stream)
{
    const struct conv q = {x, weight, bias, y, n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w,
                           groups, (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1,
                           (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1};
    (void)stream;
    if (kh == 3 && kw == 3 && stride_h == 1 && stride_w == 1 && dil_h == 1 && dil_w == 1)
        return winograd(&q);
    return direct(&q);
}
