/* A matrix product in every way that its declared arithmetic admits: one output element, sum_k a[k] b[k]. The
 * includer defines GEMM_F32 for gemm_f32; else the operands and the output are bf16. */
#ifndef UNSEEN_TEST_HONEST_GEMM_H
#define UNSEEN_TEST_HONEST_GEMM_H

#include "arithmetic.h"
#include "switches.h"

enum { GEMM_LANES = 32, GEMM_SPLITS = 64, GEMM_PARTS = 3, GEMM_PAIRS = 9 };
#ifdef __CUDACC__
enum { GEMM_GROUP = 1 };
#else
enum { GEMM_GROUP = 16 };
#endif

enum gemm_order { ORDER_UP, ORDER_DOWN, ORDER_STRIDED, ORDER_ENDS };
enum gemm_engine { ENGINE_FP32, ENGINE_KAHAN, ENGINE_DOUBLE, ENGINE_MATRIX, ENGINE_MATRIX_90 };
enum gemm_parts { PARTS_PLAIN, PARTS_TF32, PARTS_TF32_CUT, PARTS_TF32_RAW, PARTS_BF16_ALL, PARTS_BF16_SIX };
enum gemm_rest { REST_FIRST, REST_LAST, REST_APART };
enum gemm_output { OUTPUT_EVEN, OUTPUT_AWAY, OUTPUT_DIRECT };

/* The switches, resolved: a kernel's arguments. */
struct gemm_way {
    int order, lanes, block, split, tree, engine, rounded, parts, rest, output, mutant;
};

/* --- operands --- */

#ifdef GEMM_F32
typedef float gemm_element;
HONEST_FN float gemm_value(gemm_element x)
{
    return x;
}
#else
typedef uint16_t gemm_element;
HONEST_FN float gemm_value(gemm_element x)
{
    return float_of((uint32_t)x << 16);
}
#endif

/* The k elements of one row of a or one column of b, `step` elements apart. */
struct gemm_line {
    const gemm_element *at;
    int64_t step;
};

HONEST_FN float gemm_load(const struct gemm_line *line, int64_t k)
{
    return gemm_value(line->at[k * line->step]);
}

/* x as a sum of short parts. Two parts of 11 bits: the first rounded to nearest or cut, or both cut, as the
 * hardware does with the bits of a single. Three parts of 8 bits lose nothing. */
HONEST_FN void gemm_split(float x, int parts, float out[GEMM_PARTS])
{
    const bool eight = parts >= PARTS_BF16_ALL;
    const int kept = eight ? 8 : 11;
    out[0] = keep_bits(x, kept, parts == PARTS_TF32_CUT || parts == PARTS_TF32_RAW);
    out[1] = keep_bits(x - out[0], kept, parts == PARTS_TF32_RAW);
    out[2] = eight ? keep_bits(x - out[0] - out[1], kept, false) : 0;
}

/* How many products of parts are added up: three-term TF32 omits small times small, six of nine the least
 * three. */
HONEST_FN int gemm_pairs(int parts)
{
    return parts == PARTS_PLAIN ? 1 : parts == PARTS_BF16_ALL ? 9 : parts == PARTS_BF16_SIX ? 6 : 3;
}

/* The parts that product i multiplies, the greatest products first. */
HONEST_FN void gemm_pair(int i, int *of_a, int *of_b)
{
    const int pair[GEMM_PAIRS] = {0, 1, 10, 11, 2, 20, 12, 21, 22};
    *of_a = pair[i] / 10;
    *of_b = pair[i] % 10;
}

HONEST_FN void gemm_products(float x, float y, const struct gemm_way *w, double out[GEMM_PAIRS])
{
    float u[GEMM_PARTS], v[GEMM_PARTS];
    if (w->parts == PARTS_PLAIN) {
        out[0] = (double)x * (double)y;
        if (w->rounded)
            out[0] = (float)out[0];
        return;
    }
    gemm_split(x, w->parts, u);
    gemm_split(y, w->parts, v);
    for (int i = 0; i < gemm_pairs(w->parts); i++) {
        int of_a, of_b;
        gemm_pair(i, &of_a, &of_b);
        out[i] = (double)u[of_a] * (double)v[of_b];
    }
}

