/* paged_attention with switches: the algorithm, in three stages, each over independent elements. The first
 * one computes scores of tokens. The second one turns a split (some tokens of a row, a sequence and a head)
 * into probabilities and their sum. The third one sums the weighted values of a split and a few columns. Then
 * the splits of a row are merged. Numbers between stages are doubles that hold singles, unless a switch says
 * double. */
#ifndef UNSEEN_HONEST_PAGED_ATTENTION_H
#define UNSEEN_HONEST_PAGED_ATTENTION_H

#include "paged_attention_score.h"

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

/* The reference of the probabilities of a tile, from token `first` on. The lazy maximum follows only where
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

/* Turns scores of a split into probabilities relative to their tile's maximum. rescale[i] is a tile's factor
 * for the earlier sums. `start`, unless -infinity, is the row's largest score. */
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

/* Where probabilities are normalized before they meet the values: in another pass, by max and sum of the
 * split or the row. */
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

/* Normalized partial outputs, weighted by exp(lse_i - lse), or by exp(lse_i - max lse) over the sum of
 * these. */
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

/* One split after another joins the merged ones. */
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
