/* Searches rules that are right on every trial. A conjunction of this kind consists of predicates that hold
 * on every failure ("necessary"). These are few, so all their pairs can be tried. A disjunction is the
 * negation of a conjunction that separates the passes from the failures. */
#include "explain_search.h"

#include <stdlib.h>
#include <string.h>

enum { PAIR_WIDTH = 700, CLAUSES_COST = 3, MOST_ALTERNATIVES = 64 };
static const double COST_WORTH_TWO_CLAUSES = 13, COST_WORTH_MORE_TERMS = 9, COST_OF_PUBLISHED = 6;

/* --- the list of rules --- */

static bool atom_before(const struct atom *a, const struct atom *b)
{
    return a->quantity != b->quantity ? a->quantity < b->quantity
           : a->kind != b->kind       ? a->kind < b->kind
           : a->negated != b->negated ? b->negated
           : a->a != b->a             ? a->a < b->a
                                      : a->b < b->b;
}

/* Puts the terms of a clause, and clauses of one term, into one order. So a rule is the same in whichever
 * order it was found. */
static struct guess in_order(const struct guess *guess)
{
    struct guess sorted = *guess;
    bool either = true;
    for (int i = 0; i < guess->count; i++)
        either = either && guess->starts[i];
    for (int i = 1; i < sorted.count; i++)
        for (int at = i;
             at > 0 && (either || !sorted.starts[at]) && atom_before(&sorted.atom[at], &sorted.atom[at - 1]);
             at--) {
            const struct atom atom = sorted.atom[at];
            sorted.atom[at] = sorted.atom[at - 1];
            sorted.atom[at - 1] = atom;
        }
    return sorted;
}

static bool is_listed(const struct guesses *guesses, int at, const struct guess *guess)
{
    const double apart = 1e-9; /* the same costs summed in another order */
    for (int i = at - 1; i >= 0 && guesses->item[i].cost >= guess->cost - apart; i--)
        if (guess_same(&guesses->item[i], guess))
            return true;
    for (int i = at; i < guesses->count && guesses->item[i].cost <= guess->cost + apart; i++)
        if (guess_same(&guesses->item[i], guess))
            return true;
    return false;
}

void guesses_add(struct guesses *guesses, const struct guess *unordered)
{
    int at = guesses->count;
    if (at == MOST_GUESSES && unordered->cost >= guesses->item[at - 1].cost)
        return;
    const struct guess ordered = in_order(unordered), *const guess = &ordered;
    while (at > 0 && guesses->item[at - 1].cost > guess->cost)
        at--;
    if (is_listed(guesses, at, guess))
        return;
    if (guesses->count < MOST_GUESSES)
        guesses->count++;
    memmove(&guesses->item[at + 1], &guesses->item[at],
            (size_t)(guesses->count - 1 - at) * sizeof *guesses->item);
    guesses->item[at] = *guess;
    guesses->item[at].alive = true;
}

static bool has_threshold(const struct guess *guess)
{
    for (int i = 0; i < guess->count; i++)
        if (guess->atom[i].kind == ATOM_ABOVE)
            return true;
    return false;
}

/* Returns the least cost that the rule may have, since a threshold may turn out to be a round one. */
static double least_cost(const struct search *search, const struct guess *guess)
{
    double cost = guess->cost;
    for (int i = 0; i < guess->count; i++)
        if (guess->atom[i].kind == ATOM_ABOVE)
            cost += 2.5 + search->ex->quantity[guess->atom[i].quantity].cost - guess->atom[i].cost;
    return cost;
}

static void add_guess(struct search *search, const struct guess *guess)
{
    const struct guesses *out = search->out;
    if (out->count == MOST_GUESSES && least_cost(search, guess) >= out->item[out->count - 1].cost)
        return;
    if (has_threshold(guess))
        vary_thresholds(search->ex, guess, search->extra > 0, search->out);
    else
        guesses_add(search->out, guess);
}

/* --- from columns to rules --- */

