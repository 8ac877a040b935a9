/* Searches rules that are right on every trial, and simpler rivals of a rule, which few passes contradict. A
 * disjunction is the negation of a conjunction that separates the passes from the failures. */
#include "search_internal.h"

#include <stdlib.h>
#include <string.h>

enum { PAIR_WIDTH = 700, CLAUSES_COST = 3, MOST_ALTERNATIVES = 64 };
static const double COST_WORTH_TWO_CLAUSES = 13, COST_WORTH_MORE_TERMS = 9, COST_OF_PUBLISHED = 6;

static bool has_threshold(const struct hypothesis *hypothesis)
{
    for (int i = 0; i < hypothesis->count; i++)
        if (hypothesis->term[i].kind == PREDICATE_ABOVE)
            return true;
    return false;
}

/* Returns the least cost that the rule may have, since a threshold may turn out to be a round one. */
static double least_cost(const struct search *search, const struct hypothesis *hypothesis)
{
    double cost = hypothesis->cost;
    for (int i = 0; i < hypothesis->count; i++)
        if (hypothesis->term[i].kind == PREDICATE_ABOVE)
            cost += 2.5 + quantity_of(search->evidence, hypothesis->term[i].quantity)->cost -
                    hypothesis->term[i].cost;
    return cost;
}

static void add_hypothesis(struct search *search, const struct hypothesis *hypothesis)
{
    const struct hypotheses *out = search->out;
    if (out->count == MOST_HYPOTHESES && least_cost(search, hypothesis) >= out->item[out->count - 1].cost)
        return;
    if (has_threshold(hypothesis))
        add_threshold_variants(search->evidence, hypothesis, search->extra > 0, search->out);
    else
        hypotheses_add(search->out, hypothesis);
}

/* --- from columns to rules --- */

static void emit_from(struct search *search, const struct shape *shape, struct hypothesis *hypothesis)
{
    static const int most[] = {0, MOST_ALTERNATIVES, 8, 4, 3};
    const struct evidence *evidence = search->evidence;
    if (hypothesis->count == shape->count) {
        add_hypothesis(search, hypothesis);
        return;
    }
    const int i = hypothesis->count;
    const struct column *column = shape->column[i];
    const double before = hypothesis->cost;
    int link = column->class ? column->class->first : -1;
    for (int n = 0; n < most[shape->count]; n++) {
        struct predicate *predicate = &hypothesis->term[i];
        *predicate = link >= 0 ? search->table.predicate[link] : column->predicate;
        if (search->swapped) {
            predicate->negated = !predicate->negated;
            predicate->cost = vocabulary_cost(evidence->vocabulary, predicate);
        }
        hypothesis->starts[i] = search->swapped || shape->starts[i];
        hypothesis->cost = before + predicate->cost + (i ? CLAUSES_COST + hypothesis->starts[i] : 0);
        hypothesis->count = i + 1;
        emit_from(search, shape, hypothesis);
        hypothesis->count = i;
        hypothesis->cost = before;
        link = link >= 0 ? search->table.link[link] : -1;
        if (link < 0)
            break;
    }
}

void search_emit(struct search *search, const struct shape *shape)
{
    const struct hypotheses *out = search->out;
    struct hypothesis hypothesis = {.cost = search->extra};
    double least = search->extra + CLAUSES_COST * (shape->count - 1);
    for (int i = 0; i < shape->count; i++)
        least += shape->column[i]->cost;
    if (search->swapped)
        least -= shape->count; /* negation may make each of them cheaper */
    if (out->count < MOST_HYPOTHESES || least < out->item[out->count - 1].cost)
        emit_from(search, shape, &hypothesis);
}

/* --- all together --- */

static void search_any(struct search *search)
{
    if (bits_count(search->passes, search->evidence->words) == 0)
        hypotheses_add(search->out, &(struct hypothesis){.cost = 1 + search->extra});
}

static double simplest(const struct search *search)
{
    return search->out->count ? search->out->item[0].cost - search->extra : HUGE_COST;
}

