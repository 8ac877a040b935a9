/* Brings a condition that can be written in several ways into one form. Merges terms of a clause that ask
 * about one axis. The result is the cheapest single term that agrees with them on every value of the
 * contract. Products and quotients are replaced by plain comparisons if they amount to these. Replacements
 * are exact: they are compared over whole periods of all remainders, beyond all thresholds. */
#include "predicate.h"

#include <stdlib.h>

#include "gen/draw/move.h"

enum { MOST_ENUMERATED = 1 << 15, PERIODS = 2, MOST_SET = 8 };

/* The truth of a group of terms for each value of one axis. */
struct truth {
    int64_t *value;
    bool *holds;
    int count, held;
};

static int find_quantity(const struct vocabulary *vocabulary, enum quantity_kind kind, int axis, int other)
{
    for (int q = 0; q < vocabulary->quantities; q++) {
        const struct quantity *quantity = &vocabulary->quantity[q];
        if (quantity->kind == kind && quantity->axis[0] == axis &&
            (other < 0 ? quantity->count == 1 : quantity->count == 2 && quantity->axis[1] == other))
            return q;
    }
    return -1;
}

/* --- products and quotients that are comparisons --- */

/* Makes the predicate "a > b" (`greater`) or "a >= b", or its negation. Returns false if no quantity compares
 * the two axes. */
static bool set_order(const struct vocabulary *vocabulary, struct predicate *predicate, int a, int b,
                      bool greater, bool negated)
{
    const int forward = find_quantity(vocabulary, QUANTITY_ORDER, a, b),
              back = find_quantity(vocabulary, QUANTITY_ORDER, b, a);
    if (forward < 0 && back < 0)
        return false;
    const int64_t more = forward >= 0 ? ORDER_MORE : ORDER_LESS,
                  less = forward >= 0 ? ORDER_LESS : ORDER_MORE;
    *predicate = (struct predicate){.quantity = forward >= 0 ? forward : back,
                                    .kind = PREDICATE_EQUAL,
                                    .negated = greater ? negated : !negated,
                                    .a = greater ? more : less};
    return true;
}

static bool simplify(const struct vocabulary *vocabulary, struct predicate *predicate)
{
    const struct quantity quantity = vocabulary->quantity[predicate->quantity];
    const int a = quantity.axis[0], b = quantity.count > 1 ? quantity.axis[1] : -1;
    const bool above = predicate->kind == PREDICATE_ABOVE,
               none = predicate->kind == PREDICATE_EQUAL && predicate->a == 0;
    if (b < 0 || vocabulary->space->domain[b].low < 1)
        return false;
    if (quantity.kind == QUANTITY_OFFSET && above && predicate->a == 0) {
        const int axis = find_quantity(vocabulary, QUANTITY_PRODUCT, a, -1);
        if (axis < 0)
            return false;
        *predicate = (struct predicate){
            .quantity = axis, .kind = PREDICATE_ABOVE, .negated = predicate->negated, .a = 1};
        return true;
    }
    if (quantity.kind == QUANTITY_RATIO && ((above && predicate->a == 0) || none))
        return set_order(vocabulary, predicate, a, b, false, none ? !predicate->negated : predicate->negated);
    if (quantity.kind == QUANTITY_CEILING && above && predicate->a == 1)
        return set_order(vocabulary, predicate, a, b, true, predicate->negated);
    return false;
}

/* --- terms of one axis --- */

static int axis_of(const struct vocabulary *vocabulary, const struct predicate *predicate)
{
    const struct quantity *quantity = &vocabulary->quantity[predicate->quantity];
    const bool single = quantity_is_axis(quantity) || quantity->kind == QUANTITY_TILES;
    return single && domain_is_number(vocabulary->space, quantity->axis[0]) ? quantity->axis[0] : -1;
}

