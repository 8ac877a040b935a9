/* paged_attention with switches, the first stage: which tokens a row takes, and their scores. The whole:
 * paged_attention.h. */
#ifndef UNSEEN_HONEST_PAGED_ATTENTION_SCORE_H
#define UNSEEN_HONEST_PAGED_ATTENTION_SCORE_H

#include "arithmetic.h"
#include "paged_attention_switches.h"

#ifdef __CUDA_ARCH__
enum { COLUMNS = 1 };
#else
enum { COLUMNS = 16 };
#endif
enum { MATRIX_STEP = 16, DOT_MOST = 256, LANES = 4, LONG = 50000, RARE = 1009 };
#define LOG2E 1.44269504088896340736f
#define LN2 0.69314718055994530942f

struct plan {
    const uint16_t *query, *cache;
    const int32_t *table, *lens;
    uint16_t *out;
    double *unrounded;
    int64_t batch, heads, kv_heads, dim, page, pages, per_seq;
    int choice[HONEST_MAX_SWITCHES];
    int mutant;
};

/* The largest score that the sum of a split is relative to; sum p; its log-sum-exp. */
struct split {
    double max, sum, lse;
};

/* --- tokens and splits --- */

HONEST_FN float value_of(uint16_t h)
{
    return float_of((uint32_t)h << 16);
}

/* The number of tokens that the row takes into account; token_place has their places. */
HONEST_FN int64_t row_length(const struct plan *p, int64_t row)
{
    const int64_t n = p->lens[row / p->heads];
    const bool is_long = n > LONG;
    switch (p->mutant) {
    case TAIL_DROPPED: return n < 8 ? n : n - n % 8;
    case LAST_DROPPED:
    case FIRST_DROPPED:
    case MIDDLE_DROPPED:
    case EDGE_DROPPED: return n > 1 ? n - 1 : n;
    case LONG_LAST_DROPPED:
    case LONG_EDGE_DROPPED: return is_long ? n - 1 : n;
    case LAST_TWICE:
    case FIRST_TWICE:
    case MIDDLE_TWICE:
    case ONE_BEYOND: return n + 1;
    case LONG_LAST_TWICE: return is_long ? n + 1 : n;
    case PAGE_PADDED: return (n + p->page - 1) / p->page * p->page;
    default: return n;
    }
}

/* The number in its sequence of the t-th token that the row takes. */
HONEST_FN int64_t token_number(const struct plan *p, int64_t n, int64_t t)
{
    switch (p->mutant) {
    case FIRST_DROPPED: return n > 1 ? t + 1 : t;
    case MIDDLE_DROPPED: return t + (n > 1 && t >= n / 2);
    case LONG_EDGE_DROPPED: return t + (n > LONG && t >= n / 2 / 64 * 64 - 1);
    case EDGE_DROPPED: return t + (n > 64 && t >= n / 64 * 64 - 1);
    case LAST_TWICE:
    case LONG_LAST_TWICE: return t < n ? t : n - 1;
    case FIRST_TWICE: return t < n ? t : 0;
    case MIDDLE_TWICE: return t < n ? t : n / 2;
    default: return t;
    }
}

/* Where in the cache the key of the row's t-th token lies; -1: a token of zeros. */
HONEST_FN int64_t token_place(const struct plan *p, int64_t row, int64_t t)
{
    const int64_t b = row / p->heads, h = row % p->heads, n = p->lens[b], last = (n - 1) / p->page;
    const int64_t kv_head = p->mutant == HEAD_MODULO ? h % p->kv_heads : h / (p->heads / p->kv_heads);
    const int32_t *table = p->table + b * p->per_seq;
    int64_t number = token_number(p, n, t), page;
    if (p->mutant == PAGE_PADDED && number >= n)
        return -1;
    if (p->mutant == ONE_BEYOND && number == n) /* the next slot of the last page, or of the cache */
        page = number % p->page ? table[last] : (table[last] + 1) % p->pages;
    else if (p->mutant == LONG_LAST_PAGE && n > LONG && number / p->page == last)
        page = table[0];
    else if (p->mutant == LAST_PAGE && last > 0 && number / p->page == last)
        page = table[last - 1];
    else
        page = table[number / p->page];
    return ((page * p->page + number % p->page) * p->kv_heads + kv_head) * 2 * p->dim;
}