static void emit_from(struct search *search, const struct shape *shape, struct guess *guess)
{
    static const int most[] = {0, MOST_ALTERNATIVES, 8, 4, 3};
    const struct explainer *ex = search->ex;
    if (guess->count == shape->count) {
        add_guess(search, guess);
        return;
    }
    const int i = guess->count;
    const struct column *column = shape->column[i];
    const double before = guess->cost;
    int link = column->class ? column->class->first : -1;
    for (int n = 0; n < most[shape->count]; n++) {
        struct atom *atom = &guess->atom[i];
        *atom = link >= 0 ? search->table.atom[link] : column->atom;
        if (search->swapped) {
            atom->negated = !atom->negated;
            atom->cost = atom_cost(atom, &ex->quantity[atom->quantity], ex->space);
        }
        guess->starts[i] = search->swapped || shape->starts[i];
        guess->cost = before + atom->cost + (i ? CLAUSES_COST + guess->starts[i] : 0);
        guess->count = i + 1;
        emit_from(search, shape, guess);
        guess->count = i;
        guess->cost = before;
        link = link >= 0 ? search->table.link[link] : -1;
        if (link < 0)
            break;
    }
}

void search_emit(struct search *search, const struct shape *shape)
{
    const struct guesses *out = search->out;
    struct guess guess = {.cost = search->extra};
    double least = search->extra + CLAUSES_COST * (shape->count - 1);
    for (int i = 0; i < shape->count; i++)
        least += shape->column[i]->cost;
    if (search->swapped)
        least -= shape->count; /* negation may make each of them cheaper */
    if (out->count < MOST_GUESSES || least < out->item[out->count - 1].cost)
        emit_from(search, shape, &guess);
}

/* --- necessary columns --- */

static int by_passes(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    if (x->passes != y->passes)
        return x->passes < y->passes ? -1 : 1;
    return x->cost < y->cost ? -1 : x->cost > y->cost;
}

static int by_cost(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->passes < y->passes ? -1 : x->passes > y->passes;
}

/* Finds the tightest threshold that holds on all of `fails`, from above or from below. */
static void tight_threshold(const struct search *search, const uint64_t *fails, int q, bool below,
                            uint64_t *row, struct column *column)
{
    const struct explainer *ex = search->ex;
    int64_t edge = below ? INT64_MIN : INT64_MAX;
    struct atom *atom = &column->atom;
    for (int t = 0; t < ex->trials; t++) {
        const int64_t value = trial_values(ex, t)[q];
        if (bit_of(fails, t) && (below ? value > edge : value < edge))
            edge = value;
    }
    *column = (struct column){.bits = row};
    *atom = (struct atom){.quantity = q, .kind = ATOM_ABOVE, .negated = below};
    atom->a = below ? edge : edge - 1;
    atom->cost = 2.5 + ex->quantity[q].cost;
    memset(row, 0, (size_t)ex->words * sizeof *row);
    for (int t = 0; t < ex->trials; t++)
        row[t / 64] |= (uint64_t)((trial_values(ex, t)[q] > atom->a) != below) << t % 64;
    column->cost = atom->cost;
}

int search_necessary(struct search *search, const uint64_t *fails)
{
    const struct explainer *ex = search->ex;
    const int words = ex->words, passes = bits_count(search->passes, words);
    int count = 0;
    for (int i = 0; i < search->table.count; i++) {
        const struct atom_class *class = &search->table.item[i];
        if (!bits_cover(class->bits, fails, words))
            continue;
        const int left = bits_count_and(class->bits, search->passes, words);
        if (left < passes || passes == 0) /* if nothing passes yet, each of them is a rule */
            search->necessary[count++] =
                (struct column){.bits = class->bits, .class = class, .cost = class->cost, .passes = left};
    }
    for (int i = 0; i < 2 * ex->quantities; i++) {
        struct column *column = &search->necessary[count];
        uint64_t *row = search->row + (size_t)i * (size_t)words;
        if (!quantity_has_thresholds(&ex->quantity[i / 2]))
            continue;
        tight_threshold(search, fails, i / 2, i % 2, row, column);
        column->passes = bits_count_and(row, search->passes, words);
        count += column->passes < passes;
    }
    return count;
}

/* Keeps the columns with the fewest passes (half of the width) and the simplest ones (the other half). */
static int keep_best(struct column *column, int count, int width)
{
    qsort(column, (size_t)count, sizeof *column, by_passes);
    if (count <= width)
        return count;
    qsort(column + width / 2, (size_t)(count - width / 2), sizeof *column, by_cost);
    qsort(column, (size_t)width, sizeof *column, by_passes);
    return width;
}

static struct shape extended(const struct shape *prefix, const struct column **column, int count)
{
    struct shape shape = *prefix;
    for (int i = 0; i < count; i++) {
        shape.starts[shape.count] = i == 0;
        shape.column[shape.count++] = column[i];
    }
    return shape;
}

