/* Predicates over quantities, and hypotheses made of them: evaluation, comparison, cost, and the list of the
 * simplest. */
#include "predicate.h"

#include <string.h>

#include "gen/draw/cost.h"
#include "gen/draw/move.h"

/* --- truth --- */

static bool is_listed(const int64_t *list, int count, int64_t value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

bool is_power_of_two(int64_t value)
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

bool predicate_holds(const struct predicate *predicate, const struct quantity *quantity, int64_t value)
{
    bool holds;
    switch (predicate->kind) {
    case PREDICATE_REMAINDER: holds = value % predicate->a == predicate->b; break;
    case PREDICATE_ABOVE: holds = value > predicate->a; break;
    case PREDICATE_EQUAL: holds = value == predicate->a; break;
    case PREDICATE_POWER: holds = is_power_of_two(value); break;
    case PREDICATE_SET: holds = in_set(quantity, predicate->a, value); break;
    case PREDICATE_SMALL: holds = value >= 0 && value < 64 && (predicate->a >> value & 1); break;
    case PREDICATE_RESIDUE_ABOVE: holds = value % predicate->a > predicate->b; break;
    case PREDICATE_RESIDUE_SET: holds = predicate->b >> value % predicate->a & 1; break;
    default: holds = is_listed(quantity->seen, quantity->seen_count, value);
    }
    return holds != predicate->negated;
}

bool hypothesis_holds_if(const struct vocabulary *vocabulary, const struct hypothesis *hypothesis,
                         const int64_t *value, int forced, bool truth)
{
    bool clause = hypothesis->count == 0;
    for (int i = 0; i < hypothesis->count; i++) {
        const struct predicate *predicate = &hypothesis->term[i];
        if (hypothesis->starts[i]) {
            if (clause)
                return true;
            clause = true;
        }
        clause =
            clause && (i == forced ? truth
                                   : predicate_holds(predicate, &vocabulary->quantity[predicate->quantity],
                                                     value[predicate->quantity]));
    }
    return clause;
}

bool hypothesis_holds(const struct vocabulary *vocabulary, const struct hypothesis *hypothesis,
                      const int64_t *value)
{
    return hypothesis_holds_if(vocabulary, hypothesis, value, -1, false);
}

bool predicate_same(const struct predicate *a, const struct predicate *b)
{
    return a->quantity == b->quantity && a->kind == b->kind && a->negated == b->negated && a->a == b->a &&
           a->b == b->b;
}

bool predicate_alike(const struct predicate *a, const struct predicate *b)
{
    return a->kind == PREDICATE_ABOVE
               ? a->quantity == b->quantity && a->kind == b->kind && a->negated == b->negated
               : predicate_same(a, b);
}

/* Only rules of a single clause can be alike; the order of their terms does not matter. */
bool hypothesis_alike(const struct hypothesis *a, const struct hypothesis *b)
{
    int found = 0;
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++)
            found += a->starts[i] == (i == 0) && b->starts[j] == (j == 0) &&
                     predicate_alike(&a->term[i], &b->term[j]);
    return a->count == b->count && found == a->count;
}

bool hypothesis_same(const struct hypothesis *a, const struct hypothesis *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->starts[i] != b->starts[i] || !predicate_same(&a->term[i], &b->term[i]))
            return false;
    return true;
}

/* --- cost --- */

bool quantity_has_tile(const struct quantity *quantity, const struct space *space, int64_t value)
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
    const bool natural = is_power_of_two(modulus) || quantity_has_tile(quantity, space, modulus);
    return natural ? 2 + 0.1 * bits : 3 + bits / 2;
}

