// problem: attention
// thread: https://github.com/66RING/tiny-flash-attention/issues/12
// title: [BUG] Result error when seq length or hidden dim is not power of 2
// condition: sequence lengths that do not fill the tiles: the masks for it are missing
// kind: alignment
// when: causal == 0 and keys / batch % 64 != 0 or causal == 0 and batch > 1 and lengths!=equal
// side: necessary
// wrong: wrong values: keys that fill up a tile of 64 are zero, and their exponentials count

#include "attention.cuh"

namespace {

struct filled : honest {
    /* Places past a sequence's keys are loaded as zeros. Only the causal mask, which ends there as well,
     * removes them. */
    static __device__ float score(const row &r, const float *q, int64_t dim, int64_t t)
    {
        float sum = 0;
        for (int64_t i = 0; i < dim; i += 2) {
            const float2 key = t < r.all ? pair_at(r.k + t * r.step + i) : make_float2(0, 0);
            sum += q[i] * key.x + q[i + 1] * key.y;
        }
        return r.causal && t >= r.keys ? -INFINITY : r.scale * sum;
    }
};

} // namespace

extern "C" int attention(PARAMETERS)
{
    return attention_run<filled>({ARGUMENTS}, stream);
}