static int64_t value_of(const struct vocabulary *vocabulary, const struct predicate *predicate, int64_t axis)
{
    const struct quantity *quantity = &vocabulary->quantity[predicate->quantity];
    return quantity->kind == QUANTITY_TILES ? (axis + quantity->tile - 1) / quantity->tile : axis;
}

/* Returns how far the values must be compared: whole periods beyond the last threshold. Returns 0 if that is
 * too far, or if a term asks for published values, sets or powers of two. */
static int64_t reach_of(const struct vocabulary *vocabulary, const struct predicate *predicate,
                        const bool *in, int count)
{
    int64_t period = 1, last = 1;
    for (int i = 0; i < count; i++) {
        const struct quantity *quantity = &vocabulary->quantity[predicate[i].quantity];
        const int64_t tile = quantity->kind == QUANTITY_TILES ? quantity->tile : 1;
        const bool remainder = predicate[i].kind == PREDICATE_REMAINDER ||
                               predicate[i].kind == PREDICATE_RESIDUE_ABOVE ||
                               predicate[i].kind == PREDICATE_RESIDUE_SET;
        if (!in[i])
            continue;
        if (predicate[i].kind == PREDICATE_SEEN || predicate[i].kind == PREDICATE_POWER ||
            predicate[i].kind == PREDICATE_SET || predicate[i].a > MOST_ENUMERATED)
            return 0;
        period = remainder ? least_common_multiple(period, predicate[i].a * tile) : period;
        if (period > MOST_ENUMERATED)
            return 0;
        if (predicate[i].kind == PREDICATE_ABOVE || predicate[i].kind == PREDICATE_EQUAL)
            last = (predicate[i].a + 1) * tile > last ? (predicate[i].a + 1) * tile : last;
    }
    last = last < 64 ? 64 : last; /* sets of small values end there */
    return last + (PERIODS + 1) * LARGEST_MODULUS + PERIODS * period;
}

static bool fill_truth(const struct vocabulary *vocabulary, const struct predicate *predicate, const bool *in,
                       int count, int axis, struct truth *truth)
{
    const struct domain *domain = &vocabulary->space->domain[axis];
    const int64_t reach = domain->value_count > 0 ? 1 : reach_of(vocabulary, predicate, in, count);
    const int64_t high = domain->high < domain->low + reach ? domain->high : domain->low + reach;
    const int64_t values = domain->value_count > 0 ? domain->value_count : high - domain->low + 1;
    *truth = (struct truth){.count = 0};
    if (reach == 0 || values > MOST_ENUMERATED)
        return false;
    truth->value = calloc((size_t)values, sizeof *truth->value);
    truth->holds = calloc((size_t)values, sizeof *truth->holds);
    for (int64_t i = 0; truth->value && truth->holds && i < values; i++) {
        const int64_t value = domain->value_count > 0 ? domain->value[i] : domain->low + i;
        bool holds = true;
        for (int a = 0; a < count; a++)
            holds = holds &&
                    (!in[a] || predicate_holds(&predicate[a], &vocabulary->quantity[predicate[a].quantity],
                                               value_of(vocabulary, &predicate[a], value)));
        truth->value[truth->count] = value;
        truth->holds[truth->count++] = holds;
        truth->held += holds;
    }
    if (truth->held > 0 && truth->held < truth->count)
        return true;
    free(truth->value);
    free(truth->holds);
    return false;
}

static bool is_said_by(const struct vocabulary *vocabulary, const struct truth *truth,
                       const struct predicate *predicate)
{
    const struct quantity *quantity = &vocabulary->quantity[predicate->quantity];
    for (int i = 0; i < truth->count; i++)
        if (predicate_holds(predicate, quantity, truth->value[i]) != truth->holds[i])
            return false;
    return true;
}

static void offer(const struct vocabulary *vocabulary, const struct truth *truth, struct predicate predicate,
                  struct predicate *best)
{
    for (int negated = 0; negated < 2; negated++) {
        predicate.negated = negated;
        predicate.cost = vocabulary_cost(vocabulary, &predicate);
        if (predicate.cost < best->cost && is_said_by(vocabulary, truth, &predicate))
            *best = predicate;
    }
}

