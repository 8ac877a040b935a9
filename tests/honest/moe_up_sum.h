/* moe_up with switches: one sum, hidden times a column of a weight, in all admitted orders and engines. */
#ifndef UNSEEN_TEST_HONEST_MOE_UP_SUM_H
#define UNSEEN_TEST_HONEST_MOE_UP_SUM_H

#include "moe_up_tables.h"

enum format { FORMAT_NONE, FORMAT_BF16, FORMAT_FP16, FORMAT_11_BITS };

HONEST_FN float round_to(enum format format, float x)
{
    return format == FORMAT_BF16      ? to_bf16(x)
           : format == FORMAT_FP16    ? to_fp16(x)
           : format == FORMAT_11_BITS ? to_tf32(x)
                                      : x;
}

/* One sum over `terms` products, w's `stride` elements apart. A mutant lets term `odd` count `factor` times
 * and rounds the accumulator every `every` terms. */
struct sum {
    const uint16_t *x, *w;
    int64_t stride, terms;
    int engine, order, mutant;
    int64_t odd, every;
    float factor;
    enum format format;
};

HONEST_FN int64_t sum_step(const struct sum *s)
{
#ifndef __CUDACC__
    return s->engine == SUM_HOPPER ? 16 : s->engine == SUM_AMPERE ? 8 : 1;
#else
    (void)s;
    return 1;
#endif
}

HONEST_FN void sum_operands(const struct sum *s, int64_t i, float *x, float *w)
{
    *x = float_of_bf16(s->x[i]);
    *w = float_of_bf16(s->w[i * s->stride]);
    if (s->mutant == MUTANT_operands_fp16) {
        *x = to_fp16(*x);
        *w = to_fp16(*w);
    } else if (s->mutant == MUTANT_operands_7_bits) {
        *x = keep_bits(*x, 7, true);
    } else if (s->mutant == MUTANT_weights_e4m3) {
        *w = keep_bits(*w, 4, false);
    }
    if (i == s->odd)
        *x *= s->factor;
}

#ifndef __CUDACC__
HONEST_FN float sum_matrix_step(const struct sum *s, int64_t first, int64_t count, float acc)
{
    double product[16];
    int64_t n = 0;
    for (; n < count && first + n < s->terms; n++) {
        float x, w;
        sum_operands(s, first + n, &x, &w);
        product[n] = (double)x * (double)w;
    }
    return (float)matrix_step(acc, product, (int)n, s->engine == SUM_HOPPER ? 25 : 24, 23);
}
#endif

/* Steps from first on, `by` apart, `count` of them, in one accumulator. */
HONEST_FN float sum_chain(const struct sum *s, int64_t first, int64_t count, int64_t by)
{
    float acc = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t step = first + i * by;
#ifndef __CUDACC__
        if (s->engine != SUM_FP32) {
            acc = sum_matrix_step(s, step * sum_step(s), sum_step(s), acc);
            continue;
        }
#endif
        float x, w;
        sum_operands(s, step, &x, &w);
        acc = fmaf(x, w, acc);
        if (s->every && (step + 1) % s->every == 0)
            acc = round_to(s->format, acc);
    }
    return acc;
}

/* Halves of halves: partial[l] holds a finished sum over 2^l blocks while bit l of the count is set. */
HONEST_FN float sum_pairwise(const struct sum *s, int64_t steps, int64_t block)
{
    float partial[40], total = 0;
    int64_t done = 0;
    int level;
    for (int64_t first = 0; first < steps; first += block, done++) {
        float next = sum_chain(s, first, first + block < steps ? block : steps - first, 1);
        for (level = 0; done >> level & 1; level++)
            next = partial[level] + next;
        partial[level] = next;
    }
    for (level = 0; done >> level; level++)
        if (done >> level & 1)
            total = partial[level] + total;
    return total;
}

enum { LANES = 32, BLOCK = 32 };

