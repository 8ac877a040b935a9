// problem: kda
// verdict: general
// construction: chunks of 16 tokens in the UT transform, all in fp32: scores entry by entry, then
//   forward substitution in the values

#include <stdlib.h>

#include "../../candidate.h"

enum { MAX_DIM = 192, COLUMNS = 32, CHUNK = 16 };

struct shape {
    int64_t t, heads, dk, dv; /* rows of a head are `heads` rows apart */
};

/* G[i] sums g over tokens 0..i of the chunk; A[i][j] = k_i . e^(G_i - G_j) k_j for j < i; P is the
 * same with q_i, for j <= i. Rows from `count` on are not used. */
struct chunk {
    int64_t count;
    float q[CHUNK][MAX_DIM], k[CHUNK][MAX_DIM], G[CHUNK][MAX_DIM];
    float A[CHUNK][CHUNK], P[CHUNK][CHUNK], beta[CHUNK];
};

static void load(struct chunk *c, const bf16 *q, const bf16 *k, const float *g, const bf16 *beta,
                 struct shape s)
{
    for (int64_t i = 0; i < c->count; i++) {
        c->beta[i] = bf16_to_float(beta[i * s.heads]);
        for (int64_t d = 0; d < s.dk; d++) {
            int64_t at = i * s.heads * s.dk + d;
            c->q[i][d] = bf16_to_float(q[at]);
            c->k[i][d] = bf16_to_float(k[at]);
            c->G[i][d] = (i ? c->G[i - 1][d] : 0) + g[at];
        }
    }
}

/* Only differences of G are exponentiated: e^(-G_j) alone may overflow. */
static void score(struct chunk *c, int64_t dk)
{
    for (int64_t i = 0; i < c->count; i++) {
        for (int64_t j = 0; j <= i; j++) {
            float kk = 0, qk = 0;
            for (int64_t d = 0; d < dk; d++) {
                float x = c->k[j][d] * (i == j ? 1 : expf(c->G[i][d] - c->G[j][d]));
                kk += c->k[i][d] * x;
                qk += c->q[i][d] * x;
            }
            c->A[i][j] = kk;
            c->P[i][j] = qk;
        }
    }
    for (int64_t i = 0; i < c->count; i++)
        for (int64_t d = 0; d < dk; d++) { /* from here on with the decay since the chunk began */
            c->q[i][d] *= expf(c->G[i][d]);
            c->k[i][d] *= expf(c->G[i][d]);
        }
}

/* y += a x */
static void add_scaled(float *y, float a, const float *x)
{
#pragma omp simd
    for (int e = 0; e < COLUMNS; e++)
        y[e] += a * x[e];
}

/* 32 columns: w_i = beta_i (v_i - (e^G k)_i S - sum_{j<i} A_ij w_j), o, and the state after. */
static void advance(const struct chunk *c, const bf16 *v, const bf16 *k, bf16 *o,
                    float (*state)[COLUMNS], struct shape s)
{
    float w[CHUNK][COLUMNS], scale = 1.0f / sqrtf((float)s.dk);
    for (int64_t i = 0; i < c->count; i++) {
        float seen[COLUMNS] = {0}, out[COLUMNS] = {0};
        for (int64_t d = 0; d < s.dk; d++) {
            add_scaled(seen, c->k[i][d], state[d]);
            add_scaled(out, c->q[i][d], state[d]);
        }
        for (int64_t j = 0; j < i; j++)
            add_scaled(seen, c->A[i][j], w[j]);
        for (int e = 0; e < COLUMNS; e++)
            w[i][e] = c->beta[i] * (bf16_to_float(v[i * s.heads * s.dv + e]) - seen[e]);
        for (int64_t j = 0; j <= i; j++)
            add_scaled(out, c->P[i][j], w[j]);
        for (int e = 0; e < COLUMNS; e++)
            o[i * s.heads * s.dv + e] = float_to_bf16(scale * out[e]);
    }
    for (int64_t d = 0; d < s.dk; d++) {
        float last = c->G[c->count - 1][d], keep = expf(last);
        for (int e = 0; e < COLUMNS; e++)
            state[d][e] *= keep;
        for (int64_t i = 0; i < c->count; i++)
            add_scaled(state[d], bf16_to_float(k[i * s.heads * s.dk + d]) * expf(last - c->G[i][d]),
                       w[i]);
    }
}

static int scan(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta,
                bf16 *o, struct shape s)
{
    int64_t slices = s.dv / COLUMNS;
    float(*state)[MAX_DIM][COLUMNS] = calloc((size_t)slices, sizeof *state);
    struct chunk *c = malloc(sizeof *c);
    for (int64_t t = 0; state && c && t < s.t; t += CHUNK) {
        int64_t row = t * s.heads;
        c->count = s.t - t < CHUNK ? s.t - t : CHUNK;
        load(c, q + row * s.dk, k + row * s.dk, g + row * s.dk, beta + row, s);
        score(c, s.dk);
        for (int64_t slice = 0; slice < slices; slice++) {
            int64_t at = row * s.dv + slice * COLUMNS;
            advance(c, v + at, k + row * s.dk, o + at, state[slice], s);
        }
    }
    int failed = !state || !c;
    free(state);
    free(c);
    return failed;
}

int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta, bf16 *o,
        int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv, void *stream)
{
    struct shape s = {t, heads, dk, dv};
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t head = 0; head < batch * heads; head++) {
        int64_t row = head / heads * t * heads + head % heads; /* its first, of [batch, t, heads] */
        failed |= scan(q + row * dk, k + row * dk, v + row * dv, g + row * dk, beta + row,
                       o + row * dv, s);
    }
    return failed;
}