HONEST_FN int64_t split_size(const struct plan *p, int64_t length)
{
    const int sizes[] = {16, 17, 48, 64, 100, 256, 512, 1000, 2048}, how = p->choice[SW_SPLIT];
    int64_t size = length;
    if (p->mutant == PARTIAL_BF16 || p->mutant == PARTIAL_FP16)
        return 512;
    if (p->mutant == LSE_BF16 || p->mutant == LSE_FP16 || p->mutant == MERGE_UNWEIGHTED ||
        p->mutant == MERGE_BY_LENGTH)
        return 256;
    if (how == SPLIT_TWO || how == SPLIT_STRIDED)
        size = (length + 1) / 2;
    else if (how == SPLIT_EIGHT) /* whole pages */
        size = ((length + 7) / 8 + p->page - 1) / p->page * p->page;
    else if (how >= SPLIT_SIZED)
        size = sizes[how - SPLIT_SIZED];
    return size < length ? size : length;
}

HONEST_FN int64_t split_count(const struct plan *p, int64_t length)
{
    const int64_t size = split_size(p, length);
    return (length + size - 1) / size;
}

HONEST_FN int64_t split_tokens(const struct plan *p, int64_t length, int64_t split)
{
    const int64_t size = split_size(p, length), left = length - split * size;
    return left < size ? left : size;
}

/* The j-th token of a split, in the order in which sums take them. Strided: two splits, every other token. */
HONEST_FN int64_t split_token(const struct plan *p, int64_t length, int64_t split, int64_t j)
{
    const int64_t count = split_tokens(p, length, split);
    const int64_t i = p->choice[SW_ORDER] == ORDER_BACKWARD ? count - 1 - j : j;
    if (p->choice[SW_SPLIT] == SPLIT_STRIDED && split_count(p, length) == 2)
        return 2 * i + split;
    return split * split_size(p, length) + i;
}

/* --- arithmetic --- */

HONEST_FN float scale_of(const struct plan *p)
{
    const float scale = 1.0f / sqrtf((float)p->dim);
    if (p->mutant == SCALE_ROUGH)
        return rintf(scale * 1000) / 1000;
    return p->mutant == SCALE_BF16 ? to_bf16(scale) : scale;
}

/* A product rounded by itself: through double, so that no compiler fuses it with the next operation. */
HONEST_FN float product(float a, float b)
{
    return (float)((double)a * b);
}

HONEST_FN float fused(const struct plan *p, float a, float b, float c)
{
    return p->choice[SW_PRODUCT] == PRODUCT_FUSED ? fmaf(a, b, c) : product(a, b) + c;
}

/* 0 for a split whose weights are all 0 beside the row's maximum. */
HONEST_FN double quotient(const struct plan *p, double a, double b)
{
    if (b == 0)
        return 0;
    if (p->choice[SW_DIVIDE] == DIVIDE_RECIPROCAL)
        return product((float)a, 1.0f / (float)b);
#ifdef __CUDA_ARCH__
    if (p->choice[SW_DIVIDE] == DIVIDE_FAST)
        return __fdividef((float)a, (float)b);
#endif
    return (float)a / (float)b;
}

/* e^x or 2^x. The fast ones are a GPU's: 2^x within 2 units, and e^x = 2^(x log2 e). */
HONEST_FN double power_of(const struct plan *p, double x)
{
    const bool two = p->choice[SW_BASE] == BASE_2;
    const float y = two ? (float)x : product((float)x, LOG2E);
    if (p->mutant == EXP_CRUDE || p->mutant == EXP_CUBIC) {
        const float whole = floorf(y), f = y - whole; /* y <= 0 */
        const float cubic = 1 + f * (0.695146f + f * (0.227564f + f * 0.077119f));
        return whole < -126 ? 0 : ldexpf(p->mutant == EXP_CRUDE ? 1 + f : cubic, (int)whole);
    }
    if (p->choice[SW_EXP] == EXP_DOUBLE)
        return two ? exp2(x) : exp(x);
#ifdef __CUDA_ARCH__
    if (p->choice[SW_EXP] == EXP_FAST) {
        float fast;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(fast) : "f"(y));
        return fast;
    }
#else
    if (p->choice[SW_EXP] == EXP_FAST)
        return exp2f(y);
#endif
    return two ? exp2f((float)x) : expf((float)x);
}

/* The factor of scores in the exponent. */
HONEST_FN float exponent_factor(const struct plan *p)
{
    const float scale = p->choice[SW_SCALE] == SCALE_EXPONENT ? scale_of(p) : 1;
    return p->choice[SW_BASE] == BASE_2 ? product(scale, LOG2E) : scale;
}