static void search_exact(struct search *search)
{
    const struct evidence *evidence = search->evidence;
    const uint64_t *fails = search->fails, *passes = search->passes;
    const struct shape empty = {0};
    search_any(search);
    if (bits_count(passes, evidence->words) == 0) {
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

int search_open(struct search *search, const struct evidence *evidence, struct hypotheses *out)
{
    const size_t words = (size_t)evidence->words, quantities = (size_t)evidence->vocabulary->quantities;
    *search = (struct search){
        .evidence = evidence, .out = out, .fails = evidence->fails, .passes = evidence->passes};
    if (predicate_table_open(&search->table, evidence))
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
    predicate_table_close(&search->table);
    free(search->necessary);
    free(search->general);
    free(search->row);
}

static int count_wrong(const struct evidence *evidence, const struct hypothesis *hypothesis, bool forgive)
{
    int wrong = 0;
    for (int t = 0; t < evidence->trials; t++)
        wrong += (!forgive || bit_of(evidence->unpublished, t)) && !bit_of(evidence->lucky, t) &&
                 hypothesis_holds_on(evidence, hypothesis, t) != bit_of(evidence->fails, t);
    return wrong;
}

int search_rules(const struct evidence *evidence, struct hypotheses *out)
{
    struct search search;
    int result = search_open(&search, evidence, out);
    out->count = 0;
    if (result == 0) {
        search_exact(&search);
        if (out->count == 0) { /* a kernel may have memorised the seen points: then they tell nothing */
            uint64_t *passes = search.rest + evidence->words;
            for (int i = 0; i < evidence->words; i++)
                passes[i] = evidence->passes[i] & evidence->unpublished[i];
            search.passes = passes;
            search.extra = COST_OF_PUBLISHED;
            search_exact(&search);
        }
        const bool exact = out->count > 0;
        if (!exact)
            search_approximate(&search);
        result =
            out->count ? count_wrong(evidence, &out->item[0], exact && search.extra > 0) : evidence->trials;
        result = search.no_memory ? -1 : result;
    }
    search_close(&search);
    return result;
}

/* --- rivals --- */

enum { RIVAL_WIDTH = 160, MOST_AGAINST = 3 };
static const double CHEAPER = 1.5, COST_OF_PASS = 3;

struct rivalry {
    struct search *search;
    struct hypotheses *out;
    double most; /* highest cost of a rival */
    uint64_t *held;
};

static double plain_cost(const struct hypothesis *hypothesis)
{
    double cost = hypothesis->count == 0 ? 1 : 0;
    for (int i = 0; i < hypothesis->count; i++)
        cost += hypothesis->term[i].cost + (i ? TERM_COST + hypothesis->starts[i] : 0);
    return cost;
}

/* Returns the number of passes where the rival holds, if they are few. Returns 0 if it is no rival. */
static int passes_against(const struct rivalry *r, const uint64_t *held, const uint64_t *column)
{
    const struct evidence *evidence = r->search->evidence;
    int passes = 0;
    for (int w = 0; w < evidence->words; w++)
        passes += __builtin_popcountll((held ? held[w] & column[w] : column[w]) & evidence->passes[w]);
    return passes <= MOST_AGAINST ? passes : 0;
}

static void add(const struct rivalry *r, const struct hypothesis *rest, const struct predicate *predicate,
                int passes)
{
    struct hypothesis hypothesis = *rest;
    hypothesis.term[hypothesis.count] = *predicate;
    hypothesis.starts[hypothesis.count] = hypothesis.count == 0;
    hypothesis.count++;
    hypothesis.cost = plain_cost(&hypothesis) + COST_OF_PASS * passes;
    if (passes > 0 && hypothesis.cost < r->most)
        hypotheses_add(r->out, &hypothesis);
}

static void try_pairs(const struct rivalry *r, const struct column *column, int count)
{
    const struct search *search = r->search;
    for (int i = 0; i < count; i++) {
        const struct predicate *const first = column_predicate(search, &column[i]);
        const struct hypothesis rest = {.term = {*first}, .starts = {true}, .count = 1};
        for (int j = i + 1; j < count; j++)
            if (first->cost + column_predicate(search, &column[j])->cost + TERM_COST < r->most)
                add(r, &rest, column_predicate(search, &column[j]),
                    passes_against(r, column[i].bits, column[j].bits));
    }
}

/* Replaces one term of the leader by another. */
static void try_replacing(const struct rivalry *r, const struct hypothesis *leader,
                          const struct column *column, int count)
{
    const struct evidence *evidence = r->search->evidence;
    for (int at = 0; at < leader->count; at++) {
        struct hypothesis rest = *leader;
        hypothesis_remove_term(&rest, at);
        memset(r->held, 0, (size_t)evidence->words * sizeof *r->held);
        for (int t = 0; t < evidence->trials; t++)
            if (hypothesis_holds_on(evidence, &rest, t))
                bit_set(r->held, t);
        for (int i = 0; i < count; i++)
            add(r, &rest, column_predicate(r->search, &column[i]),
                passes_against(r, r->held, column[i].bits));
    }
}

static bool is_one_clause(const struct hypothesis *hypothesis)
{
    for (int i = 1; i < hypothesis->count; i++)
        if (hypothesis->starts[i])
            return false;
    return hypothesis->count > 0;
}

int search_rivals(const struct evidence *evidence, const struct hypothesis *leader, struct hypotheses *out)
{
    struct search search;
    int result = search_open(&search, evidence, out);
    uint64_t *const held = calloc((size_t)evidence->words, sizeof *held);
    out->count = 0;
    if (result == 0 && held) {
        const struct rivalry r = {&search, out, plain_cost(leader) - CHEAPER, held};
        const struct hypothesis empty = {.count = 0};
        const int count = search_necessary(&search, evidence->fails);
        qsort(search.necessary, (size_t)count, sizeof *search.necessary, columns_by_passes);
        for (int i = 0; i < count; i++)
            add(&r, &empty, column_predicate(&search, &search.necessary[i]),
                passes_against(&r, NULL, search.necessary[i].bits));
        try_pairs(&r, search.necessary, count < RIVAL_WIDTH ? count : RIVAL_WIDTH);
        if (is_one_clause(leader))
            try_replacing(&r, leader, search.necessary, count);
    }
    free(held);
    search_close(&search);
    return result || !held ? -1 : 0;
}
