/* kda with switches, for the host and for kernels. One head goes through its tokens with all lanes of a block, or
 * with the one lane of a host thread, at it; columns of the state never meet.
 *
 * In a chunk, with G[i] the sum of g over its tokens 0..i, A[i][j] = beta_i sum_d k_id k_jd e^(G_id - G_jd) below
 * the diagonal and S the state before it, the tokens write V' = (I + A)^-1 diag(beta) (V - (e^G k) S); then
 *     o = dk^-1/2 ((e^G q) S + P V')   and   S <- e^(G_last) S + (k e^(G_last - G))^T V',
 * P[i][j] = sum_d q_id k_jd e^(G_id - G_jd) on and below the diagonal. Past the end of the sequence k, q, v, g and
 * beta are 0. */
#ifndef UNSEEN_TEST_KDA_H
#define UNSEEN_TEST_KDA_H

#include "kda_plan.h"

#ifdef __CUDACC__
#define KDA_FN static __device__
#define KDA_EACH(i, n) for (int i = (int)threadIdx.x; i < (n); i += (int)blockDim.x)
#define KDA_SYNC() __syncthreads()
#define KDA_SIDE_BY_SIDE
enum { KDA_WIDE = 1 }; /* columns of a product that one lane forms side by side */
#else
#define KDA_FN static inline __attribute__((unused))
#define KDA_EACH(i, n) for (int i = 0; i < (n); i++)
#define KDA_SYNC() ((void)0)
#define KDA_SIDE_BY_SIDE _Pragma("omp simd")
enum { KDA_WIDE = 64 };
#endif

enum { KDA_CHUNK = 128, KDA_DIM = 192, KDA_BLOCK = 16 };

/* What one head needs. Everything but the state belongs to a chunk, whose tokens are rows. */
struct kda_work {
    float q[KDA_CHUNK][KDA_DIM], k[KDA_CHUNK][KDA_DIM], v[KDA_CHUNK][KDA_DIM], gate[KDA_CHUNK][KDA_DIM];
    float sum[KDA_CHUNK][KDA_DIM], beta[KDA_CHUNK];
    float left_q[KDA_CHUNK][KDA_DIM], left_k[KDA_CHUNK][KDA_DIM], right[KDA_DIM][KDA_CHUNK];
    float a[KDA_CHUNK][KDA_CHUNK], p[KDA_CHUNK][KDA_CHUNK], inverse[KDA_CHUNK][KDA_CHUNK];
    float power[KDA_CHUNK][KDA_CHUNK], one[KDA_CHUNK][KDA_CHUNK], two[KDA_CHUNK][KDA_CHUNK];
    float keys[KDA_CHUNK][KDA_DIM], w[KDA_CHUNK][KDA_DIM];   /* e^G k, and W */
    float values[KDA_CHUNK][KDA_DIM], u[KDA_CHUNK][KDA_DIM]; /* what V' is solved from, and V' */
    float out[KDA_CHUNK][KDA_DIM];
    float state[KDA_DIM][KDA_DIM], add[KDA_DIM][KDA_DIM]; /* the state as an operand; what a chunk adds */
    double carried[KDA_DIM][KDA_DIM];                     /* the state between chunks */
#ifdef __CUDACC__
    __nv_bfloat16 left16[KDA_DIM * KDA_DIM], right16[KDA_DIM * KDA_DIM];
#endif
};

/* One head: its tensors' first rows; row r of the head lies r * heads rows further. */
struct kda_head {
    const uint16_t *q, *k, *v, *beta;
    const float *g;
    uint16_t *o;
    double *unrounded;       /* or NULL */
    int64_t t, heads, first; /* `first`: o's first element, among all */
    int dk, dv;
};