void search_conjunctions(struct search *search, const uint64_t *fails, const struct shape *prefix, int most,
                         int width)
{
    const int words = search->ex->words;
    const int count = keep_best(search->necessary, search_necessary(search, fails), width);
    const struct column *all = search->necessary;
    for (int i = 0; i < count; i++) {
        if (all[i].passes == 0) {
            const struct shape shape = extended(prefix, (const struct column *[]){&all[i]}, 1);
            search_emit(search, &shape);
            continue;
        }
        for (int j = i + 1; most > 1 && j < count; j++)
            if (bits_disjoint(all[i].bits, all[j].bits, search->passes, words)) {
                const struct column *pair[] = {&all[i], &all[j]};
                const struct shape shape = extended(prefix, pair, 2);
                search_emit(search, &shape);
            }
    }
    if (most > 2)
        search_beam(search, fails, prefix, count);
}

/* --- all together --- */

static void search_any(struct search *search)
{
    if (bits_count(search->passes, search->ex->words) == 0)
        guesses_add(search->out, &(struct guess){.cost = 1 + search->extra});
}

static double simplest(const struct search *search)
{
    return search->out->count ? search->out->item[0].cost - search->extra : HUGE_COST;
}

static void search_exact(struct search *search)
{
    const struct explainer *ex = search->ex;
    const uint64_t *fails = search->fails, *passes = search->passes;
    const struct shape empty = {0};
    search_any(search);
    if (bits_count(passes, ex->words) == 0) {
        search_conjunctions(search, fails, &empty, 1, PAIR_WIDTH);
        return;
    }
    for (int most = 2; most <= 3; most++) {
        if (most > 2 && search->out->count > 0 && simplest(search) < COST_WORTH_MORE_TERMS)
            break;
        search_conjunctions(search, fails, &empty, most, PAIR_WIDTH);
        search->swapped = true;
        search->fails = passes;
        search->passes = fails;
        search_conjunctions(search, passes, &empty, most, PAIR_WIDTH);
        search->swapped = false;
        search->fails = fails;
        search->passes = passes;
    }
    if (simplest(search) > COST_WORTH_TWO_CLAUSES) {
        search_general(search);
        search_two_clauses(search);
    }
}

int search_open(struct search *search, const struct explainer *ex, struct guesses *out)
{
    const size_t words = (size_t)ex->words, quantities = (size_t)ex->quantities;
    *search = (struct search){.ex = ex, .out = out, .fails = ex->fails, .passes = ex->passes};
    if (table_open(&search->table, ex))
        return -1;
    const size_t columns = (size_t)search->table.count + 4 * quantities + 1;
    search->necessary = malloc(columns * sizeof *search->necessary);
    search->general = malloc(columns * sizeof *search->general);
    search->row = malloc((6 * quantities + 2) * words * sizeof *search->row);
    if (!search->necessary || !search->general || !search->row)
        return -1;
    search->general_row = search->row + 2 * quantities * words;
    search->rest = search->general_row + 4 * quantities * words;
    return 0;
}

void search_close(struct search *search)
{
    table_close(&search->table);
    free(search->necessary);
    free(search->general);
    free(search->row);
}

static int count_wrong(const struct explainer *ex, const struct guess *guess, bool forgive)
{
    int wrong = 0;
    for (int t = 0; t < ex->trials; t++)
        wrong += (!forgive || bit_of(ex->unpublished, t)) && !bit_of(ex->lucky, t) &&
                 guess_holds(ex, guess, trial_values(ex, t)) != bit_of(ex->fails, t);
    return wrong;
}

int search_rules(const struct explainer *ex, struct guesses *out)
{
    struct search search;
    int result = search_open(&search, ex, out);
    out->count = 0;
    if (result == 0) {
        search_exact(&search);
        if (out->count == 0) { /* a kernel may have memorised the seen points: then they tell nothing */
            uint64_t *passes = search.rest + ex->words;
            for (int i = 0; i < ex->words; i++)
                passes[i] = ex->passes[i] & ex->unpublished[i];
            search.passes = passes;
            search.extra = COST_OF_PUBLISHED;
            search_exact(&search);
        }
        const bool exact = out->count > 0;
        if (!exact)
            search_approximate(&search);
        result = out->count ? count_wrong(ex, &out->item[0], exact && search.extra > 0) : ex->trials;
        result = search.no_memory ? -1 : result;
    }
    search_close(&search);
    return result;
}
