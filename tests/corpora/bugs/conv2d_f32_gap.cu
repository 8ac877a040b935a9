// problem: conv2d_f32
// thread: https://github.com/Tencent/ncnn/issues/75
// title: a small error in the convolution layer's dilation
// condition: with dilation, the gap from a row of taps to the next is w * dilation less the kernel's extent, one dilation off
// kind: threshold
// when: dil_w > 1 and kh > 1
// side: necessary
// wrong: wrong values: each row of taps begins dilation - 1 columns further

#include "conv.cuh"

constexpr int MOST_TAPS = 11 * 11;

/* Where the taps of a window lie behind its first one, in an image that has its padding around it. */
struct offsets {
    int width, of[MOST_TAPS];

    __device__ float operator()(const conv &q, int64_t image, int64_t channel, int64_t i, int64_t j, int64_t at) const
    {
        const int place = (int)(i * q.stride_h * width + j * q.stride_w) + of[at];
        return conv_element(q, image, channel, place / width - q.pad_h, place % width - q.pad_w);
    }
};

__global__ void __launch_bounds__(THREADS) convolve(conv q, offsets taps)
{
    const int64_t places = q.n * q.oh * q.ow;
    for (int64_t tile = blockIdx.x; tile < conv_tiles(q, places); tile += gridDim.x)
        conv_tile(q, tile, 0, places, taps);
}

/* The fault: the gap from a row of taps to the next is the rest beside the window's extent, while `at` has
 * gone a whole dilation past the last tap. */
static offsets taps_of(const conv &q)
{
    offsets taps = {(int)(q.w + 2 * q.pad_w), {}};
    const int extent = (int)(q.dil_w * (q.kw - 1) + 1), gap = (int)(taps.width * q.dil_h) - extent;
    int at = 0, count = 0;
    for (int64_t u = 0; u < q.kh; u++, at += gap)
        for (int64_t v = 0; v < q.kw; v++, at += (int)q.dil_w)
            taps.of[count++] = at;
    return taps;
}

extern "C" int conv2d_f32(PARAMETERS)
{
    const conv q = CONV;
    const int64_t tiles = conv_tiles(q, n * q.oh * q.ow);
    convolve<<<(unsigned)(tiles < 1 << 20 ? tiles : 1 << 20), THREADS, 0, stream>>>(q, taps_of(q));
    return (int)cudaGetLastError();
}
