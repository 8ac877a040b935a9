// problem: gemm_fp8
// link: https://github.com/NVIDIA/cutlass/issues/2154
// title: [BUG]Hopper Blockwise FP8 GEMM
// condition: the copy of the scales is wrong while m or n is not a multiple of its tile
// kind: alignment
// when: n % 128 != 0
// side: necessary
// wrong: wrong values: a last tile of scales that is not whole is not copied, and the tile before stays

#define FP8
#include "product.h"

enum { TILE = 128 };

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n, int64_t k,
             void *stream)
{
    struct product g = product_of(x, weight, y, m, n, k, 1);
    float *tiles = malloc((size_t)(n + TILE) * sizeof *tiles);
    (void)stream;
    if (!tiles)
        return 1;
    for (int64_t at = 0; at < n; at += TILE)
        for (int64_t j = 0; j < TILE; j++)
            tiles[at + j] = at + TILE <= n ? scale[at + j] : at > 0 ? tiles[at - TILE + j] : 1.0f;
    g.scale = tiles;
    const int failed = product_run(&g);
    free(tiles);
    return failed;
}