/* Returns the cost of a range or a set of remainders. Each member of a set is one more choice. */
static double residues_cost(const struct predicate *predicate, const struct quantity *quantity,
                            const struct space *space)
{
    const double bits = log2_of(predicate->a), cost = modulus_cost(predicate->a, quantity, space);
    if (predicate->kind == PREDICATE_RESIDUE_ABOVE && (predicate->b < 1 || predicate->b > predicate->a - 3))
        return cost +
               2 * (3 + bits); /* a single remainder, or all except one: a plain remainder says it better */
    if (predicate->kind == PREDICATE_RESIDUE_ABOVE)
        return cost + (is_power_of_two(predicate->b + 1) || is_power_of_two(predicate->b) ? 1.5 + bits / 4
                                                                                          : 3 + bits / 2);
    const int members = __builtin_popcountll((unsigned long long)predicate->b),
              others = (int)predicate->a - members;
    return cost + 2 + (0.5 + bits / 2) * (members < others ? members : others);
}

static double remainder_cost(const struct predicate *predicate, const struct quantity *quantity,
                             const struct space *space)
{
    const double bits = log2_of(predicate->a);
    double cost = modulus_cost(predicate->a, quantity, space);
    if (predicate->b != 0)
        cost += predicate->b == 1 || predicate->b == predicate->a - 1 ? 2 + bits / 4 : 3 + bits / 2;
    /* the usual forms are k % 64 != 0 and k % 64 == r */
    return cost + (predicate->negated == (predicate->b == 0) ? 0 : 0.75);
}

/* Returns the cost of a threshold. Powers of two and tiles cost least, since kernels often change their
 * method there. */
