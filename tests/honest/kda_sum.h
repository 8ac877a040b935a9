/* kda with switches: the memory of one head, and its sums and products. The algorithm: kda.h. */
#ifndef UNSEEN_TEST_KDA_SUM_H
#define UNSEEN_TEST_KDA_SUM_H

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

/* The memory of one head. Everything but the state belongs to a chunk, whose tokens are rows. */
struct kda_work {
    float q[KDA_CHUNK][KDA_DIM], k[KDA_CHUNK][KDA_DIM], v[KDA_CHUNK][KDA_DIM], gate[KDA_CHUNK][KDA_DIM];
    float sum[KDA_CHUNK][KDA_DIM], beta[KDA_CHUNK];
    float left_q[KDA_CHUNK][KDA_DIM], left_k[KDA_CHUNK][KDA_DIM], right[KDA_DIM][KDA_CHUNK];
    float a[KDA_CHUNK][KDA_CHUNK], p[KDA_CHUNK][KDA_CHUNK], inverse[KDA_CHUNK][KDA_CHUNK];
    float power[KDA_CHUNK][KDA_CHUNK], one[KDA_CHUNK][KDA_CHUNK], two[KDA_CHUNK][KDA_CHUNK];
    float keys[KDA_CHUNK][KDA_DIM], w[KDA_CHUNK][KDA_DIM];   /* e^G k, and W */
    float values[KDA_CHUNK][KDA_DIM], u[KDA_CHUNK][KDA_DIM]; /* the right-hand side of V', and V' */
    float out[KDA_CHUNK][KDA_DIM];
    float state[KDA_DIM][KDA_DIM], add[KDA_DIM][KDA_DIM]; /* the state as an operand; the sum that a chunk
                                                           * adds */
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

/* dst += a b on the matrix units, a tile of 16 x 16 a warp; extents are multiples of 16, operands bf16
 * already. */
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

#endif
