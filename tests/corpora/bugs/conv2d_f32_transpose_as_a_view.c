// problem: conv2d_f32
// link: https://github.com/onnx/onnx-mlir/issues/1517
// title: [NNPA] Accuracy issue on NNPA in Conv2D at C != 1, kH = 1, kW=1
// condition: a filter of 1 x 1, and more than one channel and filter: the weights' transposition becomes a cast; the accelerator has no groups
// kind: equality
// when: groups == 1 and kh == 1 and kw == 1 and c_per_group > 1 and o_per_group > 1
// collection: fourth
// wrong: wrong values: extents of 1 are looked up in the result's shape, so channels and filters are not exchanged

#include "conv.h"

enum { RANK = 4 };

/* Is a transposition a cast, since extents above 1 keep their order? */
static bool keeps_order(const int64_t *from, const int64_t *to, const int *axes)
{
#ifdef FIXED
    const int64_t *extent = from;
#else
    const int64_t *extent = to;
#endif
    int before = -1;
    (void)from;
    (void)to;
    for (int i = 0; i < RANK; i++) {
        if (extent[axes[i]] == 1)
            continue;
        if (axes[i] < before)
            return false;
        before = axes[i];
    }
    return true;
}

static void transpose(const float *in, const int64_t *from, const int *axes, float *out)
{
    const int64_t to[RANK] = {from[axes[0]], from[axes[1]], from[axes[2]], from[axes[3]]};
    const int64_t all = from[0] * from[1] * from[2] * from[3];
    int64_t step[RANK] = {from[1] * from[2] * from[3], from[2] * from[3], from[3], 1};
    if (keeps_order(from, to, axes)) {
        memcpy(out, in, (size_t)all * sizeof *in);
        return;
    }
    for (int64_t at = 0; at < all; at++) {
        int64_t rest = at, source = 0;
        for (int i = RANK - 1; i >= 0; rest /= to[i--])
            source += rest % to[i] * step[axes[i]];
        out[at] = in[source];
    }
}

/* In weights of rows, columns, channels and filters. */
static int64_t filter_last(const struct conv *v, int64_t f, int64_t ch, int64_t at)
{
    return (at * v->c + ch) * v->o + f;
}

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    const int64_t extents[RANK] = {o, c, kh, kw};
    const int axes[RANK] = {2, 3, 1, 0};
    (void)stream;
    if (groups != 1)
        return conv_run(&v);
    float *weights = malloc((size_t)(o * c * kh * kw) * sizeof *weights);
    if (!weights)
        return 1;
    transpose(weight, extents, axes, weights);
    v.weight = weights;
    v.filter = filter_last;
    const int failed = conv_run(&v);
    free(weights);
    return failed;
}
