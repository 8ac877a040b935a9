/* Questions about quantities, rules made of them, and how both are written. */
#include "explain_internal.h"

#include <stdio.h>
#include <string.h>

/* --- truth --- */

static bool is_listed(const int64_t *list, int count, int64_t value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

static bool is_power(int64_t value)
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
    case ATOM_POWER: holds = is_power(value); break;
    case ATOM_SET: holds = in_set(quantity, atom->a, value); break;
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

static bool atom_alike(const struct atom *a, const struct atom *b)
{
    return a->kind == ATOM_ABOVE
               ? a->quantity == b->quantity && a->kind == b->kind && a->negated == b->negated
               : atom_same(a, b);
}

/* Of one clause each, in whatever order. */
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

static bool is_tile(const struct quantity *quantity, const struct space *space, int64_t value)
{
    const struct domain *domain = &space->domain[quantity->axis[0]];
    return quantity_is_axis(quantity) && is_listed(domain->tile, domain->tile_count, value);
}

static double log2_of(int64_t value)
{
    return value > 0 ? 63 - __builtin_clzll((unsigned long long)value) : 0;
}

static double remainder_cost(const struct atom *atom, const struct quantity *quantity,
                             const struct space *space)
{
    const double bits = log2_of(atom->a);
    const bool natural = is_power(atom->a) || is_tile(quantity, space, atom->a);
    double cost = natural ? 2 + 0.1 * bits : 3 + bits / 2;
    if (atom->b != 0)
        cost += atom->b == 1 || atom->b == atom->a - 1 ? 2 + bits / 4 : 3 + bits / 2;
    return cost + (atom->negated == (atom->b == 0) ? 0 : 0.75); /* usual: k % 64 != 0, k % 64 == r */
}

/* How unlikely a threshold is: a power of two or a tile is where kernels change their ways. */
static double threshold_cost(const struct quantity *quantity, const struct space *space, int64_t threshold)
{
    double least = 6;
    for (int64_t value = threshold; value <= threshold + 1; value++) { /* k > 64, and k >= 64 */
        const double extra = value > threshold ? 0.5 : 0;
        const int64_t odd = value > 0 ? value >> __builtin_ctzll((unsigned long long)value) : 0;
        double cost = 6;
        if (is_power(value) || is_tile(quantity, space, value) || value == 0)
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

/* Each member is one more choice; a set is as dear as what it leaves out. */
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
    case ATOM_ABOVE: cost = threshold_cost(quantity, space, atom->a); break;
    case ATOM_POWER: cost = 2.5; break;
    case ATOM_SET: cost = set_cost(quantity, atom->a); break;
    case ATOM_EQUAL:
        cost = quantity->kind == QUANTITY_CHOICE || quantity_is_flag(quantity, space) ? 1.5
               : quantity_is_order(quantity)                                          ? 2
               : quantity_lists(quantity, atom->a)                                    ? 3
                                                                                      : 6;
        break;
    default: cost = 3.25;
    }
    if (quantity->kind == QUANTITY_REMAINDER) /* a remainder is asked whether it is 0 */
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

/* --- writing --- */

static int format_number(int64_t value, char *text, size_t size)
{
    const int bits = (int)log2_of(value);
    if (is_power(value) && bits >= 20)
        return snprintf(text, size, "2^%d", bits);
    return snprintf(text, size, "%lld", (long long)value);
}

struct text {
    char *at;
    size_t size, length;
    bool fits;
};

static void append(struct text *text, const char *word, const char *part)
{
    int wrote = 0;
    if (text->fits)
        wrote = snprintf(text->at + text->length, text->size - text->length, "%s%s", word, part);
    text->fits = text->fits && wrote >= 0 && (size_t)wrote < text->size - text->length;
    text->length += text->fits ? (size_t)wrote : 0;
}

/* "k > 64" or, where that is rounder, "k >= 64" for k > 63. */
static void format_threshold(const struct atom *atom, const struct quantity *quantity,
                             const struct space *space, const char *name, char *text, size_t size)
{
    struct quantity plain = *quantity;
    char number[32];
    plain.seen_count = 0;
    const double cost = threshold_cost(&plain, space, atom->a);
    const int64_t next = atom->a + 1;
    const bool rounder = !is_power(atom->a) && !is_tile(quantity, space, atom->a) && atom->a != 0 &&
                         (is_power(next) || is_tile(quantity, space, next) || (cost < 6 && atom->a % 2));
    const char *above = rounder ? ">=" : ">", *below = rounder ? "<" : "<=";
    format_number(rounder ? next : atom->a, number, sizeof number);
    const bool least = quantity_is_axis(quantity) && atom->a == space->domain[quantity->axis[0]].low;
    if (atom->a == 0 || (least && !rounder)) /* no quantity is less */
        below = "==";
    snprintf(text, size, "%s %s %s", name, atom->negated ? below : above, number);
}

/* "m > n" */
static void format_order(const struct atom *atom, const struct quantity *quantity,
                         const struct problem *problem, char *text, size_t size)
{
    static const char *const sign[2][3] = {{"<", "==", ">"}, {">=", "!=", "<="}};
    const bool drawn = quantity_is_drawn(quantity);
    snprintf(text, size, "%s %s %s",
             drawn ? problem->derived[quantity->derived].name : problem->axes[quantity->axis[0]].name,
             sign[atom->negated][atom->a], problem->axes[drawn ? quantity->against : quantity->axis[1]].name);
}

/* "page_size in {8, 24}" */
static void format_set(const struct atom *atom, const struct quantity *quantity,
                       const struct problem *problem, const char *name, char *text, size_t size)
{
    struct text to = {.at = text, .size = size, .fits = true};
    const char *separator = "";
    append(&to, name, atom->negated ? " not in {" : " in {");
    for (int i = 0; i < quantity->listed_count; i++) {
        char number[32];
        if (!(atom->a >> i & 1))
            continue;
        format_number(quantity->listed[i], number, sizeof number);
        append(&to, separator,
               quantity->kind == QUANTITY_CHOICE
                   ? problem_choice(problem, quantity->axis[0], quantity->listed[i])
                   : number);
        separator = ", ";
    }
    append(&to, "}", "");
}

/* One atom but a list of seen values; `which` picks one of those. */
static void format_atom(const struct explainer *ex, const struct atom *atom, int which, char *text,
                        size_t size)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    const struct problem *problem = ex->space->problem;
    const char *sign = atom->negated ? "!=" : "==";
    const int64_t value = atom->kind == ATOM_SEEN ? quantity->seen[which] : atom->a;
    char name[120], number[32];
    if (quantity_format(quantity, problem, name, sizeof name) < 0)
        name[0] = '\0';
    if (quantity_is_order(quantity)) {
        format_order(atom, quantity, problem, text, size);
    } else if (atom->kind == ATOM_SET) {
        format_set(atom, quantity, problem, name, text, size);
    } else if (atom->kind == ATOM_POWER) {
        snprintf(text, size, "%spow2(%s)", atom->negated ? "not " : "", name);
    } else if (quantity->kind == QUANTITY_CHOICE) {
        snprintf(text, size, "%s%s%s", name, atom->negated ? "!=" : "=",
                 problem_choice(problem, quantity->axis[0], atom->a));
    } else if (atom->kind == ATOM_REMAINDER) {
        const bool plain = quantity->kind != QUANTITY_REMAINDER;
        snprintf(text, size, plain ? "%s %% %lld %s %lld" : "(%s) %% %lld %s %lld", name, (long long)atom->a,
                 sign, (long long)atom->b);
    } else if (atom->kind == ATOM_ABOVE) {
        format_threshold(atom, quantity, ex->space, name, text, size);
    } else {
        format_number(value, number, sizeof number);
        snprintf(text, size, "%s %s %s", name, sign, number);
    }
}

/* "is one of the seen values" is an or inside an and: the clause is written once for each value. */
static int clause_copies(const struct explainer *ex, const struct guess *guess, int from, int to)
{
    int copies = 1;
    for (int i = from; i < to; i++)
        if (guess->atom[i].kind == ATOM_SEEN && !guess->atom[i].negated)
            copies *= ex->quantity[guess->atom[i].quantity].seen_count;
    return copies;
}

static void append_clause(const struct explainer *ex, const struct guess *guess, int from, int to, int copy,
                          struct text *text)
{
    char part[200];
    const char *word = text->length ? " or " : "";
    for (int i = from; i < to; i++) {
        const struct atom *atom = &guess->atom[i];
        const int seen = atom->kind == ATOM_SEEN ? ex->quantity[atom->quantity].seen_count : 1;
        const int first = atom->negated ? 0 : copy % seen, last = atom->negated ? seen - 1 : first;
        if (!atom->negated)
            copy /= seen;
        for (int which = first; which <= last; which++) {
            format_atom(ex, atom, which, part, sizeof part);
            append(text, word, part);
            word = " and ";
        }
    }
}

static int place_of(const struct explainer *ex, const struct atom *atom)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    return quantity_is_drawn(quantity) ? PROBLEM_MAX_AXES + quantity->derived : quantity->axis[0];
}

