/* Writes rules in the language of conditions, which all tools of this project read. */
#include "explain_internal.h"

#include <stdio.h>

static int format_number(int64_t value, char *text, size_t size)
{
    const int bits = 63 - __builtin_clzll((unsigned long long)value | 1);
    if (atom_value_is_power(value) && bits >= 20)
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

/* Writes "k > 64" or, if that is rounder, "k >= 64" for k > 63. */
static void format_threshold(const struct atom *atom, const struct quantity *quantity,
                             const struct space *space, const char *name, char *text, size_t size)
{
    struct quantity plain = *quantity;
    char number[32];
    plain.seen_count = 0;
    const double cost = atom_threshold_cost(&plain, space, atom->a);
    const int64_t next = atom->a + 1;
    const bool rounder =
        !atom_value_is_power(atom->a) && !atom_value_is_tile(quantity, space, atom->a) && atom->a != 0 &&
        (atom_value_is_power(next) || atom_value_is_tile(quantity, space, next) || (cost < 6 && atom->a % 2));
    const char *above = rounder ? ">=" : ">", *below = rounder ? "<" : "<=";
    format_number(rounder ? next : atom->a, number, sizeof number);
    const bool least = quantity_is_axis(quantity) && atom->a == space->domain[quantity->axis[0]].low;
    if (atom->a == 0 || (least && !rounder)) /* no value of the quantity is less */
        below = "==";
    snprintf(text, size, "%s %s %s", name, atom->negated ? below : above, number);
}

/* Writes "m > n". */
static void format_order(const struct atom *atom, const struct quantity *quantity,
                         const struct problem *problem, char *text, size_t size)
{
    static const char *const sign[2][3] = {{"<", "==", ">"}, {">=", "!=", "<="}};
    const bool drawn = quantity_is_drawn(quantity), two = drawn && quantity->second >= 0;
    snprintf(text, size, "%s %s %s",
             drawn ? problem->derived[quantity->derived].name : problem->axes[quantity->axis[0]].name,
             sign[atom->negated][atom->a],
             two ? problem->derived[quantity->second].name
                 : problem->axes[drawn ? quantity->against : quantity->axis[1]].name);
}

/* Writes "page_size in {8, 24}". */
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

/* Writes "cols in {1, 2, 3, 5}" or "cols % 8 in {3, 5}". `set` has one bit for each value. */
static void print_bits(uint64_t set, bool negated, const char *name, char *text, size_t size)
{
    struct text to = {.at = text, .size = size, .fits = true};
    const char *separator = "";
    append(&to, name, negated ? " not in {" : " in {");
    for (int i = 0; i < 64; i++) {
        char number[32];
        if (!(set >> i & 1))
            continue;
        format_number(i, number, sizeof number);
        append(&to, separator, number);
        separator = ", ";
    }
    append(&to, "}", "");
}

/* Writes "cols % 8 >= 5", "cols % 8 < 5" or "cols % 8 in {3, 5}". */
static void format_residues(const struct atom *atom, const struct quantity *quantity, const char *name,
                            char *text, size_t size)
{
    const bool range = atom->kind == ATOM_RESIDUE_ABOVE, plain = quantity->kind != QUANTITY_REMAINDER;
    char left[160];
    snprintf(left, sizeof left, plain ? "%s %% %lld" : "(%s) %% %lld", name, (long long)atom->a);
    if (range)
        snprintf(text, size, "%s %s %lld", left, atom->negated ? "<" : ">=", (long long)atom->b + 1);
    else
        print_bits((uint64_t)atom->b, atom->negated, left, text, size);
}

/* Writes one predicate. ATOM_SEEN is written for a single seen value, of index `which`. */
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
    } else if (atom->kind == ATOM_SMALL) {
        print_bits((uint64_t)atom->a, atom->negated, name, text, size);
    } else if (atom->kind == ATOM_RESIDUE_ABOVE || atom->kind == ATOM_RESIDUE_SET) {
        format_residues(atom, quantity, name, text, size);
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

/* Returns how often to write the clause. "is one of the seen values" is an `or` inside an `and`. It repeats
 * the clause for each value. */
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

/* Sorts the terms in the order of the contract's axes, with derived sizes last, so that a condition always
 * has the same text. */
static void sort_clause(const struct explainer *ex, struct guess *guess, int from, int end)
{
    for (int i = from + 1; i < end; i++)
        for (int j = i; j > from && place_of(ex, &guess->atom[j - 1]) > place_of(ex, &guess->atom[j]); j--) {
            const struct atom swapped = guess->atom[j];
            guess->atom[j] = guess->atom[j - 1];
            guess->atom[j - 1] = swapped;
        }
}

/* --- multiples of a modulus beyond those that are tested --- */

/* Returns whether both predicates are in one clause; with `alone`, whether each is a clause of its own. */
static bool are_together(const struct guess *guess, int i, int j, bool alone)
{
    const int low = i < j ? i : j, high = i < j ? j : i;
    bool split = false;
    for (int k = low + 1; k <= high; k++)
        split = split || guess->starts[k];
    const bool low_alone = guess->starts[low] && guess->starts[low + 1]; /* `high` follows `low` */
    const bool high_alone = guess->starts[high] && (high + 1 == guess->count || guess->starts[high + 1]);
    return alone ? low_alone && high_alone : !split;
}

/* Returns the modulus that two predicates have together, or 0 if they are no such pair.
 * `n % 256 == 0 and (n + 255) / 256 % 16 == 0` says `n % 4096 == 0`; likewise with `!=` and `or`. */
static int64_t common_modulus(const struct explainer *ex, const struct guess *guess, int i, int j)
{
    const struct atom *a = &guess->atom[i], *b = &guess->atom[j];
    const struct quantity *axis = &ex->quantity[a->quantity], *tiles = &ex->quantity[b->quantity];
    const bool multiples = a->kind == ATOM_REMAINDER && b->kind == ATOM_REMAINDER && a->b == 0 && b->b == 0;
    if (i == j || !multiples || a->negated != b->negated || !quantity_is_axis(axis) ||
        tiles->kind != QUANTITY_TILES || axis->axis[0] != tiles->axis[0] || a->a % tiles->tile != 0 ||
        !are_together(guess, i, j, a->negated))
        return 0;
    return explain_lcm(a->a, tiles->tile * b->a);
}

static void merge_moduli(const struct explainer *ex, struct guess *guess)
{
    for (int i = 0; i < guess->count; i++)
        for (int j = 0; j < guess->count; j++) {
            const int64_t modulus = common_modulus(ex, guess, i, j);
            if (modulus == 0)
                continue;
            guess->atom[i].a = modulus;
            guess_remove(guess, j);
            i = -1; /* start again */
            break;
        }
}

bool guess_format(const struct explainer *ex, const struct guess *as_found, char *text, size_t size)
{
    struct text to = {.at = text, .size = size, .fits = true};
    struct guess sorted = *as_found;
    const struct guess *guess = &sorted;
    guess_canonical(ex, &sorted);
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
