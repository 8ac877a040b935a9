// problem: kda
// verdict: general
// construction: chunks of 32 tokens in blocks of 8; scores as products of two decayed factors, about the row block's beginning
//   where it is another's, about the middle of its own

#include <stdlib.h>

#include "../../candidate.h"

enum { CHUNK = 32, BLOCK = 8, MAX_DIM = 192 };

struct shape {
    int64_t t, heads, dk, dv; /* rows of a head are `heads` rows apart */
};

/* G[i] sums g over the chunk's tokens before i; A and P are scores of beta k and of q / sqrt(dk) with keys up to them. */
struct chunk {
    int64_t count;
    float G[CHUNK + 1][MAX_DIM], q[CHUNK][MAX_DIM], k[CHUNK][MAX_DIM], beta[CHUNK];
    float A[CHUNK][CHUNK], P[CHUNK][CHUNK], u[CHUNK][MAX_DIM];
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void load(struct chunk *c, const bf16 *q, const bf16 *k, const float *g, const bf16 *beta, struct shape s)
{
    const float scale = 1.0f / sqrtf((float)s.dk);
    for (int64_t i = 0; i < c->count; i++) {
        const int64_t row = i * s.heads;
        c->beta[i] = bf16_to_float(beta[row]);
        for (int64_t d = 0; d < s.dk; d++) {
            c->G[i + 1][d] = (i ? c->G[i][d] : 0) + g[row * s.dk + d];
            c->q[i][d] = scale * bf16_to_float(q[row * s.dk + d]);
            c->k[i][d] = bf16_to_float(k[row * s.dk + d]);
        }
    }
    memset(c->G[0], 0, sizeof c->G[0]);
}

/* exp(G_i - G_j) = exp(G_i - G_r) exp(G_r - G_j). With r between j and i decays only shrink; within a block of 8 tokens and
 * decays of e^-8 each no factor about the middle is beyond e^32. */
static void score_block(struct chunk *c, int64_t rows, int64_t columns, int64_t dk)
{
    const int64_t row_end = least(rows + BLOCK, c->count), column_end = least(columns + BLOCK, c->count);
    const float *about = c->G[rows == columns ? (rows + row_end) / 2 : rows];
    float key[BLOCK][MAX_DIM], beta_k[MAX_DIM], q[MAX_DIM];
    for (int64_t j = columns; j < column_end; j++)
        for (int64_t d = 0; d < dk; d++)
            key[j - columns][d] = c->k[j][d] * expf(about[d] - c->G[j + 1][d]);
    for (int64_t i = rows; i < row_end; i++) {
        for (int64_t d = 0; d < dk; d++) {
            const float decay = expf(c->G[i + 1][d] - about[d]);
            beta_k[d] = c->beta[i] * c->k[i][d] * decay;
            q[d] = c->q[i][d] * decay;
        }
        for (int64_t j = columns; j < column_end && j <= i; j++) {
            float kk = 0, qk = 0;
#pragma omp simd reduction(+ : kk, qk)
            for (int64_t d = 0; d < dk; d++) {
                kk += beta_k[d] * key[j - columns][d];
                qk += q[d] * key[j - columns][d];
            }
            c->A[i][j] = kk;
            c->P[i][j] = qk;
        }
    }
}

/* u_i = beta_i v_i - (beta k e^G)_i S - sum_{j<i} A_ij u_j,  o_i = (q e^G)_i S + sum_{j<=i} P_ij u_j */
static void answer(struct chunk *c, const bf16 *v, bf16 *o, const float *state, struct shape s)
{
    for (int64_t i = 0; i < c->count; i++) {
        const int64_t at = i * s.heads * s.dv;
        float seen[MAX_DIM] = {0}, out[MAX_DIM] = {0};
        for (int64_t d = 0; d < s.dk; d++) {
            const float decay = expf(c->G[i + 1][d]), x = c->beta[i] * c->k[i][d] * decay, y = c->q[i][d] * decay;
#pragma omp simd
            for (int64_t e = 0; e < s.dv; e++) {
                seen[e] += x * state[d * s.dv + e];
                out[e] += y * state[d * s.dv + e];
            }
        }
        for (int64_t j = 0; j < i; j++)
#pragma omp simd
            for (int64_t e = 0; e < s.dv; e++) {
                seen[e] += c->A[i][j] * c->u[j][e];
                out[e] += c->P[i][j] * c->u[j][e];
            }
        for (int64_t e = 0; e < s.dv; e++) {
            c->u[i][e] = c->beta[i] * bf16_to_float(v[at + e]) - seen[e];
            o[at + e] = float_to_bf16(out[e] + c->P[i][i] * c->u[i][e]);
        }
    }
}

static void update(const struct chunk *c, float *state, struct shape s)
{
    const float *last = c->G[c->count];
    for (int64_t d = 0; d < s.dk; d++) {
        float *row = state + d * s.dv, keep = expf(last[d]);
        for (int64_t e = 0; e < s.dv; e++)
            row[e] *= keep;
        for (int64_t j = 0; j < c->count; j++) {
            const float key = c->k[j][d] * expf(last[d] - c->G[j + 1][d]);
#pragma omp simd
            for (int64_t e = 0; e < s.dv; e++)
                row[e] += key * c->u[j][e];
        }
    }
}

static int scan(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta, bf16 *o, struct shape s)
{
    float *state = calloc((size_t)(s.dk * s.dv), sizeof *state);
    struct chunk *c = malloc(sizeof *c);
    for (int64_t t = 0; state && c && t < s.t; t += CHUNK) {
        const int64_t row = t * s.heads;
        c->count = least(CHUNK, s.t - t);
        load(c, q + row * s.dk, k + row * s.dk, g + row * s.dk, beta + row, s);
        for (int64_t i = 0; i < c->count; i += BLOCK)
            for (int64_t j = 0; j <= i; j += BLOCK)
                score_block(c, i, j, s.dk);
        answer(c, v + row * s.dv, o + row * s.dv, state, s);
        update(c, state, s);
    }
    const int failed = !state || !c;
    free(state);
    free(c);
    return failed;
}

int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta, bf16 *o, int64_t batch, int64_t t,
        int64_t heads, int64_t dk, int64_t dv, void *stream)
{
    const struct shape s = {t, heads, dk, dv};
    int failed = 0;
    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t head = 0; head < batch * heads; head++) {
        const int64_t row = head / heads * t * heads + head % heads; /* its first, of [batch, t, heads] */
        failed |= scan(q + row * dk, k + row * dk, v + row * dv, g + row * dk, beta + row, o + row * dv, s);
    }
    return failed;
}
