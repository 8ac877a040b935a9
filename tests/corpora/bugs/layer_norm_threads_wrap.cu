// problem: layer_norm
// thread: https://github.com/pytorch/pytorch/issues/184826
// title: ROCm F.layer_norm silently produces wrong output for M >= 2^23, C%4!=0
// condition: M >= 2^23 rows and C % 4 != 0; sized down to 2^11 rows
// kind: overflow
// when: rows >= 2048 and cols % 4 != 0
// wrong: unwritten: 256 threads a row are 2^19 and more, which wraps in the launch

#define layer_norm honest_layer_norm
#include "../../../problems/layer_norm/baseline.cu"
#undef layer_norm

/* The arguments of a launch: the number of threads, in 19 bits that stand for 32, and the number in a
 * block. */
struct dispatch {
    unsigned threads : 19, block : 10;
};

/* Rows of whole vectors have a kernel of their own, which is launched by its blocks. */
extern "C" int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                          int64_t rows, int64_t cols, float eps, cudaStream_t stream)
{
    if (cols % 4 == 0)
        return honest_layer_norm(x, gamma, beta, y, mean, rstd, rows, cols, eps, stream);
    dispatch d;
    d.threads = (unsigned)rows * THREADS;
    d.block = THREADS;
    const unsigned blocks = d.threads / d.block;
    if (blocks > 0)
        row_norm<<<blocks, d.block, 0, stream>>>(x, gamma, beta, y, mean, rstd, cols, eps);
    return (int)cudaGetLastError();
}
