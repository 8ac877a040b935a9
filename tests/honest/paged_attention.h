/* paged_attention with switches, the algorithm, in three stages, each over elements that do not depend on one
 * another: scores of tokens; of a split (some tokens of a row, a sequence and a head) the probabilities and
 * their sum; of a split and a few columns the weighted values. Then the splits of a row are merged. Numbers
 * between stages are doubles that hold singles, unless a switch says double. */
#ifndef UNSEEN_HONEST_PAGED_ATTENTION_H
#define UNSEEN_HONEST_PAGED_ATTENTION_H

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

/* Tokens that the row takes into account; which ones, token_place says. */
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

/* A product rounded by itself: through double, so that no compiler fuses it with what comes next. */
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

/* e^x or 2^x. The fast ones are what GPUs have: 2^x within 2 units, and e^x = 2^(x log2 e). */
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

/* What scores are multiplied with in the exponent. */
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

/* --- probabilities of a split --- */

HONEST_FN int64_t tile_of(const struct plan *p)
{
    const int sizes[] = {16, 1, 17, 64, 128, 256};
    return sizes[p->choice[SW_TILE]];
}

/* Where the factors of a split start, one a tile; all splits but the last are of one size. */
HONEST_FN int64_t split_rescales(const struct plan *p, int64_t length, int64_t split)
{
    return split * ((split_size(p, length) + tile_of(p) - 1) / tile_of(p));
}

/* What the probabilities from token `first` on, a tile, are relative to. The lazy maximum follows only where
 * weights would exceed 2^8. */
HONEST_FN double tile_max(const struct plan *p, const double *score, int64_t length, int64_t split,
                          int64_t first, double old)
{
    const int64_t count = split_tokens(p, length, split);
    double max = -INFINITY;
    for (int64_t j = first; j < first + tile_of(p) && j < count; j++)
        max = fmax(max, score[split_token(p, length, split, j)]);
    if (p->mutant == FIRST_TILE_MAXIMUM && first > 0)
        return old;
    if (p->choice[SW_MAX] == MAX_LAZY && first > 0) {
        const double unit = exponent_factor(p) * (p->choice[SW_BASE] == BASE_2 ? 1 : LOG2E);
        return (max - old) * unit > 8 ? max : old;
    }
    return fmax(max, old);
}

HONEST_FN double split_max(const struct plan *p, const double *score, int64_t length, int64_t split)
{
    double max = -INFINITY;
    for (int64_t j = 0; j < split_tokens(p, length, split); j++)
        max = fmax(max, score[split_token(p, length, split, j)]);
    return max;
}

HONEST_FN double round_p(const struct plan *p, double w)
{
    const bool matrix = p->choice[SW_VALUES] >= VALUES_HOPPER;
    if (p->mutant == P_E4M3)
        return to_four_bits((float)w);
    if (p->mutant == P_SIX_BITS)
        return keep_bits((float)w, 6, false);
    if (p->mutant == P_TRUNCATED)
        return keep_bits((float)w, 8, true);
    if (p->choice[SW_P] == P_BF16 || matrix || p->mutant == P_TWICE)
        return to_bf16((float)w);
    return p->choice[SW_EXP] == EXP_DOUBLE && p->choice[SW_VALUES] == VALUES_DOUBLE ? w : (float)w;
}

/* Normalized by the sum of the row, so that splits add up as they are. */
HONEST_FN bool normalized_by_row(const struct plan *p)
{
    return p->choice[SW_NORMALIZE] == NORMALIZE_ROW && p->mutant != P_TWICE;
}

HONEST_FN bool normalized_early(const struct plan *p)
{
    return p->choice[SW_NORMALIZE] >= NORMALIZE_FIRST || p->mutant == P_TWICE;
}

/* The sum of probabilities, one of the ways. */
struct summing {
    double lane[LANES];
};