HONEST_FN float sum_lanes(const struct sum *s, int64_t steps)
{
    float lane[LANES];
    for (int l = 0; l < LANES; l++)
        lane[l] = l < steps ? sum_chain(s, l, (steps - l + LANES - 1) / LANES, LANES) : 0;
    for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

HONEST_FN float sum_part(const struct sum *s)
{
    const int64_t steps = (s->terms + sum_step(s) - 1) / sum_step(s), block = BLOCK / sum_step(s);
    float total = 0;
    switch (s->order) {
    case ORDER_BACKWARD: return sum_chain(s, steps - 1, steps, -1);
    case ORDER_LANES: return sum_lanes(s, steps);
    case ORDER_PAIRWISE: return sum_pairwise(s, steps, block);
    case ORDER_BLOCKS:
        for (int64_t first = 0; first < steps; first += block)
            total += sum_chain(s, first, first + block < steps ? block : steps - first, 1);
        return total;
    default: return sum_chain(s, 0, steps, 1);
    }
}

HONEST_FN double sum_double(const struct sum *s)
{
    const bool backward = s->order == ORDER_BACKWARD;
    double total = 0;
    for (int64_t i = 0; i < s->terms; i++) {
        float x, w;
        sum_operands(s, backward ? s->terms - 1 - i : i, &x, &w);
        total += (double)x * (double)w;
    }
    return total;
}

/* The mutant's change of this sum. */
HONEST_FN void sum_mutate(struct sum *s, bool is_up)
{
    const int64_t last = s->terms - 1;
    s->odd = -1;
    s->factor = 0;
    switch (s->mutant) {
    case MUTANT_drop_first: s->odd = 0; break;
    case MUTANT_drop_last: s->odd = last; break;
    case MUTANT_drop_middle: s->odd = s->terms / 2; break;
    case MUTANT_drop_edge: s->odd = last / 64 * 64; break;
    case MUTANT_drop_tail: s->terms -= s->terms % 8; break;
    case MUTANT_drop_last_long: s->odd = s->terms > 4000 ? last : -1; break;
    case MUTANT_drop_middle_long: s->odd = 4096; break;
    case MUTANT_drop_last_gate: s->odd = is_up ? -1 : last; break;
    case MUTANT_drop_last_up: s->odd = is_up ? last : -1; break;
    case MUTANT_double_first: s->odd = 0, s->factor = 2; break;
    case MUTANT_double_last: s->odd = last, s->factor = 2; break;
    case MUTANT_double_edge: s->odd = 128, s->factor = 2; break;
    case MUTANT_drop_split_up: s->terms = is_up && s->terms > 1024 ? s->terms / 2 : s->terms; break;
    case MUTANT_bf16_accumulator: s->every = 1, s->format = FORMAT_BF16; break;
    case MUTANT_bf16_every_32: s->every = 32, s->format = FORMAT_BF16; break;
    case MUTANT_bf16_every_64: s->every = 64, s->format = FORMAT_BF16; break;
    case MUTANT_bf16_every_128: s->every = 128, s->format = FORMAT_BF16; break;
    case MUTANT_bf16_every_1024: s->every = 1024, s->format = FORMAT_BF16; break;
    case MUTANT_fp16_accumulator: s->every = 1, s->format = FORMAT_FP16; break;
    case MUTANT_fp16_every_32: s->every = 32, s->format = FORMAT_FP16; break;
    case MUTANT_fp16_every_128: s->every = 128, s->format = FORMAT_FP16; break;
    case MUTANT_tf32_accumulator: s->every = 1, s->format = FORMAT_11_BITS; break;
    case MUTANT_tf32_every_32: s->every = 32, s->format = FORMAT_11_BITS; break;
    default: break;
    }
}

HONEST_FN float sum_merge(int merge, float *part, int parts)
{
    float total = 0;
    if (merge == MERGE_TREE) {
        for (int width = 1; width < parts; width *= 2)
            for (int i = 0; i + width < parts; i += 2 * width)
                part[i] += part[i + width];
        return part[0];
    }
    for (int i = 0; i < parts; i++)
        total += part[merge == MERGE_BACKWARD ? parts - 1 - i : i];
    return total;
}

enum { MAX_SPLIT = 16 };

HONEST_FN int split_of(const struct moe *m)
{
    const int parts[] = {1, 2, 5, MAX_SPLIT};
    switch (m->mutant) {
    case MUTANT_split_bf16:
    case MUTANT_split_fp16: return 2;
    case MUTANT_split_8_bf16: return 8;
    default: return parts[m->choice[SPLIT]];
    }
}

/* The terms of one part: a multiple of 16, so that no tile is cut. */
HONEST_FN int64_t split_length(int64_t terms, int parts)
{
    return (terms + 16 * parts - 1) / (16 * parts) * 16;
}

/* x . w over all of hidden_dim. */
HONEST_FN double moe_dot(const struct moe *m, bool is_up, const uint16_t *x, const uint16_t *w,
                         int64_t stride)
{
    struct sum whole = {x,         w,  stride, m->dim, m->choice[SUM], m->choice[ORDER],
                        m->mutant, -1, 0,      0,      FORMAT_NONE};
    const int parts = split_of(m);
    float part[MAX_SPLIT];
    if (is_up && m->choice[UP_ORDER])
        whole.order = ORDER_FORWARD;
    sum_mutate(&whole, is_up);
    if (whole.engine == SUM_DOUBLE)
        return sum_double(&whole);
    const int64_t length = split_length(whole.terms, parts);
    for (int p = 0; p < parts; p++) {
        struct sum s = whole;
        const int64_t first = p * length, left = whole.terms - first;
        s.x += first;
        s.w += first * stride;
        s.odd -= first;
        s.terms = left < 0 ? 0 : left < length ? left : length;
        part[p] = sum_part(&s);
        if (m->mutant == MUTANT_split_bf16 || m->mutant == MUTANT_split_8_bf16)
            part[p] = to_bf16(part[p]);
        else if (m->mutant == MUTANT_split_fp16)
            part[p] = to_fp16(part[p]);
    }
    return sum_merge(m->choice[MERGE], part, parts);
}

#endif
