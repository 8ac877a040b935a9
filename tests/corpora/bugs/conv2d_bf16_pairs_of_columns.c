// problem: conv2d_bf16
// link: https://github.com/ARM-software/CMSIS_5/issues/1168
// title: arm_convolve_HWC_q15_fast seems to only work with even dim_im_out
// condition: an odd number of output columns; the fast path has neither groups nor dilation, and pairs of channels and of filters
// kind: alignment
// when: groups == 1 and dil_h == 1 and dil_w == 1 and c_per_group % 2 == 0 and o_per_group % 2 == 0 and ow % 2 != 0
// collection: fourth
// wrong: unwritten or wrong values: two windows are multiplied at every odd column, and the last of a row waits for the next row's

#define BF16
#include "conv.h"

/* The windows that wait, and the next pixel that is written, channel by channel. */
struct pass {
    const struct conv *v;
    const float *weights;
    float *windows, *window; /* the first, and where the next one goes */
    int64_t depth, pixel;    /* of a window; pixels follow each other, whatever the row */
};

static void fill_window(struct pass *p, int64_t image, int64_t i, int64_t j)
{
    const struct conv *v = p->v;
    for (int64_t ch = 0; ch < v->c; ch++)
        for (int64_t at = 0; at < v->kh * v->kw; at++) {
            const int64_t row = i * v->stride_h - v->pad_h + at / v->kw;
            const int64_t column = j * v->stride_w - v->pad_w + at % v->kw;
            const bool inside = row >= 0 && row < v->h && column >= 0 && column < v->w;
            *p->window++ = inside ? LOAD(v->x[((image * v->c + ch) * v->h + row) * v->w + column]) : 0;
        }
}

/* The next pixels from the first windows that wait, which then are free again. */
static void multiply(struct pass *p, int64_t image, int64_t count)
{
    const struct conv *v = p->v;
    for (int64_t f = 0; f < v->o; f++)
        for (int64_t n = 0; n < count; n++) {
            const float *weights = p->weights + f * p->depth, *window = p->windows + n * p->depth;
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t e = 0; e < p->depth; e++)
                sum += weights[e] * window[e];
            v->y[(image * v->o + f) * v->oh * v->ow + p->pixel + n] = STORE(sum + v->bias[f]);
        }
    p->pixel += count;
    p->window = p->windows;
}

static int run_image(const struct conv *v, const float *weights, int64_t image)
{
    const int64_t depth = v->c * v->kh * v->kw;
    struct pass p = {v, weights, malloc((size_t)((v->oh + 2) * depth) * sizeof(float)), NULL, depth, 0};
    if (!p.windows)
        return 1;
    p.window = p.windows;
    for (int64_t i = 0; i < v->oh; i++)
        for (int64_t j = 0; j < v->ow; j++) {
            fill_window(&p, image, i, j);
            if (j % 2 != 0)
                multiply(&p, image, 2);
#ifdef FIXED
            else if (j == v->ow - 1)
                multiply(&p, image, 1);
#endif
        }
    free(p.windows);
    return 0;
}

int conv2d_bf16(PARAMETERS)
{
    const struct conv v = {HONEST};
    const int64_t all = o * c * kh * kw;
    int failed = 0;
    (void)stream;
    if (groups != 1 || dil_h != 1 || dil_w != 1 || c % 2 != 0 || o % 2 != 0)
        return conv_run(&v);
    float *weights = malloc((size_t)all * sizeof *weights);
    if (!weights)
        return 1;
    for (int64_t i = 0; i < all; i++)
        weights[i] = LOAD(weight[i]);
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t image = 0; image < n; image++)
        failed |= run_image(&v, weights, image);
    free(weights);
    return failed;
}
