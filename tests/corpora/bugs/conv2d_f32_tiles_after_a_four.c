// problem: conv2d_f32
// link: https://github.com/Tencent/TNN/issues/394
// title: winograd卷积输出有误
// condition: Winograd's tiles of 4 x 4 outputs are worked on 8 at a time, and more than 4 are left at the end: tile_count % 8 > 4
// kind: alignment
// when: groups == 1 and kh == 3 and kw == 3 and stride_h == 1 and stride_w == 1 and dil_h == 1 and dil_w == 1 and (h + 2 * pad_h + 1) / 4 * ((w + 2 * pad_w + 1) / 4) % 8 > 4
// collection: third
// wrong: wrong values: after four of the rest the others begin again at the first

#include "conv.h"

enum { UNIT = 4, TILES = 8, FOUR = 4 };

/* A sum at any place, also where a tile overhangs the image of outputs. */
static float sum_at(const struct conv *v, int64_t image, int64_t f, int64_t i, int64_t j)
{
    float sum = 0;
    for (int64_t ch = 0; ch < v->c / v->groups; ch++)
        for (int64_t at = 0; at < v->kh * v->kw; at++) {
            const int64_t row = i - v->pad_h + at / v->kw, column = j - v->pad_w + at % v->kw;
            const float *in = v->x + (image * v->c + v->channel(v, f, ch)) * v->h * v->w;
            if (row >= 0 && row < v->h && column >= 0 && column < v->w)
                sum += in[row * v->w + column] * v->weight[v->filter(v, f, ch, at)];
        }
    return sum;
}

/* The tile whose sums a tile gets. */
static int64_t source_of(int64_t tile, int64_t tiles)
{
    const int64_t rest = tiles % TILES, place = tile - (tiles - rest);
#ifdef FIXED
    (void)place;
    return tile;
#else
    return rest > FOUR && place >= FOUR ? tile - FOUR : tile;
#endif
}

static void row_of_tiles(const struct conv *v, int64_t image, int64_t f, int64_t i, float *sum)
{
    const int64_t across = (v->ow + UNIT - 1) / UNIT, tiles = (v->oh + UNIT - 1) / UNIT * across;
    conv_row(v, image, f, i, sum);
    for (int64_t j = 0; j < v->ow; j++) {
        const int64_t tile = i / UNIT * across + j / UNIT, source = source_of(tile, tiles);
        if (source != tile)
            sum[j] =
                sum_at(v, image, f, source / across * UNIT + i % UNIT, source % across * UNIT + j % UNIT);
    }
}

int conv2d_f32(PARAMETERS)
{
    const struct conv v = {HONEST};
    (void)stream;
    if (groups != 1 || kh != 3 || kw != 3 || !is_plain(&v))
        return conv_run(&v);
    return conv_images(&v, n, row_of_tiles);
}
