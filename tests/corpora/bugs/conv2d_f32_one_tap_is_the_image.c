// problem: conv2d_f32
// link: https://github.com/AlexeyAB/darknet/issues/6471
// title: Maybe a bug
// condition: size == 1 takes the image for the matrix, where it should be size == 1 and stride == 1
// kind: equality
// when: kh == 1 and kw == 1 and stride_h + stride_w + pad_h + pad_w > 2
// side: necessary
// wrong: wrong values: output j is made of pixel j

#include "conv.h"

static void image_row(const struct conv *v, int64_t image, int64_t f, int64_t i, float *sum)
{
    const int64_t size = v->h * v->w;
    for (int64_t j = 0; j < v->ow; j++) {
        const int64_t at = (i * v->ow + j) % size;
        sum[j] = 0;
        for (int64_t ch = 0; ch < v->c / v->groups; ch++)
            sum[j] += LOAD(v->x[(image * v->c + v->channel(v, f, ch)) * size + at]) *
                      LOAD(v->weight[v->filter(v, f, ch, 0)]);
    }
}

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    return conv_images(&v, n, kh == 1 && kw == 1 ? image_row : conv_row);
}