HONEST_FN void add_p(const struct plan *p, struct summing *s, int64_t j, double w)
{
    const int how = p->choice[SW_SUM];
    const bool rounded = (how == SUM_ROUNDED || how == SUM_ROUNDED_LANES) && !normalized_early(p);
    double *lane = &s->lane[how == SUM_LANES || how == SUM_ROUNDED_LANES ? j % LANES : 0];
    const double term = rounded ? round_p(p, w) : w;
    *lane = how == SUM_DOUBLE ? *lane + term : (float)*lane + (float)term;
    if (p->mutant == SUM_BF16)
        *lane = to_bf16((float)*lane);
    if (p->mutant == SUM_FP16)
        *lane = to_fp16((float)*lane);
}

HONEST_FN double summed(const struct summing *s)
{
    const double sum = (s->lane[0] + s->lane[1]) + (s->lane[2] + s->lane[3]);
    return s->lane[1] == 0 ? sum : (float)sum;
}

HONEST_FN double log_of(const struct plan *p, double x)
{
    if (p->choice[SW_BASE] == BASE_2)
        return p->choice[SW_EXP] == EXP_DOUBLE ? log2(x) : log2f((float)x);
    return p->choice[SW_EXP] == EXP_DOUBLE ? log(x) : logf((float)x);
}

HONEST_FN double lse_of(const struct plan *p, double max, double sum)
{
    const double lse = product((float)max, exponent_factor(p)) + log_of(p, sum);
    if (p->mutant == LSE_BF16)
        return to_bf16((float)lse);
    if (p->mutant == LSE_FP16)
        return to_fp16((float)lse);
    return p->choice[SW_EXP] == EXP_DOUBLE ? lse : (float)lse;
}

/* Scores of a split become probabilities relative to their tile's maximum; rescale[i], a tile's, is the factor of
 * what was summed before it. `start`, unless -infinity, is the row's largest score. */
HONEST_FN void weigh_split(const struct plan *p, double *score, int64_t length, int64_t split, double start,
                           double *rescale, struct split *out)
{
    const int64_t count = split_tokens(p, length, split), tile = tile_of(p);
    const bool running = p->choice[SW_MAX] == MAX_RUNNING || p->choice[SW_MAX] == MAX_LAZY ||
                         p->mutant == FIRST_TILE_MAXIMUM || p->mutant == SUM_NOT_RESCALED;
    struct summing sum = {{0}};
    double max = p->mutant == NO_MAXIMUM ? 0 : running ? -INFINITY : start;
    for (int64_t first = 0; first < count; first += tile) {
        const double old = max;
        if (running)
            max = tile_max(p, score, length, split, first, old);
        rescale[first / tile] = old == max ? 1 : weight_of(p, old, max);
        for (int i = 0; i < LANES && old != max && p->mutant != SUM_NOT_RESCALED; i++)
            sum.lane[i] = p->choice[SW_SUM] == SUM_DOUBLE
                              ? sum.lane[i] * rescale[first / tile]
                              : product((float)sum.lane[i], (float)rescale[first / tile]);
        for (int64_t j = first; j < first + tile && j < count; j++) {
            double *s = &score[split_token(p, length, split, j)];
            const double w = weight_of(p, *s, max);
            add_p(p, &sum, j, w);
            if (!normalized_early(p))
                *s = round_p(p, w);
        }
    }
    out->max = max;
    out->sum = p->mutant == SUM_AT_END_BF16 ? to_bf16((float)summed(&sum)) : summed(&sum);
    out->lse = lse_of(p, out->max, out->sum);
}

/* Where probabilities are normalized before they meet the values: in another pass, by max and sum of the split or the
 * row. */
HONEST_FN void normalize_split(const struct plan *p, double *score, int64_t length, int64_t split, double max,
                               double sum, double *rescale)
{
    const int64_t count = split_tokens(p, length, split);
    for (int64_t j = 0; j < count; j++) {
        double *s = &score[split_token(p, length, split, j)];
        double w = weight_of(p, *s, max);
        w = p->mutant == P_TWICE ? to_bf16((float)w) : w;
        *s = round_p(p, p->choice[SW_EXP] == EXP_DOUBLE && sum != 0 ? w / sum : quotient(p, w, sum));
        rescale[j / tile_of(p)] = 1;
    }
}