KDA_FN float kda_bf16(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

KDA_FN float kda_round(bool round, float x)
{
    return round ? to_bf16(x) : x;
}

/* --- sums --- */

KDA_FN float kda_cut(const struct kda_plan *p, float x)
{
    return p->mutant == SUM_FP16 || p->mutant == SUM_FP16_16 || p->mutant == SUM_FP16_CHUNK
               ? to_fp16(x)
               : keep_bits(x, p->kept, false);
}

/* dst[j] += sum_l a[l] b[l][j] over l < k, for `wide` <= KDA_WIDE columns j; b's rows are `row` apart. */
KDA_FN void kda_sum_serial(const struct kda_plan *p, float *dst, const float *a, const float *b, int row,
                           int k, int wide)
{
    float sum[KDA_WIDE];
    for (int j = 0; j < wide; j++)
        sum[j] = dst[j];
    for (int n = 0; n < k; n++) {
        const int l = p->sums == SUMS_REVERSED ? k - 1 - n : n;
        const float x = a[l];
        const float *y = b + (int64_t)l * row;
        KDA_SIDE_BY_SIDE
        for (int j = 0; j < wide; j++)
            sum[j] += x * y[j];
        for (int j = 0; p->period && (n % p->period == p->period - 1 || n == k - 1) && j < wide; j++)
            sum[j] = kda_cut(p, sum[j]);
    }
    for (int j = 0; j < wide; j++)
        dst[j] = sum[j];
}

/* Even and odd terms apart. */
KDA_FN void kda_sum_halves(float *dst, const float *a, const float *b, int row, int k, int wide)
{
    float sum[2][KDA_WIDE];
    for (int j = 0; j < wide; j++)
        sum[0][j] = sum[1][j] = 0;
    for (int l = 0; l < k; l++) {
        const float x = a[l];
        const float *y = b + (int64_t)l * row;
        KDA_SIDE_BY_SIDE
        for (int j = 0; j < wide; j++)
            sum[l % 2][j] += x * y[j];
    }
    for (int j = 0; j < wide; j++)
        dst[j] += sum[0][j] + sum[1][j];
}

KDA_FN void kda_sum_double(float *dst, const float *a, const float *b, int row, int k, int wide)
{
    double sum[KDA_WIDE];
    for (int j = 0; j < wide; j++)
        sum[j] = dst[j];
    for (int l = 0; l < k; l++) {
        const double x = a[l];
        const float *y = b + (int64_t)l * row;
        KDA_SIDE_BY_SIDE
        for (int j = 0; j < wide; j++)
            sum[j] += x * (double)y[j];
    }
    for (int j = 0; j < wide; j++)
        dst[j] = (float)sum[j];
}

/* A matrix unit's, 16 products a step; kernels have the real one, in kda_multiply. */
KDA_FN void kda_sum_matrix(float *dst, const float *a, const float *b, int row, int k, int wide)
{
    for (int j = 0; j < wide; j++) {
        double sum = dst[j], product[16];
        for (int l = 0; l < k; l += 16) {
            const int count = k - l < 16 ? k - l : 16;
            for (int n = 0; n < count; n++)
                product[n] = (double)a[l + n] * (double)b[(int64_t)(l + n) * row + j];
            sum = matrix_step(sum, product, count, 25, 23);
        }
        dst[j] = (float)sum;
    }
}

/* As above for any number of columns. */
KDA_FN void kda_sum(const struct kda_plan *p, float *dst, const float *a, const float *b, int row, int k,
                    int n)
{
    for (int j = 0; j < n; j += KDA_WIDE) {
        const int wide = n - j < KDA_WIDE ? n - j : KDA_WIDE;
        if (p->sums == SUMS_HALVES)
            kda_sum_halves(dst + j, a, b + j, row, k, wide);
        else if (p->sums == SUMS_DOUBLE)
            kda_sum_double(dst + j, a, b + j, row, k, wide);
        else if (p->sums == SUMS_MATRIX)
            kda_sum_matrix(dst + j, a, b + j, row, k, wide);
        else
            kda_sum_serial(p, dst + j, a, b + j, row, k, wide);
    }
}

#ifdef __CUDACC__

/* dst += a b on the matrix units, a tile of 16 x 16 a warp; extents are multiples of 16, operands bf16 already. */
KDA_FN void kda_multiply_matrix(struct kda_work *c, float *dst, int dst_row, const float *a, int a_row,
                                const float *b, int b_row, int m, int n, int k)
{
    using namespace nvcuda;
    KDA_EACH(i, m * k)
    c->left16[i] = __float2bfloat16_rn(a[i / k * a_row + i % k]);
    KDA_EACH(i, k * n)
    c->right16[i] = __float2bfloat16_rn(b[i / n * b_row + i % n]);
    KDA_SYNC();
    for (int tile = (int)threadIdx.x / 32; tile < m / 16 * (n / 16); tile += (int)blockDim.x / 32) {
        const int i = tile / (n / 16) * 16, j = tile % (n / 16) * 16;
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
        wmma::load_matrix_sync(sum, dst + i * dst_row + j, (unsigned)dst_row, wmma::mem_row_major);
        for (int l = 0; l < k; l += 16) {
            wmma::load_matrix_sync(left, c->left16 + i * k + l, (unsigned)k);
            wmma::load_matrix_sync(right, c->right16 + l * n + j, (unsigned)n);
            wmma::mma_sync(sum, left, right, sum);
        }
        wmma::store_matrix_sync(dst + i * dst_row + j, sum, (unsigned)dst_row, wmma::mem_row_major);
    }
    KDA_SYNC();
}

#endif

/* dst [m, n] += a [m, k] b [k, n], their rows dst_row, a_row and b_row apart. */
KDA_FN void kda_multiply(const struct kda_plan *p, struct kda_work *c, float *dst, int dst_row,
                         const float *a, int a_row, const float *b, int b_row, int m, int n, int k)
{
    const int parts = (n + KDA_WIDE - 1) / KDA_WIDE;
    KDA_SYNC();
#ifdef __CUDACC__
    if (p->sums == SUMS_MATRIX) {
        kda_multiply_matrix(c, dst, dst_row, a, a_row, b, b_row, m, n, k);
        return;
    }
#endif
    (void)c;
    KDA_EACH(x, m * parts)
    {
        const int i = x / parts, j = x % parts * KDA_WIDE, wide = n - j < KDA_WIDE ? n - j : KDA_WIDE;
        kda_sum(p, dst + i * dst_row + j, a + i * a_row, b + j, b_row, k, wide);
    }
    KDA_SYNC();
}

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

/* Tokens first..end - 1 of q and k, and those from..to - 1 of k, decayed from and to the point `split`, [dk]. */
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

/* Where a whole chunk may be split: at `row` of its sums (-1: before the first) no exponent exceeds 60, so that
 * none of the products does 2^128. */
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
