// problem: conv2d_bf16
// link: https://github.com/openxla/xla/issues/49123
// title: [XLA:GPU] cuDNN int8 convolution with `feature_group_count=2` returns a wrong output channel
// condition: groups that are neither one nor depthwise, as 2 of 2 channels; 1 and 4 groups of 4 channels are right. Channels of a tap are loaded as vectors of 4
// kind: alignment
// when: groups > 1 and c_per_group > 1 and c_per_group % 4 != 0
// side: necessary
// collection: fourth
// wrong: wrong values in the last output channel: its last vector reaches behind the weights and is not loaded

#define BF16
#include "conv.h"

enum { VECTOR = 4 };

/* A vector of weights, of which `channels` are wanted. It is loaded as a whole or not at all. */
static void load_vector(const bf16 *weights, int64_t at, int64_t end, int64_t channels, bf16 *out)
{
#ifdef FIXED
    const bool inside = at + channels <= end;
#else
    const bool inside = at + VECTOR <= end;
#endif
    for (int64_t i = 0; i < channels; i++)
        out[i] = inside ? weights[at + i] : 0;
}

/* Filters as the kernel wants them: their taps, and channels of a tap one after another. */
static void reorder(const struct conv *v, bf16 *out)
{
    const int64_t channels = v->c / v->groups, taps = v->kh * v->kw;
    for (int64_t f = 0; f < v->o; f++)
        for (int64_t at = 0; at < taps; at++)
            for (int64_t ch = 0; ch < channels; ch++)
                out[(f * taps + at) * channels + ch] = v->weight[conv_filter(v, f, ch, at)];
}

static void load_all(const struct conv *v, const bf16 *ordered, bf16 *loaded)
{
    const int64_t channels = v->c / v->groups, end = v->o * v->kh * v->kw * channels;
    for (int64_t tap = 0; tap < end; tap += channels)
        for (int64_t ch = 0; ch < channels; ch += VECTOR)
            load_vector(ordered, tap + ch, end, channels - ch < VECTOR ? channels - ch : VECTOR,
                        loaded + tap + ch);
}

static int64_t filter_of_taps(const struct conv *v, int64_t f, int64_t ch, int64_t at)
{
    return (f * v->kh * v->kw + at) * (v->c / v->groups) + ch;
}

/* Neither one group nor a depthwise convolution, which have kernels of their own. */
static int run_grouped(struct conv *v)
{
    const size_t size = (size_t)(v->o * v->kh * v->kw * (v->c / v->groups));
    bf16 *ordered = malloc(size * sizeof *ordered), *loaded = malloc(size * sizeof *loaded);
    int failed = !ordered || !loaded;
    if (!failed) {
        reorder(v, ordered);
        load_all(v, ordered, loaded);
        v->weight = loaded;
        v->filter = filter_of_taps;
        failed = conv_run(v);
    }
    free(loaded);
    free(ordered);
    return failed;
}

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    return groups > 1 && c > groups ? run_grouped(&v) : conv_run(&v);
}
