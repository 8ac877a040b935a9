/* Convolutions row by row of outputs, for candidates that differ from an honest one in a step. Before the include: nothing for
 * conv2d_f32, or BF16. */
#include <stdlib.h>

#include "../../../problems/candidate.h"

#ifdef BF16
typedef bf16 value;
#define LOAD(x) bf16_to_float(x)
#define STORE(x) float_to_bf16(x)
#else
typedef float value;
#define LOAD(x) (x)
#define STORE(x) (x)
#endif

struct conv {
    const value *x, *weight;
    const float *bias;
    value *y;
    int64_t n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups;
    int64_t oh, ow;
    int64_t row_shift; /* columns that a filter's row is shifted by, from one to the next: 0 */
    int64_t (*channel)(const struct conv *v, int64_t f, int64_t ch); /* in x, for filter f's channel ch */
    int64_t (*filter)(const struct conv *v, int64_t f, int64_t ch,
                      int64_t at); /* in weight, for its tap `at` */
};

static inline int64_t conv_channel(const struct conv *v, int64_t f, int64_t ch)
{
    return f / (v->o / v->groups) * (v->c / v->groups) + ch;
}

static inline int64_t conv_filter(const struct conv *v, int64_t f, int64_t ch, int64_t at)
{
    return (f * (v->c / v->groups) + ch) * v->kh * v->kw + at;
}

/* sum[j] of row i of an image's outputs of filter f. */
static inline void conv_row(const struct conv *v, int64_t image, int64_t f, int64_t i, float *sum)
{
    for (int64_t j = 0; j < v->ow; j++)
        sum[j] = 0;
    for (int64_t ch = 0; ch < v->c / v->groups; ch++)
        for (int64_t at = 0; at < v->kh * v->kw; at++) {
            const int64_t u = at / v->kw, row = i * v->stride_h - v->pad_h + u * v->dil_h;
            const value *in = v->x + ((image * v->c + v->channel(v, f, ch)) * v->h + row) * v->w;
            const float tap = LOAD(v->weight[v->filter(v, f, ch, at)]);
            int64_t column = at % v->kw * v->dil_w - v->pad_w + u * v->row_shift;
            if (row < 0 || row >= v->h)
                continue;
            for (int64_t j = 0; j < v->ow; j++, column += v->stride_w)
                if (column >= 0 && column < v->w)
                    sum[j] += LOAD(in[column]) * tap;
        }
}

/* Rows of outputs of all filters of images below `images`. */
static inline int conv_images(const struct conv *v, int64_t images,
                              void (*row)(const struct conv *v, int64_t image, int64_t f, int64_t i,
                                          float *sum))
{
    int failed = 0;
#pragma omp parallel reduction(| : failed)
    {
        float *sum = malloc((size_t)v->ow * sizeof *sum);
        failed |= !sum;
#pragma omp for schedule(dynamic)
        for (int64_t task = 0; task < images * v->o * v->oh; task++) {
            if (!sum)
                continue;
            row(v, task / v->oh / v->o, task / v->oh % v->o, task % v->oh, sum);
            for (int64_t j = 0; j < v->ow; j++)
                v->y[task * v->ow + j] = STORE(sum[j] + v->bias[task / v->oh % v->o]);
        }
        free(sum);
    }
    return failed;
}

static inline int conv_run(const struct conv *v)
{
    return conv_images(v, v->n, conv_row);
}

/* 3 x 3, nothing left out: the case of fast paths. */
static inline int is_plain(const struct conv *v)
{
    return v->stride_h == 1 && v->stride_w == 1 && v->dil_h == 1 && v->dil_w == 1;
}

#define PARAMETERS                                                                                           \
    const value *x, const value *weight, const float *bias, value *y, int64_t n, int64_t c, int64_t h,       \
        int64_t w, int64_t o, int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w, int64_t pad_h,     \
        int64_t pad_w, int64_t dil_h, int64_t dil_w, int64_t groups, void *stream
#define HONEST                                                                                               \
    x, weight, bias, y, n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups,       \
        (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1,                                               \
        (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1, 0, conv_channel, conv_filter