/* The weight of a score relative to `max`; 0 for the -infinity of nothing. */
HONEST_FN double weight_of(const struct plan *p, double score, double max)
{
    const float factor = exponent_factor(p), s = (float)score, m = (float)max;
    double x;
    if (score == -INFINITY)
        return 0;
    if (p->choice[SW_EXP] == EXP_DOUBLE)
        x = (score - max) * factor;
    else if (p->choice[SW_ARGUMENT] == ARGUMENT_FUSED)
        x = fmaf(s, factor, -product(m, factor));
    else if (p->choice[SW_ARGUMENT] == ARGUMENT_SEPARATE)
        x = product(s, factor) - product(m, factor);
    else
        x = product(s - m, factor);
    if (p->mutant == ARGUMENT_BF16)
        x = to_bf16((float)x);
    if (p->mutant == ARGUMENT_FP16)
        x = to_fp16((float)x);
    return power_of(p, x);
}

/* --- scores --- */

HONEST_FN float dot_in_order(const struct plan *p, const float *a, const float *b)
{
    float lane[LANES] = {0};
    const int lanes = p->choice[SW_DOT] == DOT_LANES ? LANES : 1;
    for (int d = 0; d < p->dim; d++) {
        lane[d % lanes] = fused(p, a[d], b[d], lane[d % lanes]);
        if (p->mutant == DOT_BF16)
            lane[d % lanes] = to_bf16(lane[d % lanes]);
        if (p->mutant == DOT_FP16)
            lane[d % lanes] = to_fp16(lane[d % lanes]);
    }
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

HONEST_FN float dot_pairwise(const struct plan *p, const float *a, const float *b)
{
    float sum[DOT_MOST];
    int count = (int)p->dim;
    for (int d = 0; d < count; d++)
        sum[d] = product(a[d], b[d]);
    for (; count > 1; count = (count + 1) / 2)
        for (int i = 0; i < count / 2; i++)
            sum[i] += sum[count - 1 - i];
    return sum[0];
}

/* Sixteen products at a time, or eight, as a matrix unit of Hopper or Ampere takes them. */
HONEST_FN double matrix_add(bool hopper, double acc, const double *products)
{
    if (hopper)
        return matrix_step(acc, products, 16, 25, 23);
    return matrix_step(matrix_step(acc, products, 8, 24, 23), products + 8, 8, 24, 23);
}

HONEST_FN double dot_exact(const struct plan *p, const float *a, const float *b)
{
    double acc = 0;
    for (int d = 0; d < p->dim; d += MATRIX_STEP) {
        double products[MATRIX_STEP];
        for (int i = 0; i < MATRIX_STEP; i++)
            products[i] = (double)a[d + i] * b[d + i];
        if (p->choice[SW_DOT] != DOT_DOUBLE)
            acc = matrix_add(p->choice[SW_DOT] == DOT_HOPPER, acc, products);
        else
            for (int i = 0; i < MATRIX_STEP; i++)
                acc += products[i];
    }
    return acc;
}

/* 4 bits, as e4m3 has them between its limits. */
HONEST_FN float to_four_bits(float x)
{
    return keep_bits(x, 4, false);
}

/* From q . k to the score that exponents start from. */
HONEST_FN double finish_score(const struct plan *p, double dot)
{
    const bool matrix = p->choice[SW_DOT] >= DOT_HOPPER;
    double score = dot;
    if (p->choice[SW_SCALE] == SCALE_AFTER || (p->choice[SW_SCALE] == SCALE_QUERY && matrix))
        score = product((float)dot, scale_of(p));
    else if (p->choice[SW_SCALE] == SCALE_DIVIDE)
        score = (float)dot / sqrtf((float)p->dim);
    if (p->mutant == SCORE_BF16)
        return to_bf16((float)score);
    return p->mutant == SCORE_FP16 ? to_fp16((float)score) : score;
}

HONEST_FN double score_of(const struct plan *p, int64_t row, int64_t t)
{
    const bool scaled = (p->choice[SW_SCALE] == SCALE_QUERY && p->choice[SW_DOT] < DOT_HOPPER);
    const int64_t key = token_place(p, row, t);
    float a[DOT_MOST], b[DOT_MOST];
    for (int d = 0; d < p->dim; d++) {
        a[d] = value_of(p->query[row * p->dim + d]);
        b[d] = key < 0 ? 0 : value_of(p->cache[key + d]);
        if (p->mutant == QUERY_SCALED_BF16)
            a[d] = to_bf16(product(a[d], scale_of(p)));
        else if (scaled)
            a[d] = product(a[d], scale_of(p));
        if (p->mutant == KEY_E4M3)
            b[d] = to_four_bits(b[d]);
    }
    if (p->mutant == QUERY_SCALED_BF16)
        return dot_in_order(p, a, b);
    switch (p->choice[SW_DOT]) {
    case DOT_SERIAL:
    case DOT_LANES: return finish_score(p, dot_in_order(p, a, b));
    case DOT_PAIRWISE: return finish_score(p, dot_pairwise(p, a, b));
    default: return finish_score(p, dot_exact(p, a, b));
    }
}

#endif
