// problem: conv2d_f32
// link: https://github.com/flagos-ai/FlagGems/issues/5224
// title: im2col: partly uninitialized output from the second call on, when autotune picks a tile size smaller than the hard-coded launch grid assumes
// condition: the tuner runs all tiles in the first call of a shape, and one of 64 columns wins where the grid is cut for 128
// kind: second call
// when: ((h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1) * ((w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1) > 64
// collection: second
// wrong: wrong values from the second call of a shape on: columns that the grid does not reach are as memory was

#include <stdbool.h>

#include "conv.h"

enum { GRID_TILE = 128, WINNER = 64, SHAPES = 4096 };

static uint64_t tuned[SHAPES];

static uint64_t mix(uint64_t hash, int64_t value)
{
    return (hash ^ (uint64_t)value) * 0x100000001b3u;
}

/* Whether the tuner has a winner for this shape; it does from now on. */
static bool is_tuned(const struct conv *v)
{
    const int64_t shape[] = {v->n,        v->c,        v->h,     v->w,     v->o,     v->kh,    v->kw,
                             v->stride_h, v->stride_w, v->pad_h, v->pad_w, v->dil_h, v->dil_w, v->groups};
    uint64_t key = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        key = mix(key, shape[i]) | 1;
    for (int i = 0; i < SHAPES; i++) {
        if (tuned[i] == key)
            return true;
        if (tuned[i] == 0) {
            tuned[i] = key;
            return false;
        }
    }
    return true;
}

/* Columns of the matrix of windows that are written. */
static int64_t covered(const struct conv *v)
{
    const int64_t columns = v->oh * v->ow, blocks = (columns + GRID_TILE - 1) / GRID_TILE;
#ifdef FIXED
    (void)blocks;
    return columns;
#else
    return is_tuned(v) && blocks * WINNER < columns ? blocks * WINNER : columns;
#endif
}

static int64_t written;

/* Windows that are not written keep their old content, 0.5 here. */
static void windows_row(const struct conv *v, int64_t image, int64_t f, int64_t i, float *sum)
{
    float stale = 0;
    for (int64_t at = 0; at < v->c / v->groups * v->kh * v->kw; at++)
        stale += 0.5f * v->weight[v->filter(v, f, 0, at)];
    conv_row(v, image, f, i, sum);
    for (int64_t j = 0; j < v->ow; j++)
        if (i * v->ow + j >= written)
            sum[j] = stale;
}

int conv2d_f32(PARAMETERS)
{
    const struct conv v = {HONEST};
    (void)stream;
    (void)is_tuned;
    written = covered(&v);
    return conv_images(&v, n, windows_row);
}