/* --- orders --- */

enum { GEMM_STRIDE = 32 };

/* Positions 0 to n - 1, each once. */
struct gemm_walk {
    int order;
    int64_t n, step, strided, first;
};

HONEST_FN int64_t walk_next(struct gemm_walk *w)
{
    const int64_t t = w->step++;
    switch (w->order) {
    case ORDER_DOWN: return w->n - 1 - t;
    case ORDER_ENDS: return t % 2 ? w->n - 1 - t / 2 : t / 2;
    case ORDER_STRIDED: {
        const int64_t here = w->strided;
        w->strided += GEMM_STRIDE;
        if (w->strided >= w->n)
            w->strided = ++w->first;
        return here;
    }
    default: return t;
    }
}

/* --- sums --- */

/* Singles, except for ENGINE_DOUBLE; `carry` is the excess of a compensated sum. */
struct gemm_sum {
    double value, carry;
};

/* One addition, rounded once: to single, of an exact product a fused one. */
HONEST_FN void sum_add(struct gemm_sum *s, double x, int engine)
{
    if (engine == ENGINE_DOUBLE) {
        s->value += x;
    } else if (engine == ENGINE_KAHAN) {
        const float y = (float)(x - s->carry), was = (float)s->value, now = was + y;
        const float carry = (now - was) - y;
        s->carry = isfinite(carry) ? carry : 0; /* infinity stays infinity */
        s->value = now;
    } else {
        s->value = (float)(s->value + x);
    }
}

HONEST_FN void sum_merge(struct gemm_sum *into, const struct gemm_sum *from, int engine)
{
    sum_add(into, from->value, engine);
    if (engine == ENGINE_KAHAN)
        sum_add(into, -from->carry, engine);
}

/* All into the first, one after another or as a tree. */
HONEST_FN struct gemm_sum sum_all(struct gemm_sum *s, int count, const struct gemm_way *w)
{
    for (int apart = 1; w->tree && apart < count; apart *= 2)
        for (int i = 0; i + apart < count; i += 2 * apart)
            sum_merge(&s[i], &s[i + apart], w->engine);
    for (int i = 1; !w->tree && i < count; i++)
        sum_merge(&s[0], &s[i], w->engine);
    return s[0];
}

/* The terms that one step of the engine takes, by pairs of parts. */
struct gemm_group {
    double product[GEMM_PAIRS][GEMM_GROUP];
    int count, pairs;
};

/* Terms a step; TF32's units take half as many as those of 16 bits. */
HONEST_FN int gemm_step(const struct gemm_way *w)
{
    const bool tf32 = w->parts >= PARTS_TF32 && w->parts <= PARTS_TF32_RAW;
#ifdef __CUDACC__
    (void)tf32;
    return 1; /* the GPU has matrix units of its own */
#else
    return w->engine < ENGINE_MATRIX ? 1 : (w->engine == ENGINE_MATRIX_90 ? 16 : 8) / (tf32 ? 2 : 1);
#endif
}

HONEST_FN void add_products(struct gemm_sum *s, const struct gemm_group *g, int pair,
                            const struct gemm_way *w)
{
    double plain = s->value;
    for (int i = 0; w->engine >= ENGINE_MATRIX && i < g->count; i++)
        plain += g->product[pair][i];
    if (w->engine < ENGINE_MATRIX)
        sum_add(s, g->product[pair][0], w->engine);
    else if (!isfinite(plain))
        s->value = plain;
    else
        s->value =
            matrix_step(s->value, g->product[pair], g->count, w->engine == ENGINE_MATRIX_90 ? 25 : 24, 23);
}