/* --- weighted values --- */

HONEST_FN float round_acc(const struct plan *p, float acc, int64_t j)
{
    const int64_t n = j + 1;
    switch (p->mutant) {
    case ACC_BF16: return to_bf16(acc);
    case ACC_FP16: return to_fp16(acc);
    case ACC_TF32: return to_tf32(acc);
    case ACC_BF16_32: return n % 32 ? acc : to_bf16(acc);
    case ACC_BF16_64: return n % 64 ? acc : to_bf16(acc);
    case ACC_BF16_128: return n % 128 ? acc : to_bf16(acc);
    case ACC_FP16_32: return n % 32 ? acc : to_fp16(acc);
    case ACC_FP16_64: return n % 64 ? acc : to_fp16(acc);
    case ACC_FP16_128: return n % 128 ? acc : to_fp16(acc);
    case ACC_TF32_64: return n % 64 ? acc : to_tf32(acc);
    default: return acc;
    }
}

/* The values of `columns` columns of a row's token. */
HONEST_FN void load_values(const struct plan *p, int64_t row, int64_t t, int64_t first, int columns, float *v)
{
    const int64_t place = token_place(p, row, t);
    for (int d = 0; d < columns; d++) {
        v[d] = place < 0 ? 0 : value_of(p->cache[place + p->dim + first + d]);
        if (p->mutant == VALUE_E4M3)
            v[d] = to_four_bits(v[d]);
    }
}

/* Sums in single, a lane after another or a tile for itself. */
HONEST_FN void sum_values(const struct plan *p, int64_t row, const double *w, int64_t length, int64_t split,
                          const double *rescale, int64_t first, int columns, double *out)
{
    const int64_t count = split_tokens(p, length, split), tile = tile_of(p);
    const bool tiles = p->choice[SW_VALUES] == VALUES_TILES;
    const int lanes = p->choice[SW_VALUES] == VALUES_LANES ? LANES : 1;
    float acc[COLUMNS][LANES] = {{0}}, v[COLUMNS];
    for (int64_t start = 0; start < count; start += tile) {
        float part[COLUMNS] = {0};
        for (int d = 0; d < columns && rescale[start / tile] != 1; d++)
            for (int i = 0; i < lanes; i++)
                acc[d][i] = product(acc[d][i], (float)rescale[start / tile]);
        for (int64_t j = start; j < start + tile && j < count; j++) {
            const int64_t t = split_token(p, length, split, j);
            load_values(p, row, t, first, columns, v);
            for (int d = 0; d < columns; d++) {
                float *to = tiles ? &part[d] : &acc[d][j % lanes];
                *to = round_acc(p, fused(p, (float)w[t], v[d], *to), j);
            }
        }
        for (int d = 0; d < columns && tiles; d++)
            acc[d][0] += part[d];
    }
    for (int d = 0; d < columns; d++)
        out[d] = (acc[d][0] + acc[d][1]) + (acc[d][2] + acc[d][3]);
}

