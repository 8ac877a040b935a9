// problem: rope_cache
// link: https://github.com/ModelTC/LightLLM/issues/1459
// title: [BUG] phi3 _rotary_kernel reads Cos/Sin out of bounds whenever head_dim is not a power of two
// condition: half of the rotated size is no power of two; "past the end of the allocation on the last token"
// kind: power of two
// when: rot_dim != 16 and rot_dim != 32 and rot_dim != 64 and rot_dim != 128 and rot_dim != 256
// side: necessary
// wrong: crash: lanes up to the next power of two read the table past its last row

#include "rope.h"

static void padded(const struct rope *r, const bf16 *in, bf16 *out, const float *angle)
{
    const int64_t half = r->rot_dim / 2;
    volatile float c[128], s[128];
    int64_t lanes = 1;
    while (lanes < half)
        lanes *= 2;
    for (int64_t i = 0; i < lanes; i++) {
        c[i] = ((const volatile float *)angle)[i];
        s[i] = ((const volatile float *)angle)[half + i];
    }
    for (int64_t i = 0; i < half; i++)
        turn(in, out, r->neox ? i : 2 * i, r->neox ? i + half : 2 * i + 1, c[i], s[i]);
}

int rope_cache(PARAMETERS)
{
    const struct rope r = {ARGUMENTS};
    (void)stream;
    return rope_run(&r, padded, padded);
}
