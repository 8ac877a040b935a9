/* kda with switches, for the host and for kernels. One head goes through its tokens with all lanes of a
 * block, or with the one lane of a host thread. Columns of the state never meet.
 *
 * Symbols of a chunk: G[i] is the sum of g over its tokens 0..i, and S the state before it. A[i][j] = beta_i
 * sum_d k_id k_jd e^(G_id - G_jd) below the diagonal. P[i][j] = sum_d q_id k_jd e^(G_id - G_jd) on and below
 * it. The tokens write V' = (I + A)^-1 diag(beta) (V - (e^G k) S). Then
 *
 *     o = dk^-1/2 ((e^G q) S + P V')   and   S <- e^(G_last) S + (k e^(G_last - G))^T V'
 *
 * Past the end of the sequence k, q, v, g and beta are 0. */
#ifndef UNSEEN_TEST_KDA_H
#define UNSEEN_TEST_KDA_H

#include "kda_sum.h"

/* --- gates --- */

/* e^g, or 2^g where sums of g hold g log2 e. */
KDA_FN float kda_exp(const struct kda_plan *p, float g)
{
    if (p->exponent == EXPONENT_E)
        return expf(g);
    if (p->exponent == EXPONENT_2)
        return exp2f(g);
#ifdef __CUDA_ARCH__
    return __expf(g);
#else
    return keep_bits(expf(g), 22, true);
#endif
}

KDA_FN float kda_gate(const struct kda_plan *p, float g)
{
    if (p->mutant == GATE_CLAMPED)
        g = fmaxf(g, -5);
    if (p->mutant == GATE_BF16)
        g = to_bf16(g);
    return p->exponent == EXPONENT_2 ? g * 1.44269504088896340736f : g;
}

/* sum[i] = gate[0] + .. + gate[i], channel by channel. */
KDA_FN void kda_sum_gates(const struct kda_plan *p, struct kda_work *c, int dk)
{
    KDA_EACH(d, dk)
    {
        double total = 0;
        float serial = 0;
        for (int i = 0; i < p->chunk; i++) {
            total += c->gate[i][d];
            serial += c->gate[i][d];
            c->sum[i][d] = p->gates == GATES_SERIAL   ? serial
                           : p->gates == GATES_DOUBLE ? (float)total
                                                      : c->gate[i][d];
        }
        for (int step = 1; p->gates == GATES_TREE && step < p->chunk; step *= 2)
            for (int i = p->chunk - 1; i >= step; i--)
                c->sum[i][d] += c->sum[i - step][d];
        for (int i = 0; i < p->chunk; i++) {
            if (p->mutant == GATES_BF16)
                c->sum[i][d] = to_bf16(c->sum[i][d]);
            if (p->mutant == GATES_CLAMPED)
                c->sum[i][d] = fmaxf(c->sum[i][d], -20);
        }
    }
    KDA_SYNC();
}

/* --- scores --- */

/* Tokens first..end - 1 of q and k, and those from..to - 1 of k, decayed from and to the point `split`,
 * [dk]. */
KDA_FN void kda_fold(const struct kda_plan *p, struct kda_work *c, const float *split, int first, int end,
                     int from, int to, int dk)
{
    KDA_SYNC();
    KDA_EACH(x, (end - first) * dk)
    {
        const int i = first + x / dk, d = x % dk;
        const float e = kda_exp(p, c->sum[i][d] - (split ? split[d] : 0));
        c->left_q[i][d] = kda_round(p->round_keys, c->q[i][d] * e);
        c->left_k[i][d] = kda_round(p->round_keys, c->k[i][d] * e);
    }
    KDA_EACH(x, (to - from) * dk)
    {
        const int j = from + x / dk, d = x % dk;
        c->right[d][j] =
            kda_round(p->round_keys, c->k[j][d] * kda_exp(p, (split ? split[d] : 0) - c->sum[j][d]));
    }
    KDA_SYNC();
}

KDA_FN void kda_fold_product(const struct kda_plan *p, struct kda_work *c, const float *split, int first,
                             int end, int from, int to, int dk)
{
    if (first >= end || from >= to)
        return;
    kda_fold(p, c, split, first, end, from, to, dk);
    kda_multiply(p, c, &c->a[first][from], KDA_CHUNK, c->left_k[first], KDA_DIM, &c->right[0][from],
                 KDA_CHUNK, end - first, to - from, dk);
    kda_multiply(p, c, &c->p[first][from], KDA_CHUNK, c->left_q[first], KDA_DIM, &c->right[0][from],
                 KDA_CHUNK, end - first, to - from, dk);
}

