// problem: kda
// link: https://github.com/vllm-project/vllm/issues/41292
// title: [Bug]: KDA chunked prefill uses wrong recurrent state layout and breaks Kimi-linear long-context retrieval
// condition: a prefill in more than one chunk: the state is kept as [v, k], and the next chunk reads [k, v]; chunks of 64
// kind: layout
// when: t > 64 and beta!=zero
// side: necessary
// collection: second
// wrong: wrong values from the second chunk on

#include "kda.h"

enum { CHUNK = 64 };

static void keep(const struct kda *c, const float *state, float *kept)
{
    for (int64_t i = 0; i < c->dk; i++)
        for (int64_t j = 0; j < c->dv; j++)
            kept[j * c->dk + i] = state[i * MAX_DIM + j];
}

static void take(const struct kda *c, const float *kept, float *state)
{
    for (int64_t i = 0; i < c->dk; i++)
        for (int64_t j = 0; j < c->dv; j++)
#ifdef FIXED
            state[i * MAX_DIM + j] = kept[j * c->dk + i];
#else
            state[i * MAX_DIM + j] = kept[i * c->dv + j];
#endif
}

/* Tokens from `first` on of one chunk. */
static void run_chunk(const struct kda *c, int64_t b, int64_t h, int64_t first, float *state)
{
    const float scale = 1.0f / sqrtf((float)c->dk);
    for (int64_t t = first; t < c->t && t < first + CHUNK; t++) {
        const int64_t row = (b * c->t + t) * c->heads + h;
        const bf16 *q = c->q + row * c->dk, *k = c->k + row * c->dk, *v = c->v + row * c->dv;
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
    static _Thread_local float kept[MAX_DIM * MAX_DIM];
    memset(state, 0, MAX_DIM * MAX_DIM * sizeof *state);
    for (int64_t first = 0; first < c->t; first += CHUNK) {
        if (first > 0)
            take(c, kept, state);
        run_chunk(c, b, h, first, state);
        keep(c, state, kept);
    }
}

int kda(PARAMETERS)
{
    const struct kda c = {HONEST};
    (void)stream;
    return kda_run(&c, by_chunks);
}
