// problem: conv2d_f32
// link: https://github.com/ROCm/MIOpenGEMM/issues/59
// title: [FP32] [miopengemm] GemmBwd1x1_stride1 verficiation failure
// condition: a filter of one tap, stride 1: of 18 x 18 pixels 320 are written and 4 stay 0, of two such images 640
// kind: alignment
// when: kh == 1 and kw == 1 and stride_h == 1 and stride_w == 1 and pad_h == 0 and pad_w == 0 and h * w % 16 != 0
// side: necessary
// collection: second
// wrong: wrong values: zeros; the product's tiles of 16 pixels are as many as fit

#include "conv.h"

enum { TILE = 16 };

/* The image as a matrix of c rows of pixels, times the filters. */
static int by_product(const struct conv *v)
{
    const int64_t pixels = v->h * v->w;
#ifdef FIXED
    const int64_t covered = pixels;
#else
    const int64_t covered = pixels / TILE * TILE;
#endif
#pragma omp parallel for schedule(dynamic)
    for (int64_t task = 0; task < v->n * v->o; task++) {
        const int64_t f = task % v->o, image = task / v->o;
        float *out = v->y + task * pixels;
        memset(out, 0, (size_t)pixels * sizeof *out);
        for (int64_t ch = 0; ch < v->c / v->groups; ch++) {
            const float *in = v->x + (image * v->c + v->channel(v, f, ch)) * pixels;
            const float tap = v->weight[v->filter(v, f, ch, 0)];
            for (int64_t p = 0; p < covered; p++)
                out[p] += in[p] * tap;
        }
        for (int64_t p = 0; p < covered; p++)
            out[p] += v->bias[f];
    }
    return 0;
}

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    const int one_tap = kh == 1 && kw == 1 && stride_h == 1 && stride_w == 1 && pad_h == 0 && pad_w == 0;
    (void)stream;
    return one_tap ? by_product(&v) : conv_run(&v);
}