/* The scores of tokens first..end - 1 with each other, entry by entry, in no matrix unit. */
KDA_FN void kda_entries(const struct kda_plan *p, struct kda_work *c, int first, int end, int dk)
{
    const int n = end - first;
    KDA_EACH(x, n * n)
    {
        const int i = first + x / n, j = first + x % n;
        double aa = 0, pp = 0;
        float a = 0, s = 0;
        for (int d = 0; j <= i && d < dk; d++) {
            const float e = kda_exp(p, c->sum[i][d] - c->sum[j][d]);
            const float kk = c->k[i][d] * e * c->k[j][d], qk = c->q[i][d] * e * c->k[j][d];
            a += kk;
            s += qk;
            aa += kk;
            pp += qk;
        }
        c->a[i][j] = p->sums == SUMS_DOUBLE ? (float)aa : a;
        c->p[i][j] = p->sums == SUMS_DOUBLE ? (float)pp : s;
    }
}

/* Where a whole chunk may be split. At `row` of its sums (-1: before the first) no exponent exceeds 60, so
 * that no product exceeds 2^128. */
KDA_FN bool kda_safe(const struct kda_plan *p, const struct kda_work *c, int row, int dk)
{
    const float most = p->exponent == EXPONENT_2 ? 86 : 60;
    bool safe = true;
    for (int i = 0; i < p->chunk; i++)
        for (int d = 0; d < dk; d++)
            safe = safe && fabsf(c->sum[i][d] - (row < 0 ? 0 : c->sum[row][d])) <= most;
    return safe;
}

KDA_FN void kda_scores(const struct kda_plan *p, struct kda_work *c, int dk)
{
    const int n = p->chunk, row = p->fold == FOLD_START ? -1 : p->fold == FOLD_MIDDLE ? n / 2 : n - 1;
    KDA_EACH(x, n * n)
    c->a[x / n][x % n] = c->p[x / n][x % n] = 0;
    KDA_SYNC();
    if (p->fold == FOLD_ENTRIES) {
        kda_entries(p, c, 0, n, dk);
    } else if (p->fold >= FOLD_START && kda_safe(p, c, row, dk)) {
        kda_fold_product(p, c, row < 0 ? NULL : c->sum[row], 0, n, 0, n, dk);
    } else {
        for (int b = 0; b < n; b += KDA_BLOCK) {
            if (p->fold == FOLD_ENDS)
                kda_fold_product(p, c, c->sum[b + KDA_BLOCK - 1], b + KDA_BLOCK, n, b, b + KDA_BLOCK, dk);
            else
                kda_fold_product(p, c, c->sum[b ? b - 1 : 0], b, b + KDA_BLOCK, 0, b, dk);
            if (p->fold == FOLD_MIDDLES)
                kda_fold_product(p, c, c->sum[b + KDA_BLOCK / 2], b, b + KDA_BLOCK, b, b + KDA_BLOCK, dk);
            else
                kda_entries(p, c, b, b + KDA_BLOCK, dk);
        }
    }
    KDA_SYNC();
}

/* A takes beta and loses its diagonal, P the scale and its rounding. */
KDA_FN void kda_finish_scores(const struct kda_plan *p, struct kda_work *c, float scale)
{
    const int n = p->chunk;
    KDA_EACH(x, n * n)
    {
        const int i = x / n, j = x % n;
        const bool column = (p->beta == BETA_AFTER) != (p->mutant == BETA_OF_COLUMN);
        c->a[i][j] = j < i ? c->a[i][j] * c->beta[column ? j : i] : 0;
        float s = j <= i ? c->p[i][j] : 0;
        if (p->scale == SCALE_SCORES)
            s *= scale;
        if (p->mutant == SCORES_4_BITS)
            s = keep_bits(s, 4, false);
        if (i == j && (p->mutant == DIAGONAL_LOST || (p->mutant == DIAGONAL_TWICE && i == 0)))
            s *= p->mutant == DIAGONAL_LOST ? 0 : 2;
        c->p[i][j] = kda_round(p->round_scores, s);
    }
    KDA_SYNC();
}

/* --- (I + A)^-1 --- */

/* Rows first..end - 1 from each other; with no other rows, of I + A's block there. */
KDA_FN void kda_substitute(struct kda_work *c, int first, int end)
{
    KDA_EACH(x, end - first)
    {
        const int col = first + x;
        for (int i = first; i < end; i++) {
            float sum = i == col;
            for (int j = col; j < i; j++)
                sum -= c->a[i][j] * c->inverse[j][col];
            c->inverse[i][col] = i < col ? 0 : sum;
        }
    }
    KDA_SYNC();
}

/* dst = a b, [n, n], operands rounded where that is chosen; or a + a b with `more`. */
KDA_FN void kda_square(const struct kda_plan *p, struct kda_work *c, float (*dst)[KDA_CHUNK],
                       float (*a)[KDA_CHUNK], float (*b)[KDA_CHUNK], bool more)
{
    const int n = p->chunk;
    KDA_EACH(x, n * n)
    {
        const int i = x / n, j = x % n;
        c->one[i][j] = kda_round(p->round_inverse, a[i][j]);
        c->two[i][j] = kda_round(p->round_inverse, b[i][j]);
    }
    KDA_SYNC();
    KDA_EACH(x, n * n)
    dst[x / n][x % n] = more ? a[x / n][x % n] : 0;
    kda_multiply(p, c, dst[0], KDA_CHUNK, c->one[0], KDA_CHUNK, c->two[0], KDA_CHUNK, n, n, n);
}