/* Offers predicates with this modulus, made of the remainders where the group holds. */
static void offer_modulus(const struct vocabulary *vocabulary, const struct truth *truth, int q, int modulus,
                          struct predicate *best)
{
    bool holds[LARGEST_MODULUS] = {false};
    int members = 0, least = modulus, most = -1, absent = -1;
    for (int i = 0; i < truth->count; i++)
        holds[truth->value[i] % modulus] |= truth->holds[i];
    uint64_t set = 0;
    for (int r = 0; r < modulus; r++) {
        members += holds[r];
        least = holds[r] && r < least ? r : least;
        most = holds[r] ? r : most;
        absent = holds[r] ? absent : r;
        set |= modulus <= 64 && holds[r] ? (uint64_t)1 << r : 0;
    }
    struct predicate predicate = {
        .quantity = q, .kind = PREDICATE_REMAINDER, .a = modulus, .b = members == 1 ? most : absent};
    if (members == 1 || members == modulus - 1)
        offer(vocabulary, truth, predicate, best);
    predicate.kind = PREDICATE_RESIDUE_ABOVE;
    predicate.b = least > 0 ? least - 1 : most;
    if (modulus > 2 && predicate.b > 0 && predicate.b < modulus - 1)
        offer(vocabulary, truth, predicate, best);
    predicate.kind = PREDICATE_RESIDUE_SET;
    predicate.b = (int64_t)set;
    if (modulus > 2 && modulus <= 64 && members > 1 && members <= MOST_SET)
        offer(vocabulary, truth, predicate, best);
}

static void offer_values(const struct vocabulary *vocabulary, const struct truth *truth, int q,
                         struct predicate *best)
{
    uint64_t small = 0;
    int turns = 0, turn = 0;
    for (int i = 0; i < truth->count; i++) {
        if (i > 0 && truth->holds[i] != truth->holds[i - 1]) {
            turns++;
            turn = i;
        }
        small |= truth->holds[i] && truth->value[i] < 64 ? (uint64_t)1 << truth->value[i] : 0;
        if (truth->holds[i] == (truth->held == 1) && (truth->held == 1 || truth->held == truth->count - 1))
            offer(vocabulary, truth,
                  (struct predicate){.quantity = q, .kind = PREDICATE_EQUAL, .a = truth->value[i]}, best);
    }
    if (turns == 1)
        offer(vocabulary, truth,
              (struct predicate){.quantity = q, .kind = PREDICATE_ABOVE, .a = truth->value[turn - 1]}, best);
    if (truth->held > 1 && truth->held <= MOST_SET)
        offer(vocabulary, truth,
              (struct predicate){.quantity = q, .kind = PREDICATE_SMALL, .a = (int64_t)small}, best);
}

static double cost_of(const struct predicate *predicate, const bool *in, int count)
{
    double cost = 0;
    int terms = 0;
    for (int i = 0; i < count; i++)
        if (in[i]) {
            cost += predicate[i].cost;
            terms++;
        }
    return cost + 3 * (terms - 1);
}

/* Merges the terms of the clause from..end that ask about this axis alone. Returns false if no cheaper term
 * says the same. */
static bool merge(const struct vocabulary *vocabulary, struct hypothesis *hypothesis, int from, int end,
                  int axis)
{
    bool in[MOST_TERMS] = {false};
    struct truth truth;
    int first = -1;
    for (int i = from; i < end; i++) {
        in[i] = axis_of(vocabulary, &hypothesis->term[i]) == axis;
        first = in[i] && first < 0 ? i : first;
    }
    const int q = find_quantity(vocabulary, QUANTITY_PRODUCT, axis, -1);
    struct predicate best = {.quantity = -1};
    if (first >= 0 && q >= 0 && fill_truth(vocabulary, hypothesis->term, in, end, axis, &truth)) {
        best.cost = cost_of(hypothesis->term, in, end);
        for (int modulus = 2; modulus <= LARGEST_MODULUS; modulus++)
            offer_modulus(vocabulary, &truth, q, modulus, &best);
        offer_values(vocabulary, &truth, q, &best);
        free(truth.value);
        free(truth.holds);
    }
    if (best.quantity < 0)
        return false;
    hypothesis->term[first] = best;
    for (int i = end - 1; i > first; i--)
        if (in[i])
            hypothesis_remove_term(hypothesis, i);
    return true;
}

