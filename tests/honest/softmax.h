/* softmax as a program with switches: how a row is cut, summed, merged and divided, for softmax.c and
 * softmax.cu. A row has three steps with all switches: its maximum, where that is computed first; {max, sum}
 * of each split, tile by tile and lane by lane, and their merger; the results. */
#ifndef UNSEEN_HONEST_SOFTMAX_H
#define UNSEEN_HONEST_SOFTMAX_H

#include "softmax_exp.h"
#include "softmax_sum.h"

/* One row, and how it is worked on. */
struct row {
    const float *x;
    int64_t cols, number; /* of the row */
    struct how how;
};

/* sum of exp(x - max) over the elements so far; without any: {-inf, 0}. */
struct part {
    float max, sum;
};

HONEST_FN bool row_is(const struct row *r, enum mutant m)
{
    return r->how.mutant == m;
}

HONEST_FN bool row_chose(const struct row *r, int which, int value)
{
    return r->how.choice[which] == value;
}

HONEST_FN float row_logit(const struct row *r, int64_t j)
{
    if (row_is(r, TF32_LOGITS))
        return to_tf32(r->x[j]);
    if (row_is(r, SHIFTED_LONG_ROWS) && r->cols > 32768)
        return r->x[j + 1 < r->cols ? j + 1 : j];
    return r->x[j];
}

/* An upper bound near a maximum. */
HONEST_FN float row_bound(const struct row *r, float max)
{
    if (row_is(r, FAR_BOUND))
        return max + 70;
    return row_chose(r, BOUND, BOUND_ABOVE) ? ceilf(max) : max;
}

/* The greatest of columns [from, end); NaN never is. */
HONEST_FN float row_greatest(const struct row *r, int64_t from, int64_t end)
{
    float max = -INFINITY;
    for (int64_t j = from; j < end; j++) {
        const float x = row_logit(r, j);
        max = x > max ? x : max;
    }
    return row_bound(r, max);
}

/* The maximum of the whole row, where it is wanted first. */
HONEST_FN float row_max(const struct row *r)
{
    int64_t end = r->cols;
    if (row_is(r, NO_MAX))
        return 0;
    if (row_is(r, MAX_WITHOUT_TAIL_4) && r->cols > 4)
        end -= r->cols % 4;
    if (row_is(r, MAX_WITHOUT_TAIL_32) && r->cols > 32)
        end -= r->cols % 32;
    if (row_is(r, MAX_OF_FIRST_1024) && r->cols > 1024)
        end = 1024;
    if (row_is(r, MAX_WITHOUT_LAST_TILE) && r->cols > 1024)
        end = (r->cols - 1) / 1024 * 1024;
    return row_greatest(r, row_is(r, MAX_WITHOUT_FIRST) && r->cols > 1 ? 1 : 0, end);
}

/* --- the sum --- */

/* How often a column counts. */
HONEST_FN int row_weight(const struct row *r, int64_t j)
{
    const int64_t n = r->cols;
    switch (r->how.mutant) {
    case DROPS_LAST: return j != n - 1;
    case DROPS_FIRST: return j != 0;
    case DROPS_LAST_OF_LONG: return n < 65536 || j != n - 1;
    case DROPS_MIDDLE: return j != n / 2;
    case DROPS_TAIL_8: return j < n / 8 * 8 || n < 8;
    case DROPS_TAIL_1024: return j < n / 1024 * 1024 || n < 1024;
    case DOUBLES_LAST: return 1 + (j == n - 1);
    case DOUBLES_TILE_EDGE: return 1 + (j > 0 && j % 1024 == 0);
    case DROPS_WHAT_SPLITS_LEAVE: return j < n / 7 * 7 || n < 4096;
    default: return 1;
    }
}

HONEST_FN float row_term(const struct row *r, int64_t j, float max)
{
    float e = how_exp(&r->how, row_logit(r, j), max);
    if (row_is(r, OFF_IN_ODD_COLUMNS) && r->cols >= 512 && j % 2)
        e *= 1 + 0x1p-13f;
    if (row_is(r, BF16_TERMS))
        e = to_bf16(e);
    return e * (float)row_weight(r, j);
}