/* (I - A)(I + A^2)(I + A^4) .. up to A^(terms - 1). */
KDA_FN void kda_double(const struct kda_plan *p, struct kda_work *c, int terms)
{
    const int n = p->chunk;
    KDA_EACH(x, n * n)
    {
        const int i = x / n, j = x % n;
        c->inverse[i][j] = (float)(i == j) - c->a[i][j];
        c->power[i][j] = c->a[i][j];
    }
    KDA_SYNC();
    for (int have = 2; have < terms; have *= 2) {
        kda_square(p, c, c->power, c->power, c->power, false);
        kda_square(p, c, c->inverse, c->inverse, c->power, true);
    }
}

/* Blocks of 16 on the diagonal, then those below: T_IJ = -T_II sum_K A_IK T_KJ. */
KDA_FN void kda_invert_blocks(const struct kda_plan *p, struct kda_work *c)
{
    const int n = p->chunk, b = KDA_BLOCK;
    KDA_EACH(x, n * n)
    {
        c->inverse[x / n][x % n] = 0;
        c->one[x / n][x % n] = kda_round(p->round_inverse, -c->a[x / n][x % n]);
    }
    KDA_SYNC();
    for (int i = 0; i < n; i += b)
        kda_substitute(c, i, i + b);
    for (int i = b; i < n; i += b) {
        KDA_EACH(x, n * n)
        c->two[x / n][x % n] = kda_round(p->round_inverse, c->inverse[x / n][x % n]);
        KDA_EACH(x, b * i)
        c->power[x / i][x % i] = 0;
        kda_multiply(p, c, c->power[0], KDA_CHUNK, c->one[i], KDA_CHUNK, c->two[0], KDA_CHUNK, b, i, i);
        KDA_EACH(x, b * i)
        c->power[x / i][x % i] = kda_round(p->round_inverse, c->power[x / i][x % i]);
        kda_multiply(p, c, c->inverse[i], KDA_CHUNK, &c->two[i][i], KDA_CHUNK, c->power[0], KDA_CHUNK, b, i,
                     b);
    }
}

/* `tail`: the chunk is not whole. */
KDA_FN void kda_invert(const struct kda_plan *p, struct kda_work *c, bool tail)
{
    const int n = p->chunk;
    const int series = p->mutant == SERIES_4    ? 4
                       : p->mutant == SERIES_8  ? 8
                       : p->mutant == SERIES_16 ? 16
                                                : 0;
    if (series || p->inverse == INVERSE_DOUBLING)
        kda_double(p, c, series ? series : n);
    else if (p->inverse == INVERSE_BLOCKS)
        kda_invert_blocks(p, c);
    else
        kda_substitute(c, 0, n);
    KDA_EACH(x, n * n)
    {
        const float b = p->beta == BETA_INVERSE ? c->beta[x % n] : 1;
        const float there = p->mutant == TAIL_UNSOLVED && tail ? x / n == x % n : c->inverse[x / n][x % n];
        c->inverse[x / n][x % n] = kda_round(p->round_inverse, there * b);
    }
    KDA_SYNC();
}

/* dst = (I + A)^-1 src, both [chunk, n]: by the inverse, or row by row from A. */
KDA_FN void kda_solve(const struct kda_plan *p, struct kda_work *c, float (*dst)[KDA_DIM],
                      float (*src)[KDA_DIM], int n)
{
    KDA_SYNC();
    if (p->inverse == INVERSE_SOLVE && p->mutant == HONEST && p->beta != BETA_INVERSE) {
        KDA_EACH(x, (n + KDA_WIDE - 1) / KDA_WIDE)
        {
            const int wide = n - x * KDA_WIDE < KDA_WIDE ? n - x * KDA_WIDE : KDA_WIDE;
            float sum[KDA_WIDE];
            for (int i = 0; i < p->chunk; i++) {
                for (int j = 0; j < wide; j++)
                    sum[j] = 0;
                kda_sum(p, sum, c->a[i], &dst[0][x * KDA_WIDE], KDA_DIM, i, wide);
                for (int j = 0; j < wide; j++)
                    dst[i][x * KDA_WIDE + j] = src[i][x * KDA_WIDE + j] - sum[j];
            }
        }
        KDA_SYNC();
        return;
    }
    KDA_EACH(x, p->chunk * n)
    dst[x / n][x % n] = 0;
    kda_multiply(p, c, dst[0], KDA_DIM, c->inverse[0], KDA_CHUNK, src[0], KDA_DIM, p->chunk, n, p->chunk);
}

#include "kda_tokens.h"

#endif
