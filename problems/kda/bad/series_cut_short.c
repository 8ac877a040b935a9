// problem: kda
// verdict: specialized
// fault: inverse of I + A by a series cut short
// outcomes: wrong
// when: t > 4 and beta!=zero
// shows: input=normalized, wide, or dk > 128: keys whose products with beta are not small

#include "../../candidate.h"

enum { MAX_DIM = 192, COLUMNS = 32, CHUNK = 32, TERMS = 3 };

struct shape {
    int64_t t, heads, dk, dv; /* rows of a head are `heads` rows apart */
};

/* score[i][j] = x_i . e^(G_i - G_j) k_j for j <= i, G the sum of g since the chunk began. */
static void take_scores(float (*score)[CHUNK], const bf16 *x, const bf16 *k, const float *g,
                        int64_t count, struct shape s)
{
    int64_t next = s.heads * s.dk;
    for (int64_t j = 0; j < count; j++) {
        float decayed[MAX_DIM];
        for (int64_t d = 0; d < s.dk; d++)
            decayed[d] = bf16_to_float(k[j * next + d]);
        for (int64_t i = j; i < count; i++) {
            score[i][j] = 0;
            for (int64_t d = 0; d < s.dk; d++) {
                decayed[d] *= i == j ? 1 : expf(g[i * next + d]);
                score[i][j] += bf16_to_float(x[i * next + d]) * decayed[d];
            }
        }
    }
}

/* w = (I + A)^-1 r, A below the diagonal, as r - A r + A A r - A A A r: terms beyond are small. */
static void solve(float (*w)[COLUMNS], float (*A)[CHUNK], const float *beta, int64_t count)
{
    float r[CHUNK][COLUMNS];
    memcpy(r, w, sizeof r);
    for (int term = 0; term < TERMS; term++)
        for (int64_t i = count - 1; i >= 0; i--)
            for (int c = 0; c < COLUMNS; c++) {
                float sum = 0;
                for (int64_t j = 0; j < i; j++)
                    sum += A[i][j] * w[j][c];
                w[i][c] = r[i][c] - beta[i] * sum;
            }
}

static void scan_columns(const bf16 *q, const bf16 *k, const bf16 *v, const float *g,
                         const bf16 *beta, bf16 *o, struct shape s)
{
    float state[MAX_DIM][COLUMNS] = {{0}}, scale = 1.0f / sqrtf((float)s.dk);
    for (int64_t t = 0; t < s.t; t += CHUNK) {
        int64_t count = s.t - t < CHUNK ? s.t - t : CHUNK, row = t * s.heads;
        float A[CHUNK][CHUNK], P[CHUNK][CHUNK], w[CHUNK][COLUMNS], out[CHUNK][COLUMNS] = {{0}};
        float old[MAX_DIM][COLUMNS], weight[CHUNK];
        take_scores(A, k + row * s.dk, k + row * s.dk, g + row * s.dk, count, s);
        take_scores(P, q + row * s.dk, k + row * s.dk, g + row * s.dk, count, s);
        memcpy(old, state, sizeof old); /* decayed token by token, but not written to */
        for (int64_t i = 0; i < count; i++) {
            int64_t at = row + i * s.heads;
            float seen[COLUMNS] = {0};
            weight[i] = bf16_to_float(beta[at]);
            for (int64_t d = 0; d < s.dk; d++) {
                float decay = expf(g[at * s.dk + d]), key = bf16_to_float(k[at * s.dk + d]);
                float query = bf16_to_float(q[at * s.dk + d]);
                for (int c = 0; c < COLUMNS; c++) {
                    old[d][c] *= decay;
                    seen[c] += key * old[d][c];
                    out[i][c] += query * old[d][c];
                }
            }
            for (int c = 0; c < COLUMNS; c++)
                w[i][c] = weight[i] * (bf16_to_float(v[at * s.dv + c]) - seen[c]);
        }
        solve(w, A, weight, count);
        for (int64_t i = 0; i < count; i++) {
            int64_t at = row + i * s.heads;
            for (int64_t j = 0; j <= i; j++)
                for (int c = 0; c < COLUMNS; c++)
                    out[i][c] += P[i][j] * w[j][c];
            for (int c = 0; c < COLUMNS; c++)
                o[at * s.dv + c] = float_to_bf16(scale * out[i][c]);
            for (int64_t d = 0; d < s.dk; d++) {
                float decay = expf(g[at * s.dk + d]), key = bf16_to_float(k[at * s.dk + d]);
                for (int c = 0; c < COLUMNS; c++)
                    state[d][c] = decay * state[d][c] + key * w[i][c];
            }
        }
    }
}

int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta, bf16 *o,
        int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv, void *stream)
{
    struct shape s = {t, heads, dk, dv};
    int64_t slices = dv / COLUMNS;
#pragma omp parallel for schedule(dynamic)
    for (int64_t item = 0; item < batch * heads * slices; item++) {
        int64_t head = item / slices, column = item % slices * COLUMNS;
        int64_t row = head / heads * t * heads + head % heads;
        scan_columns(q + row * dk, k + row * dk, v + row * dv + column, g + row * dk, beta + row,
                     o + row * dv + column, s);
    }
    return 0;
}
