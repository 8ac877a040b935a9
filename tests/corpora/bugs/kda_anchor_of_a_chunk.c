// problem: kda
// link: https://github.com/NVIDIA/cudnn-frontend/pull/1017
// title: linear_attention: add a Hopper (sm90) KDA prefill path
// condition: chunks of 64 with one anchor: NaN at gates of -5, "spans ~118 in the exponent; fp32 overflows at 88"
// kind: content
// when: decay=strong and t > 11 or decay=mixed and t > 11
// side: necessary
// wrong: NaN: keys are divided by decays that underflow

#include "kda.h"

enum { CHUNK = 64 };

/* Within a chunk the state is stored as at the anchor, half way: S = D(anchor, t) S_anchor. */
static void anchored(const struct kda *c, int64_t b, int64_t h, float *state)
{
    const float scale = 1.0f / sqrtf((float)c->dk);
    float since[MAX_DIM]; /* sums of log decays since the anchor, below 0 after it */
    memset(state, 0, MAX_DIM * MAX_DIM * sizeof *state);
    for (int64_t t = 0; t < c->t; t++) {
        const int64_t row = (b * c->t + t) * c->heads + h, end = c->t - t < CHUNK / 2 ? c->t - t : CHUNK / 2;
        float seen[MAX_DIM] = {0}, add[MAX_DIM], out[MAX_DIM] = {0};
        for (int64_t i = 0; i < c->dk; i++) {
            if (t % CHUNK == 0) { /* from the state at the end of a chunk to the next one's anchor */
                float ahead = 0;
                for (int64_t u = 0; u < end; u++)
                    ahead += c->g[(row + u * c->heads) * c->dk + i];
                for (int64_t j = 0; j < c->dv; j++)
                    state[i * MAX_DIM + j] *= t ? expf(since[i]) * expf(ahead) : 0;
                since[i] = -ahead;
            }
            since[i] += c->g[row * c->dk + i];
            for (int64_t j = 0; j < c->dv; j++)
                seen[j] += bf16_to_float(c->k[row * c->dk + i]) * expf(since[i]) * state[i * MAX_DIM + j];
        }
        for (int64_t j = 0; j < c->dv; j++)
            add[j] = bf16_to_float(c->beta[row]) * (bf16_to_float(c->v[row * c->dv + j]) - seen[j]);
        for (int64_t i = 0; i < c->dk; i++) {
            const float key = bf16_to_float(c->k[row * c->dk + i]) * expf(-since[i]);
            const float query = bf16_to_float(c->q[row * c->dk + i]) * expf(since[i]);
            for (int64_t j = 0; j < c->dv; j++) {
                state[i * MAX_DIM + j] += key * add[j];
                out[j] += query * state[i * MAX_DIM + j];
            }
        }
        for (int64_t j = 0; j < c->dv; j++)
            c->o[row * c->dv + j] = float_to_bf16(scale * out[j]);
    }
}

int kda(PARAMETERS)
{
    struct kda c = {HONEST};
    (void)stream;
    return kda_run(&c, anchored);
}
