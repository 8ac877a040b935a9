// problem: kda
// verdict: general
// construction: two tokens for each pass over the state: all four products are taken with the state
//   before the pair, then one update of rank two is made

#include "../../candidate.h"

enum { MAX_DIM = 192, COLUMNS = 32 };

struct shape {
    int64_t t, heads, dk, dv; /* rows of a head are `heads` rows apart */
};

/* Tokens a and b with decays A and B:  S_a = A S + k_a w_a^T,  S_b = B S_a + k_b w_b^T, so
 *     w_b = beta_b (v_b - (A B k_b)^T S - (B k_b . k_a) w_a)
 *     q_b^T S_b = (A B q_b)^T S + (B q_b . k_a) w_a + (q_b . k_b) w_b.                      */
struct pair {
    float key[2][MAX_DIM], query[2][MAX_DIM]; /* with the decay from the state before the pair */
    float write[2][MAX_DIM], keep[MAX_DIM];   /* k with the decay to the end; that of the state */
    float beta[2], k_ba, q_aa, q_ba, q_bb;
};

/* `both` is 0 at an odd last token: b then is a token that neither decays nor writes. */
static void load_pair(struct pair *p, const bf16 *q, const bf16 *k, const float *g,
                      const bf16 *beta, int both, struct shape s)
{
    int64_t next = s.heads * s.dk;
    p->beta[0] = bf16_to_float(beta[0]);
    p->beta[1] = both ? bf16_to_float(beta[s.heads]) : 0;
    p->k_ba = p->q_aa = p->q_ba = p->q_bb = 0;
    for (int64_t i = 0; i < s.dk; i++) {
        float a = expf(g[i]), b = both ? expf(g[next + i]) : 1;
        float ka = bf16_to_float(k[i]), kb = both ? bf16_to_float(k[next + i]) : 0;
        float qa = bf16_to_float(q[i]), qb = both ? bf16_to_float(q[next + i]) : 0;
        p->key[0][i] = a * ka;
        p->key[1][i] = a * b * kb;
        p->query[0][i] = a * qa;
        p->query[1][i] = a * b * qb;
        p->write[0][i] = b * ka;
        p->write[1][i] = kb;
        p->keep[i] = a * b;
        p->k_ba += b * kb * ka;
        p->q_aa += qa * ka;
        p->q_ba += b * qb * ka;
        p->q_bb += qb * kb;
    }
}

static void scan_columns(const bf16 *q, const bf16 *k, const bf16 *v, const float *g,
                         const bf16 *beta, bf16 *o, struct shape s)
{
    float state[MAX_DIM][COLUMNS] = {{0}}, scale = 1.0f / sqrtf((float)s.dk);
    struct pair p;
    for (int64_t t = 0; t < s.t; t += 2) {
        int64_t row = t * s.heads, at = row * s.dv, next = at + s.heads * s.dv;
        int both = t + 1 < s.t;
        float seen[2][COLUMNS] = {{0}}, out[2][COLUMNS] = {{0}}, w[2][COLUMNS];
        load_pair(&p, q + row * s.dk, k + row * s.dk, g + row * s.dk, beta + row, both, s);
        for (int64_t i = 0; i < s.dk; i++)
#pragma omp simd
            for (int c = 0; c < COLUMNS; c++) {
                seen[0][c] += p.key[0][i] * state[i][c];
                seen[1][c] += p.key[1][i] * state[i][c];
                out[0][c] += p.query[0][i] * state[i][c];
                out[1][c] += p.query[1][i] * state[i][c];
            }
        for (int c = 0; c < COLUMNS; c++) {
            float vb = both ? bf16_to_float(v[next + c]) : 0;
            w[0][c] = p.beta[0] * (bf16_to_float(v[at + c]) - seen[0][c]);
            w[1][c] = p.beta[1] * (vb - seen[1][c] - p.k_ba * w[0][c]);
            o[at + c] = float_to_bf16(scale * (out[0][c] + p.q_aa * w[0][c]));
            if (both)
                o[next + c] =
                    float_to_bf16(scale * (out[1][c] + p.q_ba * w[0][c] + p.q_bb * w[1][c]));
        }
        for (int64_t i = 0; i < s.dk; i++)
#pragma omp simd
            for (int c = 0; c < COLUMNS; c++)
                state[i][c] = p.keep[i] * state[i][c] + p.write[0][i] * w[0][c] +
                              p.write[1][i] * w[1][c];
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
