// problem: conv2d_bf16
// thread: https://github.com/tensorflow/tensorflow/issues/9870
// title: Incorrect inference in convnet with batch size >65535
// condition: outputs after case 65535 are zero; sized down to 63
// kind: grid
// when: n > 63
// side: necessary
// wrong: wrong values: zeros for the images that the grid does not reach

#define BF16
#include "conv.cuh"

constexpr int64_t MOST_BLOCKS = 63; /* for the grid's second dimension; stands for 65535 */

struct window {
    __device__ float operator()(const conv &q, int64_t image, int64_t channel, int64_t i, int64_t j, int64_t at) const
    {
        return conv_element(q, image, channel, i * q.stride_h - q.pad_h + at / q.kw * q.dil_h,
                            j * q.stride_w - q.pad_w + at % q.kw * q.dil_w);
    }
};

/* The fault: images have a block each, and no loop. */
__global__ void __launch_bounds__(THREADS) convolve_images(conv q)
{
    const int64_t image = blockIdx.y, places = q.oh * q.ow;
    for (int64_t tile = blockIdx.x; tile < conv_tiles(q, places); tile += gridDim.x)
        conv_tile(q, tile, image, places, window());
}

extern "C" int conv2d_bf16(PARAMETERS)
{
    const conv q = CONV;
    const int64_t tiles = conv_tiles(q, q.oh * q.ow);
    const dim3 grid((unsigned)(tiles < 1 << 20 ? tiles : 1 << 20), (unsigned)(n < MOST_BLOCKS ? n : MOST_BLOCKS));
    cudaMemsetAsync(y, 0, (size_t)(n * o * q.oh * q.ow) * sizeof *y, stream);
    convolve_images<<<grid, THREADS, 0, stream>>>(q);
    return (int)cudaGetLastError();
}
