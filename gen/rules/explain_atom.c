/* Predicates over quantities, and rules made of them: evaluation, comparison and cost. */
#include "explain_internal.h"

#include <string.h>

/* --- truth --- */

static bool is_listed(const int64_t *list, int count, int64_t value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

bool atom_value_is_power(int64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

static bool in_set(const struct quantity *quantity, int64_t set, int64_t value)
{
    for (int i = 0; i < quantity->listed_count; i++)
        if (quantity->listed[i] == value)
            return set >> i & 1;
    return false;
}

bool atom_holds(const struct atom *atom, const struct quantity *quantity, int64_t value)
{
    bool holds;
    switch (atom->kind) {
    case ATOM_REMAINDER: holds = value % atom->a == atom->b; break;
    case ATOM_ABOVE: holds = value > atom->a; break;
    case ATOM_EQUAL: holds = value == atom->a; break;
    case ATOM_POWER: holds = atom_value_is_power(value); break;
    case ATOM_SET: holds = in_set(quantity, atom->a, value); break;
    case ATOM_SMALL: holds = value >= 0 && value < 64 && (atom->a >> value & 1); break;
    case ATOM_RESIDUE_ABOVE: holds = value % atom->a > atom->b; break;
    case ATOM_RESIDUE_SET: holds = atom->b >> value % atom->a & 1; break;
    default: holds = is_listed(quantity->seen, quantity->seen_count, value);
    }
    return holds != atom->negated;
}

bool guess_holds_if(const struct explainer *ex, const struct guess *guess, const int64_t *value, int forced,
                    bool truth)
{
    bool clause = guess->count == 0;
    for (int i = 0; i < guess->count; i++) {
        const struct atom *atom = &guess->atom[i];
        if (guess->starts[i]) {
            if (clause)
                return true;
            clause = true;
        }
        clause =
            clause &&
            (i == forced ? truth : atom_holds(atom, &ex->quantity[atom->quantity], value[atom->quantity]));
    }
    return clause;
}

bool guess_holds(const struct explainer *ex, const struct guess *guess, const int64_t *value)
{
    return guess_holds_if(ex, guess, value, -1, false);
}

bool atom_same(const struct atom *a, const struct atom *b)
{
    return a->quantity == b->quantity && a->kind == b->kind && a->negated == b->negated && a->a == b->a &&
           a->b == b->b;
}

bool atom_alike(const struct atom *a, const struct atom *b)
{
    return a->kind == ATOM_ABOVE
               ? a->quantity == b->quantity && a->kind == b->kind && a->negated == b->negated
               : atom_same(a, b);
}

/* Only rules of a single clause can be alike; the order of their terms does not matter. */
bool guess_alike(const struct guess *a, const struct guess *b)
{
    int found = 0;
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++)
            found +=
                a->starts[i] == (i == 0) && b->starts[j] == (j == 0) && atom_alike(&a->atom[i], &b->atom[j]);
    return a->count == b->count && found == a->count;
}

bool guess_same(const struct guess *a, const struct guess *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->starts[i] != b->starts[i] || !atom_same(&a->atom[i], &b->atom[i]))
            return false;
    return true;
}

/* --- cost --- */

bool atom_value_is_tile(const struct quantity *quantity, const struct space *space, int64_t value)
{
    const struct domain *domain = &space->domain[quantity->axis[0]];
    return quantity_is_axis(quantity) && is_listed(domain->tile, domain->tile_count, value);
}

static double log2_of(int64_t value)
{
    return value > 0 ? 63 - __builtin_clzll((unsigned long long)value) : 0;
}

static double modulus_cost(int64_t modulus, const struct quantity *quantity, const struct space *space)
{
    const double bits = log2_of(modulus);
    const bool natural = atom_value_is_power(modulus) || atom_value_is_tile(quantity, space, modulus);
    return natural ? 2 + 0.1 * bits : 3 + bits / 2;
}

/* Returns the cost of a range or a set of remainders. Each member of a set is one more choice. */
static double residues_cost(const struct atom *atom, const struct quantity *quantity,
                            const struct space *space)
{
    const double bits = log2_of(atom->a), cost = modulus_cost(atom->a, quantity, space);
    if (atom->kind == ATOM_RESIDUE_ABOVE && (atom->b < 1 || atom->b > atom->a - 3))
        return cost +
               2 * (3 + bits); /* a single remainder, or all except one: a plain remainder says it better */
    if (atom->kind == ATOM_RESIDUE_ABOVE)
        return cost + (atom_value_is_power(atom->b + 1) || atom_value_is_power(atom->b) ? 1.5 + bits / 4
                                                                                        : 3 + bits / 2);
    const int members = __builtin_popcountll((unsigned long long)atom->b), others = (int)atom->a - members;
    return cost + 2 + (0.5 + bits / 2) * (members < others ? members : others);
}

