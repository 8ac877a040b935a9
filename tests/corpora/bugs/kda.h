/* The recurrence token by token, for candidates that differ from an honest one in a step. */
#include <stdlib.h>

#include "../../../problems/candidate.h"

enum { MAX_DIM = 256 };

struct kda {
    const bf16 *q, *k, *v;
    const float *g;
    const bf16 *beta;
    bf16 *o;
    int64_t batch, t, heads, dk, dv;
    int64_t keys, values; /* elements of a key and of a value that take part: dk and dv */
    int64_t tokens;       /* that are worked on: t */
};

/* One head of one sequence. `state` has MAX_DIM rows of MAX_DIM. */
static void kda_head(const struct kda *c, int64_t b, int64_t h, float *state)
{
    const float scale = 1.0f / sqrtf((float)c->dk);
    memset(state, 0, MAX_DIM * MAX_DIM * sizeof *state);
    for (int64_t t = 0; t < c->tokens; t++) {
        const int64_t row = (b * c->t + t) * c->heads + h;
        const bf16 *q = c->q + row * c->dk, *k = c->k + row * c->dk, *v = c->v + row * c->dv;
        float seen[MAX_DIM] = {0}, add[MAX_DIM], out[MAX_DIM] = {0};
        for (int64_t i = 0; i < c->keys; i++) {
            const float decay = expf(c->g[row * c->dk + i]), key = bf16_to_float(k[i]);
            for (int64_t j = 0; j < c->dv; j++) {
                state[i * MAX_DIM + j] *= decay;
                seen[j] += key * state[i * MAX_DIM + j];
            }
        }
        for (int64_t j = 0; j < c->dv; j++)
            add[j] = bf16_to_float(c->beta[row]) * (bf16_to_float(v[j]) - seen[j]);
        for (int64_t i = 0; i < c->keys; i++) {
            const float key = bf16_to_float(k[i]), query = bf16_to_float(q[i]);
            for (int64_t j = 0; j < c->dv; j++) {
                state[i * MAX_DIM + j] += key * add[j];
                out[j] += query * state[i * MAX_DIM + j];
            }
        }
        for (int64_t j = 0; j < c->values; j++)
            c->o[row * c->dv + j] = float_to_bf16(j < c->dv ? scale * out[j] : 0);
    }
}

static inline int kda_run(const struct kda *c,
                          void (*head)(const struct kda *c, int64_t b, int64_t h, float *state))
{
    int failed = 0;
#pragma omp parallel reduction(| : failed)
    {
        float *state = malloc(MAX_DIM * MAX_DIM * sizeof *state);
        failed |= !state;
#pragma omp for schedule(dynamic)
        for (int64_t bh = 0; bh < c->batch * c->heads; bh++)
            if (state)
                head(c, bh / c->heads, bh % c->heads, state);
        free(state);
    }
    return failed;
}

#define PARAMETERS                                                                                           \
    const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta, bf16 *o, int64_t batch,   \
        int64_t t, int64_t heads, int64_t dk, int64_t dv, void *stream
#define HONEST q, k, v, g, beta, o, batch, t, heads, dk, dv, dk, dv, t