/* One chain: columns from, from + step, .. below end. `max` is known, or runs along. */
HONEST_FN struct part row_chain(const struct row *r, int64_t from, int64_t end, int64_t step, float known)
{
    const bool online = row_chose(r, PASS, PASS_ONLINE);
    struct sum sum = sum_zero();
    float max = online ? -INFINITY : known;
    for (int64_t j = from; j < end; j += step) {
        const float x = row_logit(r, j);
        if (x == -INFINITY && !row_is(r, INFINITY_MEETS_INFINITY))
            continue;
        if (online && x > max) {
            const float top = row_bound(r, x);
            if (max != -INFINITY && !row_is(r, KEEPS_OLD_SUM))
                sum_scale(&r->how, &sum, how_rescale(&r->how, max, top));
            max = top;
        }
        sum_add(&r->how, &sum, row_term(r, j, max));
    }
    return (struct part){max, sum_value(&r->how, &sum)};
}

/* Two parts brought to one maximum. */
HONEST_FN struct part row_join(const struct row *r, struct part a, struct part b)
{
    const float max = b.max > a.max ? b.max : a.max;
    if (b.max == -INFINITY)
        return (struct part){a.max, a.sum + b.sum}; /* 0, or NaN */
    if (a.max == -INFINITY)
        return (struct part){b.max, b.sum + a.sum};
    if (row_is(r, MERGES_UNSCALED))
        return (struct part){max, a.sum + b.sum};
    const float old = a.max == max ? a.sum : a.sum * how_rescale(&r->how, a.max, max);
    const float new_one = b.max == max ? b.sum : b.sum * how_rescale(&r->how, b.max, max);
    return (struct part){max, old + new_one};
}

/* A tile's lanes, each a chain over every lanes-th column, or over neighbouring ones. */
HONEST_FN struct part row_tile(const struct row *r, int64_t from, int64_t end, float known)
{
    const int64_t lanes = how_number(&r->how, LANES), count = end - from;
    const bool apart = row_chose(r, LAYOUT, LAYOUT_INTERLEAVED);
    const int64_t length = (count + lanes - 1) / lanes;
    const float max = row_chose(r, PASS, PASS_TILES) ? row_greatest(r, from, end) : known;
    struct part tile = {-INFINITY, 0};
    for (int64_t l = 0; l < lanes && (apart ? l < count : l * length < count); l++) {
        const int64_t first = apart ? from + l : from + l * length;
        const int64_t last = apart || first + length > end ? end : first + length;
        tile = row_join(r, tile, row_chain(r, first, last, apart ? lanes : 1, max));
    }
    return tile;
}

/* Chains of a tile have at most 4096 terms, or 512 where a chain may rescale at each term. A split has at
 * most 512 tiles, or 2048 with such chains. */
HONEST_FN int64_t row_tile_size(const struct row *r, int64_t count)
{
    const int64_t lanes = how_number(&r->how, LANES), least = (count + 511) / 512;
    int64_t size = how_number(&r->how, TILE);
    size = size < least ? least : size;
    return row_chose(r, PASS, PASS_ONLINE) && size > 512 * lanes ? 512 * lanes : size;
}

/* Columns [from, end): tile after tile. Where all tiles have one maximum their sums are added as terms
 * are. */
HONEST_FN struct part row_part(const struct row *r, int64_t from, int64_t end, float known)
{
    int64_t size = row_tile_size(r, end - from);
    struct sum sum = sum_zero();
    struct part total = {-INFINITY, 0};
    if (row_is(r, ONE_CHAIN))
        size = end - from;
    if (row_is(r, CHAINS_OF_16384))
        size = 16384;
    for (int64_t at = from; at < end; at += size) {
        const struct part tile = row_tile(r, at, at + size < end ? at + size : end, known);
        if (row_chose(r, PASS, PASS_MAX_FIRST)) {
            sum_add(&r->how, &sum, tile.sum);
            total.max = known;
        } else {
            total = row_join(r, total, tile);
        }
    }
    if (row_chose(r, PASS, PASS_MAX_FIRST))
        total.sum = sum_value(&r->how, &sum);
    return total;
}

/* --- splits --- */

HONEST_FN int64_t row_splits(const struct row *r)
{
    const int64_t wanted = how_number(&r->how, SPLIT);
    return wanted < r->cols ? wanted : r->cols;
}

HONEST_FN struct part row_split(const struct row *r, int64_t s, float known)
{
    const int64_t splits = row_splits(r);
    return row_part(r, s * r->cols / splits, (s + 1) * r->cols / splits, known);
}

