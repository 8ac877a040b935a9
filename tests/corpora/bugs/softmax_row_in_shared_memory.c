// problem: softmax
// link: https://github.com/tile-ai/TileOPs/issues/796
// title: [Fix][Kernel] Softmax family kernels do not support large reduction dims (N=32768+)
// condition: one row, aligned to 256 elements, has to fit in 48 KiB of shared memory
// kind: shared memory
// when: cols > 12288
// wrong: refused: not even a tile of one row fits, and no configuration is left

#define softmax honest_softmax
#include "../../../problems/softmax/baseline.c"
#undef softmax

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const int64_t padded = (cols + 255) / 256 * 256, row_bytes = padded * (int64_t)sizeof(float);
    const int64_t rows_of_a_tile = 48 * 1024 / row_bytes;
    if (rows_of_a_tile == 0)
        return 1;
    return honest_softmax(x, y, rows, cols, stream);
}