static double remainder_cost(const struct atom *atom, const struct quantity *quantity,
                             const struct space *space)
{
    const double bits = log2_of(atom->a);
    double cost = modulus_cost(atom->a, quantity, space);
    if (atom->b != 0)
        cost += atom->b == 1 || atom->b == atom->a - 1 ? 2 + bits / 4 : 3 + bits / 2;
    /* the usual forms are k % 64 != 0 and k % 64 == r */
    return cost + (atom->negated == (atom->b == 0) ? 0 : 0.75);
}

/* Returns the cost of a threshold. Powers of two and tiles cost least, since kernels often change their
 * method there. */
double atom_threshold_cost(const struct quantity *quantity, const struct space *space, int64_t threshold)
{
    double least = 6;
    for (int64_t value = threshold; value <= threshold + 1; value++) { /* k > 64 and k >= 64 */
        const double extra = value > threshold ? 0.5 : 0;
        const int64_t odd = value > 0 ? value >> __builtin_ctzll((unsigned long long)value) : 0;
        double cost = 6;
        if (atom_value_is_power(value) || atom_value_is_tile(quantity, space, value) || value == 0)
            cost = 2.5;
        else if (is_listed(quantity->seen, quantity->seen_count, value))
            cost = 3;
        else if (odd > 0 && odd < 8)
            cost = 4;
        else if (odd < 64 || value % 100 == 0)
            cost = 5;
        least = cost + extra < least ? cost + extra : least;
    }
    return least;
}

/* Returns the cost of a set. Each member is one more choice, or each value left out if these are fewer. */
static double set_cost(const struct quantity *quantity, int64_t set)
{
    const int members = __builtin_popcountll((unsigned long long)set),
              others = quantity->listed_count - members;
    return 1.5 + 1.75 * (members < others ? members : others);
}

double atom_cost(const struct atom *atom, const struct quantity *quantity, const struct space *space)
{
    double cost;
    switch (atom->kind) {
    case ATOM_REMAINDER: cost = remainder_cost(atom, quantity, space); break;
    case ATOM_ABOVE:
        cost = atom_threshold_cost(quantity, space, atom->a);
        if (quantity_is_axis(quantity) ? atom->a == space->domain[quantity->axis[0]].low
                                       : quantity->kind == QUANTITY_DERIVED && atom->a == 0)
            cost = 2; /* natural conditions: pad > 0, cols > 1, idle > 0 */
        break;
    case ATOM_POWER: cost = 2.5; break;
    case ATOM_SET: cost = set_cost(quantity, atom->a); break;
    case ATOM_SMALL: cost = 2 + 1.75 * __builtin_popcountll((unsigned long long)atom->a); break;
    case ATOM_RESIDUE_ABOVE:
    case ATOM_RESIDUE_SET: cost = residues_cost(atom, quantity, space); break;
    case ATOM_EQUAL:
        cost = quantity->kind == QUANTITY_CHOICE || quantity_is_flag(quantity, space) ? 1.5
               : quantity_is_order(quantity)                                          ? 2
               : quantity_lists(quantity, atom->a)                                    ? 3
                                                                                      : 6;
        break;
    default: cost = 3.25;
    }
    if (quantity->kind == QUANTITY_REMAINDER) /* the usual predicate of a remainder is that it equals 0 */
        cost += atom->kind == ATOM_EQUAL && atom->a == 0 ? (atom->negated ? -2 : -1.5) : 2;
    if (atom->kind == ATOM_EQUAL && atom->negated && !quantity_is_order(quantity))
        cost += 0.75;
    return cost + quantity->cost;
}

bool atom_is_most_inputs(const struct explainer *ex, const struct atom *atom)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    const int classes = ex->space->domain[quantity->axis[0]].value_count;
    const int named = atom->kind == ATOM_SET ? __builtin_popcountll((unsigned long long)atom->a) : 1;
    return quantity->kind == QUANTITY_CHOICE && quantity->axis[0] == problem_input_axis(ex->space->problem) &&
           2 * (atom->negated ? classes - named : named) > classes;
}

int64_t roundest(int64_t low, int64_t high)
{
    for (int bit = 62; bit > 0; bit--) {
        const int64_t step = (int64_t)1 << bit, multiple = high / step * step;
        if (multiple >= low && multiple > 0)
            return multiple;
    }
    return high;
}

void guess_remove(struct guess *guess, int at)
{
    if (guess->starts[at] && at + 1 < guess->count)
        guess->starts[at + 1] = true;
    guess->count--;
    for (int i = at; i < guess->count; i++) {
        guess->atom[i] = guess->atom[i + 1];
        guess->starts[i] = guess->starts[i + 1];
    }
}
