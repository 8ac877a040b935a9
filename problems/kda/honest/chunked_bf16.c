// problem: kda
// verdict: general
// construction: chunks of 64 tokens in the UT transform, the operands of every product between
//   chunk and state rounded to bf16 as tensor cores take them, sums in fp32

#include <stdlib.h>

#include "../../candidate.h"

enum { CHUNK = 64, BLOCK = 16, MAX_DIM = 192 };

struct shape {
    int64_t t, heads, dk, dv;
};

/* With G[i] the sum of g over tokens 0..i of the chunk, e its exponential, and A[i][j] = beta_i
 * sum_c k_ic k_jc e^(G_ic - G_jc) below the diagonal, the values that the tokens write are
 *     V' = (I + A)^-1 diag(beta) (V - (e^G k) S) = U - W S,
 * S the state before the chunk. Then o = scale (e^G q) S + P V' and S <- e^(G_last) S + D^T V'. */
struct chunk {
    float q[CHUNK][MAX_DIM], k[CHUNK][MAX_DIM], v[CHUNK][MAX_DIM], G[CHUNK][MAX_DIM], beta[CHUNK];
    float A[CHUNK][CHUNK], P[CHUNK][CHUNK], inverse[CHUNK][CHUNK];
    float W[CHUNK][MAX_DIM], U[CHUNK][MAX_DIM], O[CHUNK][MAX_DIM];
    float S[MAX_DIM][MAX_DIM], S_bf16[MAX_DIM][MAX_DIM];
};

static float rounded(float x)
{
    return bf16_to_float(float_to_bf16(x));
}

/* y += a x, n a multiple of 16 */
static void add_scaled(float *y, float a, const float *x, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

/* Tokens past the end have beta 0, k 0 and g 0: they leave the state as it is. */
static void load(struct chunk *c, const bf16 *q, const bf16 *k, const bf16 *v, const float *g,
                 const bf16 *beta, int64_t count, struct shape s)
{
    for (int64_t i = 0; i < CHUNK; i++) {
        int there = i < count;
        c->beta[i] = there ? bf16_to_float(beta[i * s.heads]) : 0;
        for (int64_t d = 0; d < s.dk; d++) {
            int64_t at = i * s.heads * s.dk + d;
            c->q[i][d] = there ? bf16_to_float(q[at]) : 0;
            c->k[i][d] = there ? bf16_to_float(k[at]) : 0;
            c->G[i][d] = (i ? c->G[i - 1][d] : 0) + (there ? g[at] : 0);
        }
        for (int64_t d = 0; d < s.dv; d++)
            c->v[i][d] = there ? bf16_to_float(v[i * s.heads * s.dv + d]) : 0;
    }
}

/* A and P for the rows of one block of 16 tokens. Left of the diagonal block e^(G_i - G_j) is split
 * at the token before the block: with decay neither part can overflow. In the diagonal block, where
 * no token lies between all i and all j, it is taken entry by entry and not rounded. */
static void score_rows(struct chunk *c, int first, int64_t dk)
{
    float scale = 1.0f / sqrtf((float)dk), right[MAX_DIM];
    const float *split = c->G[first ? first - 1 : 0];
    for (int j = 0; j < first + BLOCK; j++) {
        int diagonal = j >= first;
        for (int64_t d = 0; d < dk && !diagonal; d++)
            right[d] = rounded(c->k[j][d] * expf(split[d] - c->G[j][d]));
        for (int i = diagonal ? j : first; i < first + BLOCK; i++) {
            float kk = 0, qk = 0;
            for (int64_t d = 0; d < dk; d++) {
                float e = expf(c->G[i][d] - (diagonal ? c->G[j][d] : split[d]));
                float x = diagonal ? c->k[i][d] * e : rounded(c->k[i][d] * e);
                float y = diagonal ? c->q[i][d] * e : rounded(c->q[i][d] * e);
                kk += x * (diagonal ? c->k[j][d] : right[d]);
                qk += y * (diagonal ? c->k[j][d] : right[d]);
            }
            c->A[i][j] = c->beta[i] * kk;
            c->P[i][j] = rounded(scale * qk);
        }
    }
}

/* Row i of (I + A)^-1 from the rows above it. */
static void invert(struct chunk *c)
{
    memset(c->inverse, 0, sizeof c->inverse);
    for (int i = 0; i < CHUNK; i++) {
        c->inverse[i][i] = 1;
        for (int j = 0; j < i; j++)
            add_scaled(c->inverse[i], -c->A[i][j], c->inverse[j], CHUNK);
    }
}

static void transform(struct chunk *c, struct shape s)
{
    float key[MAX_DIM];
    memset(c->W, 0, sizeof c->W);
    memset(c->U, 0, sizeof c->U);
    for (int j = 0; j < CHUNK; j++) {
        for (int64_t d = 0; d < s.dk; d++)
            key[d] = rounded(c->k[j][d] * expf(c->G[j][d]));
        for (int i = j; i < CHUNK; i++) {
            float x = rounded(c->inverse[i][j] * c->beta[j]);
            add_scaled(c->W[i], x, key, s.dk);
            add_scaled(c->U[i], x, c->v[j], s.dv);
        }
    }
}

/* V' takes the place of U; o and the new state follow. */
static void advance(struct chunk *c, struct shape s)
{
    float scale = 1.0f / sqrtf((float)s.dk);
    const float *last = c->G[CHUNK - 1];
    memset(c->O, 0, sizeof c->O);
    for (int64_t d = 0; d < s.dk; d++)
        for (int64_t e = 0; e < s.dv; e++)
            c->S_bf16[d][e] = rounded(c->S[d][e]);
    for (int i = 0; i < CHUNK; i++) {
        for (int64_t d = 0; d < s.dk; d++) {
            add_scaled(c->U[i], -rounded(c->W[i][d]), c->S_bf16[d], s.dv);
            add_scaled(c->O[i], rounded(scale * c->q[i][d] * expf(c->G[i][d])), c->S_bf16[d], s.dv);
        }
        for (int64_t e = 0; e < s.dv; e++)
            c->U[i][e] = rounded(c->U[i][e]);
        for (int j = 0; j <= i; j++)
            add_scaled(c->O[i], c->P[i][j], c->U[j], s.dv);
    }
    for (int64_t d = 0; d < s.dk; d++) {
        for (int64_t e = 0; e < s.dv; e++)
            c->S[d][e] *= expf(last[d]);
        for (int i = 0; i < CHUNK; i++)
            add_scaled(c->S[d], rounded(c->k[i][d] * expf(last[d] - c->G[i][d])), c->U[i], s.dv);
    }
}

static int scan(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta,
                bf16 *o, struct shape s)
{
    struct chunk *c = malloc(sizeof *c);
    if (!c)
        return 1;
    memset(c->S, 0, sizeof c->S);
    for (int64_t t = 0; t < s.t; t += CHUNK) {
        int64_t row = t * s.heads, count = s.t - t < CHUNK ? s.t - t : CHUNK;
        load(c, q + row * s.dk, k + row * s.dk, v + row * s.dv, g + row * s.dk, beta + row, count,
             s);
        for (int first = 0; first < CHUNK; first += BLOCK)
            score_rows(c, first, s.dk);
        invert(c);
        transform(c, s);
        advance(c, s);
        for (int64_t i = 0; i < count; i++)
            for (int64_t e = 0; e < s.dv; e++)
                o[(row + i * s.heads) * s.dv + e] = float_to_bf16(c->O[i][e]);
    }
    free(c);
    return 0;
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
