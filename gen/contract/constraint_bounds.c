/* Evaluates a constraint over a box of configurations by interval arithmetic: it holds everywhere, nowhere,
 * or the result is unknown. */
#include <limits.h>

#include "constraint_internal.h"

struct interval {
    int64_t low, high;
};

static struct interval hull(const int64_t *value, int count)
{
    struct interval hull = {value[0], value[0]};
    for (int i = 1; i < count; i++) {
        hull.low = value[i] < hull.low ? value[i] : hull.low;
        hull.high = value[i] > hull.high ? value[i] : hull.high;
    }
    return hull;
}

static const struct interval anything = {INT64_MIN, INT64_MAX};

/* Saturating multiplication is monotone, so the corners bound a product. */
static struct interval product(struct interval a, struct interval b)
{
    const int64_t corner[] = {constraint_multiply(a.low, b.low), constraint_multiply(a.low, b.high),
                              constraint_multiply(a.high, b.low), constraint_multiply(a.high, b.high)};
    return hull(corner, 4);
}

/* Bounds a quotient with a positive divisor. Other divisors are rare in contracts and give no bound. */
static struct interval quotient(struct interval a, struct interval b)
{
    if (b.low < 1)
        return anything;
    const int64_t corner[] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
    return hull(corner, 4);
}

static struct interval remainder_of(struct interval a, struct interval b)
{
    if (b.low < 1)
        return anything;
    if (b.low == b.high && a.low / b.low == a.high / b.low && (a.low >= 0) == (a.high >= 0))
        return (struct interval){a.low % b.low, a.high % b.low};
    const int64_t most = b.high - 1;
    return (struct interval){a.low < 0 ? (a.low > -most ? a.low : -most) : 0,
                             a.high > 0 ? (a.high < most ? a.high : most) : 0};
}

/* Bounds a power of a nonnegative base and exponent; exponents beyond 64 have saturated. */
static struct interval power(struct interval a, struct interval b)
{
    int64_t low = 1, high = 1;
    if (a.low < 0 || b.low < 0)
        return anything;
    for (int64_t i = 0; i < b.low && i < 64; i++)
        low = constraint_multiply(low, a.low);
    for (int64_t i = 0; i < b.high && i < 64; i++)
        high = constraint_multiply(high, a.high);
    if (a.low == 0 && b.high > 0)
        low = 0;
    return (struct interval){low, b.low == 0 && high < 1 ? 1 : high};
}

/* The truth value as an interval: 0 or 1 if known, else both. */
static struct interval truth(bool always, bool never)
{
    return (struct interval){always, !never};
}

static struct interval compare(enum op op, struct interval a, struct interval b)
{
    switch (op) {
    case OP_LE: return truth(a.high <= b.low, a.low > b.high);
    case OP_LT: return truth(a.high < b.low, a.low >= b.high);
    case OP_GE: return truth(a.low >= b.high, a.high < b.low);
    case OP_GT: return truth(a.low > b.high, a.high <= b.low);
    default: break;
    }
    const bool apart = a.high < b.low || a.low > b.high;
    const bool equal = a.low == a.high && b.low == b.high && a.low == b.low;
    return op == OP_EQ ? truth(equal, apart) : op == OP_NE ? truth(apart, equal) : anything;
}

static struct interval apply(enum op op, struct interval a, struct interval b)
{
    switch (op) {
    case OP_POWER: return power(a, b);
    case OP_MULTIPLY: return product(a, b);
    case OP_DIVIDE: return quotient(a, b);
    case OP_REMAINDER: return remainder_of(a, b);
    case OP_ADD: return (struct interval){constraint_add(a.low, b.low), constraint_add(a.high, b.high)};
    case OP_SUBTRACT:
        return (struct interval){constraint_subtract(a.low, b.high), constraint_subtract(a.high, b.low)};
    default: return compare(op, a, b);
    }
}

enum constraint_bound constraint_over(const struct constraint *constraint, const int64_t *low,
                                      const int64_t *high)
{
    struct interval stack[CONSTRAINT_MAX_STEPS];
    int top = 0;
    for (int i = 0; i < constraint->count; i++) {
        const struct step *step = &constraint->step[i];
        if (step->op == OP_NUMBER) {
            stack[top++] = (struct interval){step->operand, step->operand};
        } else if (step->op == OP_AXIS) {
            stack[top++] = (struct interval){low[step->operand], high[step->operand]};
        } else if (step->op == OP_NEGATE) {
            const struct interval a = stack[top - 1];
            stack[top - 1] = (struct interval){constraint_subtract(0, a.high), constraint_subtract(0, a.low)};
        } else if (step->op > OP_GT || step->op == OP_DERIVED) { /* functions of rules; contracts have none */
            return CONSTRAINT_MAY_HOLD;
        } else {
            top--;
            stack[top - 1] = apply(step->op, stack[top - 1], stack[top]);
        }
    }
    return stack[0].low > 0                          ? CONSTRAINT_HOLDS
           : stack[0].low == 0 && stack[0].high == 0 ? CONSTRAINT_FAILS
                                                     : CONSTRAINT_MAY_HOLD;
}
