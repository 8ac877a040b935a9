// problem: gemm_fp8
// link: https://github.com/pytorch/ao/issues/4582
// title: Rowwise fp8 (Float8DynamicActivationFloat8Weight, PerRow) fails with CUBLAS_STATUS_NOT_SUPPORTED for large-K + small-M GEMMs on H100
// condition: large K and small M: 9216 to 3072 columns fails up to M = 256 and works from 257 on, 3072 to 3072 works; K is split where tiles of 128 x 128 fill half of 132 processors at most
// kind: threshold
// when: (m + 127) / 128 * ((n + 127) / 128) <= 66 and k > 8064
// collection: fourth
// wrong: refused: the algorithm that splits K takes a scale for the tensor, and none for each column

#define FP8
#include "product.h"

enum { NOT_SUPPORTED = 15, TILE = 128, PROCESSORS = 132, BLOCKS_OF_A_SPLIT = 32 };
enum scale_mode { TENSOR_WIDE, OUTER_VECTOR };

struct algorithm {
    int64_t splits;
};

static int64_t up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/* As many splits as processors are free for, each with enough of K. */
static struct algorithm heuristic(int64_t m, int64_t n, int64_t k, enum scale_mode mode)
{
    const int64_t tiles = up(m, TILE) * up(n, TILE), free = PROCESSORS / tiles;
    const int64_t enough = up(k, TILE) / BLOCKS_OF_A_SPLIT;
    struct algorithm a = {free < enough ? free : enough};
#ifdef FIXED
    if (mode == OUTER_VECTOR)
        a.splits = 1;
#else
    (void)mode;
#endif
    return a;
}

static bool is_supported(struct algorithm a, enum scale_mode mode)
{
    return a.splits <= 1 || mode == TENSOR_WIDE;
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n, int64_t k,
             void *stream)
{
    struct product g = product_of(x, weight, y, m, n, k, 1);
    (void)stream;
    if (!is_supported(heuristic(m, n, k, OUTER_VECTOR), OUTER_VECTOR))
        return NOT_SUPPORTED;
    g.scale = scale;
    return product_run(&g);
}