/* Each part as one logarithm, merged as such: the greatest of them takes the place of the maximum. */
HONEST_FN struct part row_merge_logs(const struct row *r, struct part *part, int64_t count)
{
    struct part merged = {-INFINITY, 0};
    for (int64_t s = 0; s < count; s++) {
        if (part[s].max != -INFINITY)
            part[s].max += how_log(&r->how, part[s].sum);
        merged.max = part[s].max > merged.max ? part[s].max : merged.max;
        merged.sum += part[s].sum - part[s].sum; /* NaN stays one */
    }
    for (int64_t s = 0; s < count; s++)
        if (part[s].max != -INFINITY)
            merged.sum += how_rescale(&r->how, part[s].max, merged.max);
    return merged;
}

/* `part` is used up. */
HONEST_FN struct part row_merge(const struct row *r, struct part *part, int64_t count)
{
    if (count > 1 && row_chose(r, MERGE, MERGE_LOGS))
        return row_merge_logs(r, part, count);
    if (row_chose(r, MERGE, MERGE_TREE))
        for (int64_t gap = 1; gap < count; gap *= 2)
            for (int64_t s = 0; s + gap < count; s += 2 * gap)
                part[s] = row_join(r, part[s], part[s + gap]);
    else
        for (int64_t s = 1; s < count; s++)
            part[0] = row_join(r, part[0], part[s]);
    return part[0];
}

/* --- results --- */

/* The numerator, or that of the tile around the column, brought to the row's maximum. */
HONEST_FN float row_numerator(const struct row *r, int64_t j, float max)
{
    float e;
    if (row_chose(r, NUMERATOR, NUMERATOR_RESCALED)) {
        const int64_t size = 16, from = j / size * size;
        const float top = row_greatest(r, from, from + size < r->cols ? from + size : r->cols);
        e = how_exp(&r->how, row_logit(r, j), top) * how_rescale(&r->how, top, max);
    } else {
        e = how_exp(&r->how, row_logit(r, j), max);
    }
    if (row_is(r, OFF_IN_ODD_COLUMNS) && r->cols >= 512 && j % 2)
        e *= 1 + 0x1p-13f;
    return e;
}

HONEST_FN float row_quotient(const struct row *r, int64_t j, struct part row)
{
    const float x = row_logit(r, j);
    if (x == -INFINITY) /* its tile may have no maximum */
        return 0;
    if (row_chose(r, QUOTIENT, QUOTIENT_LOG))
        return how_exp(&r->how, x, row.max + how_log(&r->how, row.sum));
    if (row_chose(r, QUOTIENT, QUOTIENT_LOG_LATE))
        return how_exp_less(&r->how, x, row.max, how_log(&r->how, row.sum));
    return how_divide(&r->how, row_numerator(r, j, row.max), row.sum);
}

HONEST_FN float row_spoil(const struct row *r, int64_t j, float y)
{
    const int64_t place = r->number * r->cols + j;
    switch (r->how.mutant) {
    case OFF_BY_2_7: return y * (1 + 0x1p-7f);
    case OFF_BY_2_10: return y * (1 + 0x1p-10f);
    case OFF_BY_2_13: return y * (1 + 0x1p-13f);
    case OFF_BY_2_13_LONG: return r->cols >= 512 ? y * (1 + 0x1p-13f) : y;
    case ONE_IN_1000: return place % 1000 == 999 ? y * (1 + 0x1p-8f) : y;
    case ONE_IN_1000_SLIGHTLY: return place % 1000 == 999 ? y * (1 + 0x1p-14f) : y;
    case SECOND_HALF_OFF: return r->cols >= 512 && j >= r->cols / 2 ? y * (1 - 0x1p-13f) : y;
    case BF16_OUTPUT: return to_bf16(y);
    case FP16_OUTPUT: return to_fp16(y);
    case TF32_OUTPUT: return to_tf32(y);
    default: return y;
    }
}

/* y[j] of a row whose maximum and sum are known. */
HONEST_FN float row_result(const struct row *r, int64_t j, struct part row)
{
    const bool infinite = row.max == INFINITY || row.max == -INFINITY;
    if (row.sum != row.sum || (infinite && !row_is(r, ZERO_FOR_NOTHING)))
        return NAN;
    if (infinite)
        return 0;
    const float y = row_spoil(r, j, row_quotient(r, j, row));
    return row_chose(r, FLUSH, FLUSH_YES) && fabsf(y) < 0x1p-126f ? 0 : y;
}

#endif
