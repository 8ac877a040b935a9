/* A running sum of fp32 terms in one of several ways, for programs of softmax. */
#ifndef UNSEEN_HONEST_SOFTMAX_SUM_H
#define UNSEEN_HONEST_SOFTMAX_SUM_H

#include "softmax_exp.h"

enum { SUM_LEVELS = 24 };

struct sum {
    float value, low; /* and its lost part, where that is stored */
    double wide;
    float level[SUM_LEVELS]; /* pairwise: of 1, 2, 4, .. terms, where `count` has a bit */
    int64_t count;
};

HONEST_FN struct sum sum_zero(void)
{
    struct sum s;
    s.value = s.low = 0;
    s.wide = 0;
    s.count = 0;
    return s;
}

HONEST_FN void sum_spoil(const struct how *how, struct sum *s)
{
    if (how->mutant == BF16_SUM || (how->mutant == BF16_SUM_EVERY_32 && s->count % 32 == 0))
        s->value = to_bf16(s->value);
    if (how->mutant == TF32_SUM || (how->mutant == TF32_SUM_EVERY_128 && s->count % 128 == 0))
        s->value = to_tf32(s->value);
    if (how->mutant == FP16_SUM_EVERY_64 && s->count % 64 == 0)
        s->value = to_fp16(s->value);
}

/* (value, low) + x, where low is the loss of the last addition: Kahan. */
HONEST_FN void sum_add_compensated(struct sum *s, float x)
{
    const float y = apart(x - s->low), total = apart(s->value + y);
    s->low = apart(apart(total - s->value) - y);
    s->value = total;
}

HONEST_FN void sum_add_pairwise(struct sum *s, float x)
{
    int l = 0;
    for (; s->count >> l & 1; l++)
        x = s->level[l] + x;
    s->level[l] = x;
}

HONEST_FN void sum_add(const struct how *how, struct sum *s, float x)
{
    switch (how->choice[SUM]) {
    case SUM_PAIRWISE: sum_add_pairwise(s, x); break;
    case SUM_KAHAN: sum_add_compensated(s, x); break;
    case SUM_DOUBLE: s->wide += (double)x; break;
    default: s->value += x;
    }
    s->count++;
    sum_spoil(how, s);
}

HONEST_FN void sum_scale(const struct how *how, struct sum *s, float factor)
{
    s->value *= factor;
    s->low *= factor;
    s->wide *= (double)factor;
    for (int l = 0; how->choice[SUM] == SUM_PAIRWISE && l < SUM_LEVELS; l++)
        if (s->count >> l & 1)
            s->level[l] *= factor;
}

HONEST_FN float sum_value(const struct how *how, const struct sum *s)
{
    float total = 0;
    switch (how->choice[SUM]) {
    case SUM_PAIRWISE:
        for (int l = 0; l < SUM_LEVELS; l++)
            if (s->count >> l & 1)
                total += s->level[l];
        return total;
    case SUM_DOUBLE: return (float)s->wide;
    default: return s->value;
    }
}

#endif
