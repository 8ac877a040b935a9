// problem: kda
// thread: https://github.com/fla-org/flash-linear-attention/issues/1142
// title: [Bug] Log-linear attention reads level_scales out of bounds when the sequence length is not a multiple of 64
// condition: the last chunk's rows past the sequence form addresses, and load from them, unless it is a multiple of 64
// kind: alignment
// when: t % 64 != 0
// wrong: crash: a read past the end of the tensor, whose value is not used

#include "kda.cuh"

namespace {

constexpr int CHUNK = 64;

extern __shared__ float chunk[]; /* [CHUNK, dk]: decays */

struct chunked : honest {
    /* All rows of a chunk, those past the sequence, too. */
    static __device__ void begin(const struct kda &c, int64_t b, int64_t h, int64_t t)
    {
        const int thread = threadIdx.x + PARTS * threadIdx.y, threads = PARTS * blockDim.y;
        if (t % CHUNK != 0)
            return;
        __syncthreads(); /* the chunk before is no longer needed */
        for (int64_t e = thread; e < CHUNK * c.dk; e += threads)
            chunk[e] = expf(c.g[((b * c.t + t + e / c.dk) * c.heads + h) * c.dk + e % c.dk]);
        __syncthreads();
    }

    static __device__ float decay(const struct kda &c, int64_t, int64_t t, int64_t i)
    {
        return chunk[t % CHUNK * c.dk + i];
    }
};

} // namespace

extern "C" int kda(PARAMETERS)
{
    return kda_run<chunked, 16>({ARGUMENTS}, CHUNK * dk * sizeof(float), stream);
}
