/* Brings a condition that can be written in several ways into one form. Merges terms of a clause that ask
 * about one axis. The result is the cheapest single term that agrees with them on every value of the
 * contract. Products and quotients are replaced by plain comparisons if they amount to these. Replacements
 * are exact: they are compared over whole periods of all remainders, beyond all thresholds. */
#include "explain_internal.h"

#include <stdlib.h>

enum { MOST_ENUMERATED = 1 << 15, PERIODS = 2, MOST_SET = 8 };

/* The truth of a group of terms for each value of one axis. */
struct truth {
    int64_t *value;
    bool *holds;
    int count, held;
};

static int find_quantity(const struct explainer *ex, enum quantity_kind kind, int axis, int other)
{
    for (int q = 0; q < ex->quantities; q++) {
        const struct quantity *quantity = &ex->quantity[q];
        if (quantity->kind == kind && quantity->axis[0] == axis &&
            (other < 0 ? quantity->count == 1 : quantity->count == 2 && quantity->axis[1] == other))
            return q;
    }
    return -1;
}

/* --- products and quotients that are comparisons --- */

/* Makes the predicate "a > b" (`greater`) or "a >= b", or its negation. Returns false if no quantity compares
 * the two axes. */
static bool set_order(const struct explainer *ex, struct atom *atom, int a, int b, bool greater, bool negated)
{
    const int forward = find_quantity(ex, QUANTITY_ORDER, a, b),
              back = find_quantity(ex, QUANTITY_ORDER, b, a);
    if (forward < 0 && back < 0)
        return false;
    const int64_t more = forward >= 0 ? ORDER_MORE : ORDER_LESS,
                  less = forward >= 0 ? ORDER_LESS : ORDER_MORE;
    *atom = (struct atom){.quantity = forward >= 0 ? forward : back,
                          .kind = ATOM_EQUAL,
                          .negated = greater ? negated : !negated,
                          .a = greater ? more : less};
    return true;
}

static bool simplify(const struct explainer *ex, struct atom *atom)
{
    const struct quantity quantity = ex->quantity[atom->quantity];
    const int a = quantity.axis[0], b = quantity.count > 1 ? quantity.axis[1] : -1;
    const bool above = atom->kind == ATOM_ABOVE, none = atom->kind == ATOM_EQUAL && atom->a == 0;
    if (b < 0 || ex->space->domain[b].low < 1)
        return false;
    if (quantity.kind == QUANTITY_OFFSET && above && atom->a == 0) {
        const int axis = find_quantity(ex, QUANTITY_PRODUCT, a, -1);
        if (axis < 0)
            return false;
        *atom = (struct atom){.quantity = axis, .kind = ATOM_ABOVE, .negated = atom->negated, .a = 1};
        return true;
    }
    if (quantity.kind == QUANTITY_RATIO && ((above && atom->a == 0) || none))
        return set_order(ex, atom, a, b, false, none ? !atom->negated : atom->negated);
    if (quantity.kind == QUANTITY_CEILING && above && atom->a == 1)
        return set_order(ex, atom, a, b, true, atom->negated);
    return false;
}

/* --- terms of one axis --- */

static int axis_of(const struct explainer *ex, const struct atom *atom)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    const bool single = quantity_is_axis(quantity) || quantity->kind == QUANTITY_TILES;
    return single && domain_is_number(ex->space, quantity->axis[0]) ? quantity->axis[0] : -1;
}

static int64_t value_of(const struct explainer *ex, const struct atom *atom, int64_t axis)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    return quantity->kind == QUANTITY_TILES ? (axis + quantity->tile - 1) / quantity->tile : axis;
}

/* Returns how far the values must be compared: whole periods beyond the last threshold. Returns 0 if that is
 * too far, or if a term asks for published values, sets or powers of two. */
static int64_t reach_of(const struct explainer *ex, const struct atom *atom, const bool *in, int count)
{
    int64_t period = 1, last = 1;
    for (int i = 0; i < count; i++) {
        const struct quantity *quantity = &ex->quantity[atom[i].quantity];
        const int64_t tile = quantity->kind == QUANTITY_TILES ? quantity->tile : 1;
        const bool remainder = atom[i].kind == ATOM_REMAINDER || atom[i].kind == ATOM_RESIDUE_ABOVE ||
                               atom[i].kind == ATOM_RESIDUE_SET;
        if (!in[i])
            continue;
        if (atom[i].kind == ATOM_SEEN || atom[i].kind == ATOM_POWER || atom[i].kind == ATOM_SET ||
            atom[i].a > MOST_ENUMERATED)
            return 0;
        period = remainder ? explain_lcm(period, atom[i].a * tile) : period;
        if (period > MOST_ENUMERATED)
            return 0;
        if (atom[i].kind == ATOM_ABOVE || atom[i].kind == ATOM_EQUAL)
            last = (atom[i].a + 1) * tile > last ? (atom[i].a + 1) * tile : last;
    }
    last = last < 64 ? 64 : last; /* sets of small values end there */
    return last + (PERIODS + 1) * LARGEST_MODULUS + PERIODS * period;
}