static bool merge_any(const struct vocabulary *vocabulary, struct hypothesis *hypothesis)
{
    for (int from = 0, end; from < hypothesis->count; from = end) {
        for (end = from + 1; end < hypothesis->count && !hypothesis->starts[end];)
            end++;
        for (int i = from; i < end; i++) {
            const int axis = axis_of(vocabulary, &hypothesis->term[i]);
            if (axis >= 0 && merge(vocabulary, hypothesis, from, end, axis))
                return true;
        }
    }
    return false;
}

/* --- multiples of a modulus beyond those that are tested --- */

/* Returns whether both predicates are in one clause; with `alone`, whether each is a clause of its own. */
static bool are_together(const struct hypothesis *hypothesis, int i, int j, bool alone)
{
    const int low = i < j ? i : j, high = i < j ? j : i;
    bool split = false;
    for (int k = low + 1; k <= high; k++)
        split = split || hypothesis->starts[k];
    const bool low_alone = hypothesis->starts[low] && hypothesis->starts[low + 1]; /* `high` follows `low` */
    const bool high_alone =
        hypothesis->starts[high] && (high + 1 == hypothesis->count || hypothesis->starts[high + 1]);
    return alone ? low_alone && high_alone : !split;
}

/* Returns the modulus that two predicates have together, or 0 if they are no such pair.
 * `n % 256 == 0 and (n + 255) / 256 % 16 == 0` says `n % 4096 == 0`; likewise with `!=` and `or`. */
static int64_t common_modulus(const struct vocabulary *vocabulary, const struct hypothesis *hypothesis, int i,
                              int j)
{
    const struct predicate *a = &hypothesis->term[i], *b = &hypothesis->term[j];
    const struct quantity *axis = &vocabulary->quantity[a->quantity],
                          *tiles = &vocabulary->quantity[b->quantity];
    const bool multiples =
        a->kind == PREDICATE_REMAINDER && b->kind == PREDICATE_REMAINDER && a->b == 0 && b->b == 0;
    if (i == j || !multiples || a->negated != b->negated || !quantity_is_axis(axis) ||
        tiles->kind != QUANTITY_TILES || axis->axis[0] != tiles->axis[0] || a->a % tiles->tile != 0 ||
        !are_together(hypothesis, i, j, a->negated))
        return 0;
    return least_common_multiple(a->a, tiles->tile * b->a);
}

static void merge_moduli(const struct vocabulary *vocabulary, struct hypothesis *hypothesis)
{
    for (int i = 0; i < hypothesis->count; i++)
        for (int j = 0; j < hypothesis->count; j++) {
            const int64_t modulus = common_modulus(vocabulary, hypothesis, i, j);
            if (modulus == 0)
                continue;
            hypothesis->term[i].a = modulus;
            hypothesis_remove_term(hypothesis, j);
            i = -1; /* start again */
            break;
        }
}
void hypothesis_simplify(const struct vocabulary *vocabulary, struct hypothesis *hypothesis)
{
    for (int i = 0; i < hypothesis->count; i++) {
        struct predicate *const predicate = &hypothesis->term[i];
        if (simplify(vocabulary, predicate))
            predicate->cost = vocabulary_cost(vocabulary, predicate);
    }
    for (int i = 0; i < 2 * MOST_TERMS && merge_any(vocabulary, hypothesis); i++)
        ;
    merge_moduli(vocabulary, hypothesis);
}