HONEST_FN void add_group(struct gemm_sum *s, struct gemm_sum *rest, const struct gemm_group *g,
                         const struct gemm_way *w)
{
    for (int i = 0; i < g->pairs; i++) {
        const int pair = w->rest == REST_LAST ? i : g->pairs - 1 - i;
        add_products(pair > 0 && w->rest == REST_APART ? rest : s, g, pair, w);
    }
}

/* sum_k a[k] b[k] over k from `first` to `end` - 1: blocks of `block` terms (0: one), each dealt step by step
 * to `lanes` accumulators. */
HONEST_FN struct gemm_sum gemm_partial(const struct gemm_line *a, const struct gemm_line *b, int64_t first,
                                       int64_t end, const struct gemm_way *w)
{
    struct gemm_walk walk = {w->order, end - first, 0, 0, 0};
    struct gemm_sum total = {0, 0}, lane[2 * GEMM_LANES];
    struct gemm_group g;
    const int size = gemm_step(w), lanes = w->lanes;
    g.pairs = gemm_pairs(w->parts);
    for (int64_t t = 0; t < walk.n;) {
        const int64_t stop = w->block && t + w->block < walk.n ? t + w->block : walk.n;
        for (int l = 0; l < lanes; l++)
            lane[l].value = lane[l].carry = lane[lanes + l].value = lane[lanes + l].carry = 0;
        for (int l = 0; t < stop; l = l + 1 < lanes ? l + 1 : 0) {
            for (g.count = 0; g.count < size && t < stop; g.count++, t++) {
                const int64_t k = first + walk_next(&walk);
                double out[GEMM_PAIRS];
                gemm_products(gemm_load(a, k), gemm_load(b, k), w, out);
                for (int i = 0; i < g.pairs; i++)
                    g.product[i][g.count] = out[i];
            }
            add_group(&lane[l], &lane[lanes + l], &g, w);
        }
        const struct gemm_sum sum = sum_all(lane, w->rest == REST_APART ? 2 * lanes : lanes, w);
        sum_merge(&total, &sum, w->engine);
    }
    return total;
}

/* The bounds of a slice of a split sum. */
HONEST_FN int64_t gemm_slice(int64_t k, const struct gemm_way *w, int slice)
{
    return k * slice / w->split;
}

HONEST_FN double gemm_finish(struct gemm_sum *partial, const struct gemm_way *w)
{
    const struct gemm_sum sum = sum_all(partial, w->split, w);
    return sum.value;
}

HONEST_FN double gemm_dot(const struct gemm_line *a, const struct gemm_line *b, int64_t k,
                          const struct gemm_way *w)
{
    struct gemm_sum partial[GEMM_SPLITS];
    for (int s = 0; s < w->split; s++)
        partial[s] = gemm_partial(a, b, gemm_slice(k, w, s), gemm_slice(k, w, s + 1), w);
    return gemm_finish(partial, w);
}

/* --- the output --- */

#ifdef GEMM_F32
HONEST_FN gemm_element gemm_round(double value, const struct gemm_way *w)
{
    (void)w;
    return (float)value;
}
#else
/* To the nearest bf16, of a single or of the double itself; at a tie to the even one or away from 0. */
HONEST_FN gemm_element gemm_round(double value, const struct gemm_way *w)
{
    const float single = (float)value;
    const uint32_t bits = bits_of(single);
    uint16_t up = (uint16_t)(bits >> 16);
    if (!isfinite(single))
        return single != single ? 0x7fff : up;
    if (w->output == OUTPUT_AWAY)
        return (uint16_t)((bits + 0x8000u) >> 16);
    if (w->output == OUTPUT_EVEN || (bits & 0xffffu) != 0x8000u || single == value)
        return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    return fabs(value) > fabs((double)single) ? (uint16_t)(up + 1) : up; /* off the tie in double */
}
#endif

#endif