/* In the order of the contract's axes, derived sizes last, whichever was found first: one condition, one
 * text. */
static void sort_clause(const struct explainer *ex, struct guess *guess, int from, int end)
{
    for (int i = from + 1; i < end; i++)
        for (int j = i; j > from && place_of(ex, &guess->atom[j - 1]) > place_of(ex, &guess->atom[j]); j--) {
            const struct atom swapped = guess->atom[j];
            guess->atom[j] = guess->atom[j - 1];
            guess->atom[j - 1] = swapped;
        }
}

/* --- a multiple of more than any modulus that is asked for --- */

static int64_t lcm(int64_t a, int64_t b)
{
    int64_t x = a, y = b;
    while (y != 0) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Are the two in one clause (`alone`: is each a clause of its own)? */
static bool are_together(const struct guess *guess, int i, int j, bool alone)
{
    const int low = i < j ? i : j, high = i < j ? j : i;
    bool split = false;
    for (int k = low + 1; k <= high; k++)
        split = split || guess->starts[k];
    const bool low_alone = guess->starts[low] && guess->starts[low + 1]; /* high is behind it */
    const bool high_alone = guess->starts[high] && (high + 1 == guess->count || guess->starts[high + 1]);
    return alone ? low_alone && high_alone : !split;
}

/* `n % 256 == 0 and (n + 255) / 256 % 16 == 0` says `n % 4096 == 0`, and the same of `!=` and `or`: the
 * modulus of both together, 0 when the atoms are no such pair. */
static int64_t common_modulus(const struct explainer *ex, const struct guess *guess, int i, int j)
{
    const struct atom *a = &guess->atom[i], *b = &guess->atom[j];
    const struct quantity *axis = &ex->quantity[a->quantity], *tiles = &ex->quantity[b->quantity];
    const bool multiples = a->kind == ATOM_REMAINDER && b->kind == ATOM_REMAINDER && a->b == 0 && b->b == 0;
    if (i == j || !multiples || a->negated != b->negated || !quantity_is_axis(axis) ||
        tiles->kind != QUANTITY_TILES || axis->axis[0] != tiles->axis[0] || a->a % tiles->tile != 0 ||
        !are_together(guess, i, j, a->negated))
        return 0;
    return lcm(a->a, tiles->tile * b->a);
}

static void remove_atom(struct guess *guess, int at)
{
    if (guess->starts[at] && at + 1 < guess->count)
        guess->starts[at + 1] = true;
    guess->count--;
    for (int i = at; i < guess->count; i++) {
        guess->atom[i] = guess->atom[i + 1];
        guess->starts[i] = guess->starts[i + 1];
    }
}

static void merge_moduli(const struct explainer *ex, struct guess *guess)
{
    for (int i = 0; i < guess->count; i++)
        for (int j = 0; j < guess->count; j++) {
            const int64_t modulus = common_modulus(ex, guess, i, j);
            if (modulus == 0)
                continue;
            guess->atom[i].a = modulus;
            remove_atom(guess, j);
            i = -1; /* once more from the start */
            break;
        }
}

bool guess_format(const struct explainer *ex, const struct guess *as_found, char *text, size_t size)
{
    struct text to = {.at = text, .size = size, .fits = true};
    struct guess sorted = *as_found;
    const struct guess *guess = &sorted;
    merge_moduli(ex, &sorted);
    if (guess->count == 0)
        append(&to, "", "any");
    for (int from = 0, end; from < guess->count; from = end) {
        for (end = from + 1; end < guess->count && !guess->starts[end];)
            end++;
        sort_clause(ex, &sorted, from, end);
        const int copies = clause_copies(ex, guess, from, end);
        for (int copy = 0; copy < copies; copy++)
            append_clause(ex, guess, from, end, copy, &to);
    }
    return to.fits;
}