/* The same by a matrix unit, or in double. */
HONEST_FN void sum_values_exact(const struct plan *p, int64_t row, const double *w, int64_t length,
                                int64_t split, const double *rescale, int64_t first, int columns, double *out)
{
    const int64_t count = split_tokens(p, length, split), tile = tile_of(p);
    const int how = p->choice[SW_VALUES];
    double products[COLUMNS][MATRIX_STEP];
    float v[COLUMNS];
    for (int d = 0; d < columns; d++)
        out[d] = 0;
    for (int64_t start = 0; start < count; start += tile) {
        for (int d = 0; d < columns && rescale[start / tile] != 1; d++)
            out[d] = how == VALUES_DOUBLE ? out[d] * rescale[start / tile]
                                          : product((float)out[d], (float)rescale[start / tile]);
        for (int64_t step = start; step < start + tile && step < count; step += MATRIX_STEP) {
            for (int i = 0; i < MATRIX_STEP; i++) {
                const bool real = step + i < count && step + i < start + tile;
                const int64_t t = real ? split_token(p, length, split, step + i) : 0;
                if (real)
                    load_values(p, row, t, first, columns, v);
                for (int d = 0; d < columns; d++)
                    products[d][i] = real ? w[t] * v[d] : 0;
            }
            for (int d = 0; d < columns; d++)
                if (how == VALUES_DOUBLE)
                    for (int i = 0; i < MATRIX_STEP; i++)
                        out[d] += products[d][i];
                else
                    out[d] = matrix_add(how == VALUES_HOPPER, out[d], products[d]);
        }
    }
}

/* The partial outputs of a split, [columns]: normalized or not, as the switch says. */
HONEST_FN void finish_partial(const struct plan *p, const struct split *split, int columns, double *out)
{
    for (int d = 0; d < columns; d++) {
        if (p->choice[SW_NORMALIZE] == NORMALIZE_SPLIT && p->mutant != P_TWICE)
            out[d] = quotient(p, out[d], split->sum);
        if (p->mutant == PARTIAL_BF16)
            out[d] = to_bf16((float)out[d]);
        if (p->mutant == PARTIAL_FP16)
            out[d] = to_fp16((float)out[d]);
    }
}

HONEST_FN void weigh_values(const struct plan *p, int64_t row, const double *w, int64_t length, int64_t index,
                            const double *rescale, const struct split *split, int64_t first, int columns,
                            double *out)
{
    if (p->choice[SW_VALUES] < VALUES_DOUBLE)
        sum_values(p, row, w, length, index, rescale, first, columns, out);
    else
        sum_values_exact(p, row, w, length, index, rescale, first, columns, out);
    finish_partial(p, split, columns, out);
}

/* --- merging --- */

HONEST_FN bool is_normalized(const struct plan *p)
{
    return p->choice[SW_NORMALIZE] == NORMALIZE_SPLIT || p->choice[SW_NORMALIZE] == NORMALIZE_FIRST ||
           p->mutant == P_TWICE;
}

/* The largest score and the sum of a whole row. */
HONEST_FN void merge_sums(const struct plan *p, const struct split *split, int64_t count, double *max,
                          double *sum)
{
    double most = -INFINITY, total = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, split[i].max);
    for (int64_t i = 0; i < count; i++) {
        const double part = product((float)weight_of(p, split[i].max, most), (float)split[i].sum);
        total = p->choice[SW_SUM] == SUM_DOUBLE ? total + part : (float)total + (float)part;
    }
    *max = most;
    *sum = total;
}

/* Unnormalized sums, rescaled by exp(max_i - max). `part` is a column: one number a split, `stride` apart. */
HONEST_FN double merge_rescaled(const struct plan *p, const struct split *split, const double *part,
                                int64_t stride, int64_t count)
{
    double max, sum;
    float acc = 0;
    merge_sums(p, split, count, &max, &sum);
    for (int64_t i = 0; i < count; i++) {
        float w = (float)weight_of(p, split[i].max, max);
        w = is_normalized(p) ? product(w, (float)split[i].sum) : w;
        acc = fused(p, w, (float)part[i * stride], acc);
    }
    return quotient(p, acc, sum);
}

HONEST_FN double normalized_part(const struct plan *p, const struct split *split, double part)
{
    return is_normalized(p) ? part : quotient(p, part, split->sum);
}