double threshold_cost(const struct quantity *quantity, const struct space *space, int64_t threshold)
{
    double least = 6;
    for (int64_t value = threshold; value <= threshold + 1; value++) { /* k > 64 and k >= 64 */
        const double extra = value > threshold ? 0.5 : 0;
        const int64_t odd = value > 0 ? value >> __builtin_ctzll((unsigned long long)value) : 0;
        double cost = 6;
        if (is_power_of_two(value) || quantity_has_tile(quantity, space, value) || value == 0)
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

double predicate_cost(const struct predicate *predicate, const struct quantity *quantity,
                      const struct space *space)
{
    double cost;
    switch (predicate->kind) {
    case PREDICATE_REMAINDER: cost = remainder_cost(predicate, quantity, space); break;
    case PREDICATE_ABOVE:
        cost = threshold_cost(quantity, space, predicate->a);
        if (quantity_is_axis(quantity) ? predicate->a == space->domain[quantity->axis[0]].low
                                       : quantity->kind == QUANTITY_DERIVED && predicate->a == 0)
            cost = 2; /* natural conditions: pad > 0, cols > 1, idle > 0 */
        break;
    case PREDICATE_POWER: cost = 2.5; break;
    case PREDICATE_SET: cost = set_cost(quantity, predicate->a); break;
    case PREDICATE_SMALL: cost = 2 + 1.75 * __builtin_popcountll((unsigned long long)predicate->a); break;
    case PREDICATE_RESIDUE_ABOVE:
    case PREDICATE_RESIDUE_SET: cost = residues_cost(predicate, quantity, space); break;
    case PREDICATE_EQUAL:
        cost = quantity->kind == QUANTITY_CHOICE || quantity_is_flag(quantity, space) ? 1.5
               : quantity_is_order(quantity)                                          ? 2
               : quantity_lists(quantity, predicate->a)                               ? 3
                                                                                      : 6;
        break;
    default: cost = 3.25;
    }
    if (quantity->kind == QUANTITY_REMAINDER) /* the usual predicate of a remainder is that it equals 0 */
        cost +=
            predicate->kind == PREDICATE_EQUAL && predicate->a == 0 ? (predicate->negated ? -2 : -1.5) : 2;
    if (predicate->kind == PREDICATE_EQUAL && predicate->negated && !quantity_is_order(quantity))
        cost += 0.75;
    return cost + quantity->cost;
}

bool predicate_is_most_inputs(const struct vocabulary *vocabulary, const struct predicate *predicate)
{
    const struct quantity *quantity = &vocabulary->quantity[predicate->quantity];
    const int classes = vocabulary->space->domain[quantity->axis[0]].value_count;
    const int named =
        predicate->kind == PREDICATE_SET ? __builtin_popcountll((unsigned long long)predicate->a) : 1;
    return quantity->kind == QUANTITY_CHOICE &&
           quantity->axis[0] == problem_input_axis(vocabulary->space->problem) &&
           2 * (predicate->negated ? classes - named : named) > classes;
}

int64_t roundest_between(int64_t low, int64_t high)
{
    for (int bit = 62; bit > 0; bit--) {
        const int64_t step = (int64_t)1 << bit, multiple = high / step * step;
        if (multiple >= low && multiple > 0)
            return multiple;
    }
    return high;
}

void hypothesis_remove_term(struct hypothesis *hypothesis, int at)
{
    if (hypothesis->starts[at] && at + 1 < hypothesis->count)
        hypothesis->starts[at + 1] = true;
    hypothesis->count--;
    for (int i = at; i < hypothesis->count; i++) {
        hypothesis->term[i] = hypothesis->term[i + 1];
        hypothesis->starts[i] = hypothesis->starts[i + 1];
    }
}

/* --- the list of hypotheses --- */

static bool predicate_before(const struct predicate *a, const struct predicate *b)
{
    return a->quantity != b->quantity ? a->quantity < b->quantity
           : a->kind != b->kind       ? a->kind < b->kind
           : a->negated != b->negated ? b->negated
           : a->a != b->a             ? a->a < b->a
                                      : a->b < b->b;
}

/* Puts the terms of a clause, and clauses of one term, into one order. So a rule is the same in whichever
 * order it was found. */
static struct hypothesis in_order(const struct hypothesis *hypothesis)
{
    struct hypothesis sorted = *hypothesis;
    bool either = true;
    for (int i = 0; i < hypothesis->count; i++)
        either = either && hypothesis->starts[i];
    for (int i = 1; i < sorted.count; i++)
        for (int at = i; at > 0 && (either || !sorted.starts[at]) &&
                         predicate_before(&sorted.term[at], &sorted.term[at - 1]);
             at--) {
            const struct predicate predicate = sorted.term[at];
            sorted.term[at] = sorted.term[at - 1];
            sorted.term[at - 1] = predicate;
        }
    return sorted;
}

static bool is_present(const struct hypotheses *hypotheses, int at, const struct hypothesis *hypothesis)
{
    const double apart = 1e-9; /* the same costs summed in another order */
    for (int i = at - 1; i >= 0 && hypotheses->item[i].cost >= hypothesis->cost - apart; i--)
        if (hypothesis_same(&hypotheses->item[i], hypothesis))
            return true;
    for (int i = at; i < hypotheses->count && hypotheses->item[i].cost <= hypothesis->cost + apart; i++)
        if (hypothesis_same(&hypotheses->item[i], hypothesis))
            return true;
    return false;
}

void hypotheses_add(struct hypotheses *hypotheses, const struct hypothesis *unordered)
{
    int at = hypotheses->count;
    if (at == MOST_HYPOTHESES && unordered->cost >= hypotheses->item[at - 1].cost)
        return;
    const struct hypothesis ordered = in_order(unordered), *const hypothesis = &ordered;
    while (at > 0 && hypotheses->item[at - 1].cost > hypothesis->cost)
        at--;
    if (is_present(hypotheses, at, hypothesis))
        return;
    if (hypotheses->count < MOST_HYPOTHESES)
        hypotheses->count++;
    memmove(&hypotheses->item[at + 1], &hypotheses->item[at],
            (size_t)(hypotheses->count - 1 - at) * sizeof *hypotheses->item);
    hypotheses->item[at] = *hypothesis;
    hypotheses->item[at].alive = true;
}

bool hypotheses_ask_derived(const struct vocabulary *vocabulary, const struct hypotheses *hypotheses)
{
    for (int i = 0; vocabulary->space->problem->derived && i < hypotheses->count; i++)
        for (int a = 0; hypotheses->item[i].alive && a < hypotheses->item[i].count; a++)
            if (quantity_is_drawn(&vocabulary->quantity[hypotheses->item[i].term[a].quantity]))
                return true;
    return false;
}
