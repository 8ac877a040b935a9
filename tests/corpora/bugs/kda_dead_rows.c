// problem: kda
// link: https://github.com/fla-org/flash-linear-attention/issues/1142
// title: [Bug] Log-linear attention reads level_scales out of bounds when the sequence length is not a multiple of 64
// condition: the last chunk's rows past the sequence form addresses, and load from them, unless it is a multiple of 64
// kind: alignment
// when: t % 64 != 0
// wrong: out of bounds: a read past the end of the tensor, whose value is not used

#include "kda.h"

enum { CHUNK = 64 };

static void chunked(const struct kda *c, int64_t b, int64_t h, float *state)
{
    const int64_t rows = (c->t + CHUNK - 1) / CHUNK * CHUNK;
    volatile float scale = 0;
    for (int64_t t = 0; t < rows; t++)
        scale = ((const volatile float *)c->g)[((b * c->t + t) * c->heads + h) * c->dk];
    (void)scale;
    kda_head(c, b, h, state);
}

int kda(PARAMETERS)
{
    struct kda c = {HONEST};
    (void)stream;
    return kda_run(&c, chunked);
}
