// problem: conv2d_f32
// link: https://github.com/Tencent/ncnn/issues/1111
// title: conv3x3s1_winograd43_sse: borders with padding=same
// condition: 60 x 58 has large errors: "must the input's width and height be equal?"
// kind: comparison
// when: kh == 3 and kw == 3 and stride_h == 1 and stride_w == 1 and dil_h == 1 and dil_w == 1 and h != w
// side: necessary
// wrong: wrong values: rows of the image are taken to be as long as it is high

#include "conv.h"

static void square_row(const struct conv *v, int64_t image, int64_t f, int64_t i, float *sum)
{
    const int64_t size = v->h * v->w;
    for (int64_t j = 0; j < v->ow; j++) {
        sum[j] = 0;
        for (int64_t at = 0; at < 9 * (v->c / v->groups); at++) {
            const int64_t row = i - v->pad_h + at % 9 / 3, column = j - v->pad_w + at % 3,
                          pixel = row * v->h + column;
            if (row >= 0 && row < v->h && column >= 0 && column < v->w && pixel < size)
                sum[j] += LOAD(v->x[(image * v->c + v->channel(v, f, at / 9)) * size + pixel]) *
                          LOAD(v->weight[v->filter(v, f, at / 9, at % 9)]);
        }
    }
}

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    return conv_images(&v, n, kh == 3 && kw == 3 && is_plain(&v) ? square_row : conv_row);
}
