// problem: kda
// verdict: general
// construction: the recurrence token by token in double, 16 columns of the state at a time

#include "../../candidate.h"

enum { MAX_DIM = 192, COLUMNS = 16 };

struct shape {
    int64_t t, heads, dk, dv; /* rows of a head are `heads` rows apart */
};

static void scan_columns(const bf16 *q, const bf16 *k, const bf16 *v, const float *g,
                         const bf16 *beta, bf16 *o, struct shape s)
{
    double state[MAX_DIM][COLUMNS] = {{0}}, scale = 1 / sqrt((double)s.dk);
    for (int64_t t = 0; t < s.t; t++) {
        double seen[COLUMNS] = {0}, add[COLUMNS], out[COLUMNS] = {0};
        double weight = bf16_to_float(beta[t * s.heads]);
        for (int64_t i = 0; i < s.dk; i++) {
            double decay = exp(g[t * s.heads * s.dk + i]);
            double key = bf16_to_float(k[t * s.heads * s.dk + i]);
#pragma omp simd
            for (int c = 0; c < COLUMNS; c++) {
                state[i][c] *= decay;
                seen[c] += key * state[i][c];
            }
        }
        for (int c = 0; c < COLUMNS; c++)
            add[c] = weight * (bf16_to_float(v[t * s.heads * s.dv + c]) - seen[c]);
        for (int64_t i = 0; i < s.dk; i++) {
            double key = bf16_to_float(k[t * s.heads * s.dk + i]);
            double query = bf16_to_float(q[t * s.heads * s.dk + i]);
#pragma omp simd
            for (int c = 0; c < COLUMNS; c++) {
                state[i][c] += key * add[c];
                out[c] += query * state[i][c];
            }
        }
        for (int c = 0; c < COLUMNS; c++)
            o[t * s.heads * s.dv + c] = float_to_bf16((float)(scale * out[c]));
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
