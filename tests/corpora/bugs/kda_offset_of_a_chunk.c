// problem: kda
// link: https://github.com/state-spaces/mamba/issues/1015
// title: Sequences longer than ~61K tokens (and often less) silently give a wrong answer or crash
// condition: a chunk begins 2^31 elements or more behind the tensor's begin, which batch, tokens and width decide; sized down to 2^20, chunks of 64
// kind: overflow
// when: ((batch - 1) * t + (t - 1) / 64 * 64) * heads * dv >= 1048576 and beta!=zero
// collection: third
// wrong: wrong values: the offset wraps, and the values of an earlier chunk are read

#include "kda.h"

enum { CHUNK = 64, WRAP = 1 << 20 };

/* Values of a chunk of all heads. */
static const bf16 *values_of(const struct kda *c, int64_t b, int64_t first)
{
    const int64_t offset = (b * c->t + first) * c->heads * c->dv;
#ifdef FIXED
    return c->v + offset;
#else
    return c->v + offset % WRAP;
#endif
}

static void run_chunk(const struct kda *c, int64_t b, int64_t h, int64_t first, float *state)
{
    const bf16 *values = values_of(c, b, first);
    const float scale = 1.0f / sqrtf((float)c->dk);
    for (int64_t t = first; t < c->t && t < first + CHUNK; t++) {
        const int64_t row = (b * c->t + t) * c->heads + h;
        const bf16 *q = c->q + row * c->dk, *k = c->k + row * c->dk;
        const bf16 *v = values + ((t - first) * c->heads + h) * c->dv;
        float seen[MAX_DIM] = {0}, add[MAX_DIM], out[MAX_DIM] = {0};
        for (int64_t i = 0; i < c->dk; i++) {
            const float decay = expf(c->g[row * c->dk + i]), key = bf16_to_float(k[i]);
            for (int64_t j = 0; j < c->dv; j++) {
                state[i * MAX_DIM + j] *= decay;
                seen[j] += key * state[i * MAX_DIM + j];
            }
        }
        for (int64_t j = 0; j < c->dv; j++)
            add[j] = bf16_to_float(c->beta[row]) * (bf16_to_float(v[j]) - seen[j]);
        for (int64_t i = 0; i < c->dk; i++) {
            const float key = bf16_to_float(k[i]), query = bf16_to_float(q[i]);
            for (int64_t j = 0; j < c->dv; j++) {
                state[i * MAX_DIM + j] += key * add[j];
                out[j] += query * state[i * MAX_DIM + j];
            }
        }
        for (int64_t j = 0; j < c->dv; j++)
            c->o[row * c->dv + j] = float_to_bf16(scale * out[j]);
    }
}

static void by_chunks(const struct kda *c, int64_t b, int64_t h, float *state)
{
    memset(state, 0, MAX_DIM * MAX_DIM * sizeof *state);
    for (int64_t first = 0; first < c->t; first += CHUNK)
        run_chunk(c, b, h, first, state);
}

int kda(PARAMETERS)
{
    const struct kda c = {HONEST};
    (void)stream;
    return kda_run(&c, by_chunks);
}
