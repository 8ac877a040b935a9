// problem: conv2d_bf16
// link: https://github.com/adam-dziedzic/winograd/issues/1
// title: Question about the result of F(4x4, 3x3).
// condition: F(4x4, 3x3) is wrong when input height or width is larger than 6: tiles begin r - 1 apart, not m
// kind: threshold
// when: kh == 3 and kw == 3 and stride_h == 1 and stride_w == 1 and dil_h == 1 and dil_w == 1 and h + 2 * pad_h > 6 or kh == 3 and kw == 3 and stride_h == 1 and stride_w == 1 and dil_h == 1 and dil_w == 1 and w + 2 * pad_w > 6
// wrong: wrong values: outputs after the first 4 are those of a window before

#define BF16
#include "conv.h"

enum { M = 4, R = 3 };

static void tile_row(const struct conv *v, int64_t image, int64_t f, int64_t i, float *sum)
{
    float *row = malloc((size_t)v->ow * sizeof *row);
    if (!row)
        return;
    conv_row(v, image, f, i / M * (R - 1) + i % M, row);
    for (int64_t j = 0; j < v->ow; j++)
        sum[j] = row[j / M * (R - 1) + j % M];
    free(row);
}

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    return conv_images(&v, n, kh == 3 && kw == 3 && is_plain(&v) ? tile_row : conv_row);
}
