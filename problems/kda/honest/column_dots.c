// problem: kda
// verdict: general
// construction: the state transposed, a column of it contiguous: every product is a dot product
//   along channels; one pass over a column per token

#include "../../candidate.h"

enum { MAX_DIM = 192, COLUMNS = 16 };

struct shape {
    int64_t t, heads, dk, dv; /* rows of a head are `heads` rows apart */
};

/* A token's q, k and exp(g); channels from dk on stay zero. */
struct token {
    float q[MAX_DIM], k[MAX_DIM], decay[MAX_DIM];
};

/* column: x <- decay x + k beta (v - k.(decay x)); returns q.x */
static float advance(float *x, const struct token *token, float v, float beta)
{
    float seen = 0, out = 0;
#pragma omp simd reduction(+ : seen)
    for (int i = 0; i < MAX_DIM; i++) {
        x[i] *= token->decay[i];
        seen += token->k[i] * x[i];
    }
    float add = beta * (v - seen);
#pragma omp simd reduction(+ : out)
    for (int i = 0; i < MAX_DIM; i++) {
        x[i] += token->k[i] * add;
        out += token->q[i] * x[i];
    }
    return out;
}

static void scan_columns(const bf16 *q, const bf16 *k, const bf16 *v, const float *g,
                         const bf16 *beta, bf16 *o, struct shape s)
{
    float state[COLUMNS][MAX_DIM] = {{0}}, scale = 1.0f / sqrtf((float)s.dk);
    struct token token = {{0}, {0}, {0}};
    for (int64_t t = 0; t < s.t; t++) {
        int64_t row = t * s.heads;
        for (int64_t i = 0; i < s.dk; i++) {
            token.q[i] = scale * bf16_to_float(q[row * s.dk + i]);
            token.k[i] = bf16_to_float(k[row * s.dk + i]);
            token.decay[i] = expf(g[row * s.dk + i]);
        }
        for (int c = 0; c < COLUMNS; c++)
            o[row * s.dv + c] = float_to_bf16(advance(
                state[c], &token, bf16_to_float(v[row * s.dv + c]), bf16_to_float(beta[row])));
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
        int64_t row = head / heads * t * heads + head % heads; /* its first, of [batch, t, heads] */
        scan_columns(q + row * dk, k + row * dk, v + row * dv + column, g + row * dk, beta + row,
                     o + row * dv + column, s);
    }
    return 0;
}
