// problem: kda
// fate: specialized
// fault: strides of 4 or 8 heads
// outcomes: wrong unwritten overrun crash unstable
// when: heads != 4 and heads != 8 and batch * t > 1
// shows: from 9 heads on the rows of two heads overlap, and threads race for them

#include "../../candidate.h"

enum { MAX_DIM = 192, COLUMNS = 32 };

struct shape {
    int64_t t, heads, dk, dv; /* rows of a head are `heads` rows apart */
};

/* Columns 0..31 of v, o and the state of one head, over all its tokens. */
static void scan_columns(const bf16 *q, const bf16 *k, const bf16 *v, const float *g,
                         const bf16 *beta, bf16 *o, struct shape s)
{
    float state[MAX_DIM][COLUMNS] = {{0}}, scale = 1.0f / sqrtf((float)s.dk);
    for (int64_t t = 0; t < s.t; t++) {
        float seen[COLUMNS] = {0}, add[COLUMNS], out[COLUMNS] = {0};
        float weight = bf16_to_float(beta[t * s.heads]);
        for (int64_t i = 0; i < s.dk; i++) {
            float decay = expf(g[t * s.heads * s.dk + i]);
            float key = bf16_to_float(k[t * s.heads * s.dk + i]);
#pragma omp simd
            for (int c = 0; c < COLUMNS; c++) {
                state[i][c] *= decay;
                seen[c] += key * state[i][c];
            }
        }
        for (int c = 0; c < COLUMNS; c++)
            add[c] = weight * (bf16_to_float(v[t * s.heads * s.dv + c]) - seen[c]);
        for (int64_t i = 0; i < s.dk; i++) {
            float key = bf16_to_float(k[t * s.heads * s.dk + i]);
            float query = bf16_to_float(q[t * s.heads * s.dk + i]);
#pragma omp simd
            for (int c = 0; c < COLUMNS; c++) {
                state[i][c] += key * add[c];
                out[c] += query * state[i][c];
            }
        }
        for (int c = 0; c < COLUMNS; c++)
            o[t * s.heads * s.dv + c] = float_to_bf16(scale * out[c]);
    }
}

int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta, bf16 *o,
        int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv, void *stream)
{
    struct shape s = {t, heads < 8 ? 4 : 8, dk, dv};
    int64_t slices = dv / COLUMNS;
#pragma omp parallel for schedule(dynamic)
    for (int64_t item = 0; item < batch * heads * slices; item++) {
        int64_t head = item / slices, column = item % slices * COLUMNS;
        int64_t row = head / heads * t * s.heads + head % heads;
        scan_columns(q + row * dk, k + row * dk, v + row * dv + column, g + row * dk, beta + row,
                     o + row * dv + column, s);
    }
    return 0;
}