static bool fill_truth(const struct explainer *ex, const struct atom *atom, const bool *in, int count,
                       int axis, struct truth *truth)
{
    const struct domain *domain = &ex->space->domain[axis];
    const int64_t reach = domain->value_count > 0 ? 1 : reach_of(ex, atom, in, count);
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
            holds = holds && (!in[a] || atom_holds(&atom[a], &ex->quantity[atom[a].quantity],
                                                   value_of(ex, &atom[a], value)));
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

static bool is_said_by(const struct explainer *ex, const struct truth *truth, const struct atom *atom)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    for (int i = 0; i < truth->count; i++)
        if (atom_holds(atom, quantity, truth->value[i]) != truth->holds[i])
            return false;
    return true;
}

static void offer(const struct explainer *ex, const struct truth *truth, struct atom atom, struct atom *best)
{
    for (int negated = 0; negated < 2; negated++) {
        atom.negated = negated;
        atom.cost = atom_cost(&atom, &ex->quantity[atom.quantity], ex->space);
        if (atom.cost < best->cost && is_said_by(ex, truth, &atom))
            *best = atom;
    }
}

/* Offers predicates with this modulus, made of the remainders where the group holds. */
static void offer_modulus(const struct explainer *ex, const struct truth *truth, int q, int modulus,
                          struct atom *best)
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
    struct atom atom = {
        .quantity = q, .kind = ATOM_REMAINDER, .a = modulus, .b = members == 1 ? most : absent};
    if (members == 1 || members == modulus - 1)
        offer(ex, truth, atom, best);
    atom.kind = ATOM_RESIDUE_ABOVE;
    atom.b = least > 0 ? least - 1 : most;
    if (modulus > 2 && atom.b > 0 && atom.b < modulus - 1)
        offer(ex, truth, atom, best);
    atom.kind = ATOM_RESIDUE_SET;
    atom.b = (int64_t)set;
    if (modulus > 2 && modulus <= 64 && members > 1 && members <= MOST_SET)
        offer(ex, truth, atom, best);
}

static void offer_values(const struct explainer *ex, const struct truth *truth, int q, struct atom *best)
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
            offer(ex, truth, (struct atom){.quantity = q, .kind = ATOM_EQUAL, .a = truth->value[i]}, best);
    }
    if (turns == 1)
        offer(ex, truth, (struct atom){.quantity = q, .kind = ATOM_ABOVE, .a = truth->value[turn - 1]}, best);
    if (truth->held > 1 && truth->held <= MOST_SET)
        offer(ex, truth, (struct atom){.quantity = q, .kind = ATOM_SMALL, .a = (int64_t)small}, best);
}

static double cost_of(const struct atom *atom, const bool *in, int count)
{
    double cost = 0;
    int terms = 0;
    for (int i = 0; i < count; i++)
        if (in[i]) {
            cost += atom[i].cost;
            terms++;
        }
    return cost + 3 * (terms - 1);
}

/* Merges the terms of the clause from..end that ask about this axis alone. Returns false if no cheaper term
 * says the same. */
static bool merge(const struct explainer *ex, struct guess *guess, int from, int end, int axis)
{
    bool in[MOST_ATOMS] = {false};
    struct truth truth;
    int first = -1;
    for (int i = from; i < end; i++) {
        in[i] = axis_of(ex, &guess->atom[i]) == axis;
        first = in[i] && first < 0 ? i : first;
    }
    const int q = find_quantity(ex, QUANTITY_PRODUCT, axis, -1);
    struct atom best = {.quantity = -1};
    if (first >= 0 && q >= 0 && fill_truth(ex, guess->atom, in, end, axis, &truth)) {
        best.cost = cost_of(guess->atom, in, end);
        for (int modulus = 2; modulus <= LARGEST_MODULUS; modulus++)
            offer_modulus(ex, &truth, q, modulus, &best);
        offer_values(ex, &truth, q, &best);
        free(truth.value);
        free(truth.holds);
    }
    if (best.quantity < 0)
        return false;
    guess->atom[first] = best;
    for (int i = end - 1; i > first; i--)
        if (in[i])
            guess_remove(guess, i);
    return true;
}

static bool merge_any(const struct explainer *ex, struct guess *guess)
{
    for (int from = 0, end; from < guess->count; from = end) {
        for (end = from + 1; end < guess->count && !guess->starts[end];)
            end++;
        for (int i = from; i < end; i++) {
            const int axis = axis_of(ex, &guess->atom[i]);
            if (axis >= 0 && merge(ex, guess, from, end, axis))
                return true;
        }
    }
    return false;
}

void guess_canonical(const struct explainer *ex, struct guess *guess)
{
    for (int i = 0; i < guess->count; i++)
        if (simplify(ex, &guess->atom[i]))
            guess->atom[i].cost =
                atom_cost(&guess->atom[i], &ex->quantity[guess->atom[i].quantity], ex->space);
    for (int i = 0; i < 2 * MOST_ATOMS && merge_any(ex, guess); i++)
        ;
}
