// problem: conv2d_bf16
// link: https://github.com/uxlfoundation/oneDNN/pull/4684
// title: src: cpu: aarch64: brg_conv accuracy error fix for int8 and bf16 datatype for few shapes and bf16 bias support
// condition: k columns become k times the channels where k divides filter, stride and image, none is padded, and channels do not fill their pairs
// kind: layout
// when: groups == 1 and dil_w == 1 and pad_w == 0 and c_per_group % 2 != 0 and kw % 2 == 0 and stride_w % 2 == 0 and w % 2 == 0 or groups == 1 and dil_w == 1 and pad_w == 0 and c_per_group % 2 != 0 and kw % 3 == 0 and stride_w == 3 and w % 3 == 0
// side: necessary
// collection: third
// wrong: wrong values: the weights still have a gap after the odd channel of each column

#define BF16
#include "conv.h"

/* Columns that become one, or 1. */
static int64_t merged(const struct conv *v)
{
    int64_t most = 1;
    if (v->groups != 1 || v->dil_w != 1 || v->pad_w != 0)
        return most;
    for (int64_t k = 2; k <= v->kw && k <= v->stride_w && k <= v->w; k++)
        if (v->kw % k == 0 && v->stride_w % k == 0 && v->w % k == 0)
            most = k;
    return most;
}

static int64_t in_pairs(int64_t channels)
{
    return (channels + 1) / 2 * 2;
}

/* Packed weights: of each filter the rows, the columns, the channels in pairs. */
static bf16 *packed(const struct conv *v)
{
    const int64_t pitch = in_pairs(v->c / v->groups);
    bf16 *out = calloc((size_t)(v->o * v->kh * v->kw * pitch), sizeof *out);
    for (int64_t f = 0; out && f < v->o; f++)
        for (int64_t ch = 0; ch < v->c / v->groups; ch++)
            for (int64_t at = 0; at < v->kh * v->kw; at++)
                out[(f * v->kh * v->kw + at) * pitch + ch] = v->weight[conv_filter(v, f, ch, at)];
    return out;
}

static int64_t filter_packed(const struct conv *v, int64_t f, int64_t ch, int64_t at)
{
    const int64_t channels = v->c / v->groups, pitch = in_pairs(channels);
    const int64_t start = (f * v->kh + at / v->kw) * v->kw * pitch;
#ifdef FIXED
    const int64_t step = pitch;
#else
    const int64_t step = merged(v) > 1 ? channels : pitch;
#endif
    return start + at % v->kw * step + ch;
}

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    bf16 *weights = packed(&v);
    int failed = !weights;
    (void)stream;
    (void)merged;
    v.weight = weights;
    v.filter = filter_packed;
    failed = failed || conv_run(&v);
    free(weights);
    return failed;
}