/* Normalized partial outputs, weighted by exp(lse_i - lse), or by exp(lse_i - max lse) over the sum of these. */
HONEST_FN double merge_by_lse(const struct plan *p, const struct split *split, const double *part,
                              int64_t stride, int64_t count)
{
    double most = -INFINITY, lse;
    float total = 0, acc = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, split[i].lse);
    for (int64_t i = 0; i < count; i++)
        total += (float)power_of(p, (float)(split[i].lse - most));
    lse = (float)(most + log_of(p, total));
    if (p->choice[SW_MERGE] == MERGE_LSE_SUM)
        lse = most;
    for (int64_t i = 0; i < count; i++) {
        const float w = (float)power_of(p, (float)(split[i].lse - lse));
        acc = fused(p, w, (float)normalized_part(p, &split[i], part[i * stride]), acc);
    }
    return p->choice[SW_MERGE] == MERGE_LSE_SUM ? quotient(p, acc, total) : acc;
}

/* One split after another joins what is merged so far. */
HONEST_FN double merge_in_pairs(const struct plan *p, const struct split *split, const double *part,
                                int64_t stride, int64_t count)
{
    double acc = normalized_part(p, &split[0], part[0]), lse = split[0].lse;
    for (int64_t i = 1; i < count; i++) {
        const double most = fmax(lse, split[i].lse);
        const float a = lse == most ? 1 : (float)power_of(p, (float)(lse - most)); /* both may be -infinity */
        const float b = split[i].lse == most ? 1 : (float)power_of(p, (float)(split[i].lse - most));
        const double next = normalized_part(p, &split[i], part[i * stride]);
        acc = fused(p, (float)quotient(p, a, a + b), (float)acc,
                    product((float)quotient(p, b, a + b), (float)next));
        lse = (float)(most + log_of(p, a + b));
    }
    return acc;
}

HONEST_FN double merge_wrongly(const struct plan *p, const struct split *split, const double *part,
                               int64_t stride, int64_t count, int64_t length)
{
    double acc = 0;
    for (int64_t i = 0; i < count; i++)
        acc += normalized_part(p, &split[i], part[i * stride]) *
               (p->mutant == MERGE_UNWEIGHTED ? 1.0 / (double)count
                                              : (double)split_tokens(p, length, i) / (double)length);
    return (float)acc;
}

/* One output before it is rounded. */
HONEST_FN double merge(const struct plan *p, const struct split *split, const double *part, int64_t stride,
                       int64_t length)
{
    const int64_t count = split_count(p, length);
    if (p->mutant == MERGE_UNWEIGHTED || p->mutant == MERGE_BY_LENGTH)
        return merge_wrongly(p, split, part, stride, count, length);
    if (normalized_by_row(p)) {
        float acc = 0;
        for (int64_t i = 0; i < count; i++)
            acc += (float)part[i * stride];
        return acc;
    }
    if (count == 1)
        return normalized_part(p, &split[0], part[0]);
    if (p->mutant == LSE_BF16 || p->mutant == LSE_FP16)
        return merge_by_lse(p, split, part, stride, count);
    switch (p->choice[SW_MERGE]) {
    case MERGE_RESCALE: return merge_rescaled(p, split, part, stride, count);
    case MERGE_PAIRS: return merge_in_pairs(p, split, part, stride, count);
    default: return merge_by_lse(p, split, part, stride, count);
    }
}

HONEST_FN void store(const struct plan *p, int64_t index, double value)
{
    const double factors[] = {1 + 0x1p-7, 1 + 0x1p-8, 1 + 0x1p-9, 1 + 0x1p-10};
    if (p->mutant >= OUT_2_7 && p->mutant <= OUT_2_10)
        value *= factors[p->mutant - OUT_2_7];
    if (p->mutant == OUT_1_IN_1000 && index % RARE == RARE / 2)
        value *= 1 + 0x1p-7;
    const float single = (float)value;
    const float rounded = keep_bits(single, 8, p->mutant == OUT_TRUNCATED);
    p->out[index] = rounded != rounded ? 0x7fff : (uint16_t)(bits_of(rounded) >> 16);
    if (p->unrounded)
        p->unrounded[index] = p->mutant == OUT_TRUNCATED ? rounded : value;
}

#endif
