/* Predicates that stand in the candidate's code. Expressions are recognised by their values, since
 * code spells the same quantity in many ways: (cols + 31) / 32, (cols - 1) / 32 + 1 and cols_padded /
 * 32. */
#include "predicate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/constraint.h"
#include "gen/draw/clue_names.h"
#include "gen/draw/move.h"

enum { SAMPLES = 192, MOST_CODED = 1024, WHY_SIZE = 200 };
static const double CODED_COST = 1, CODED_SHARE = 0.5; /* of the quantity's own cost */

struct coding {
    struct vocabulary *vocabulary;
    struct config sample[SAMPLES];
    int quantities; /* those of the contract, before expressions are added */
    int64_t *value; /* [SAMPLES, quantities] */
    int line;
    const char *file;
};

/* --- recognising quantities --- */

static int sample_configs(struct coding *c, struct pcg *stream)
{
    const struct vocabulary *const vocabulary = c->vocabulary;
    c->quantities = vocabulary->quantities;
    c->value = malloc(SAMPLES * (size_t)vocabulary->quantities * sizeof *c->value);
    for (int i = 0; c->value && i < SAMPLES; i++) {
        draw_random_values(vocabulary->space, &c->sample[i], stream);
        if (i % 2)
            draw_small_values(vocabulary->space, &c->sample[i], stream);
        (void)draw_repair(vocabulary->space, &c->sample[i], -1); /* any values serve */
        vocabulary_values(vocabulary, &c->sample[i], true, c->value + i * vocabulary->quantities);
    }
    return c->value ? 0 : -1;
}

/* Saturates, so that it never overflows. */
static int64_t difference_of(int64_t a, int64_t b)
{
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? INT64_MAX : difference;
}

/* Returns the cheapest quantity with these values, or -1. With `offset` a constant may lie between: the value
 * minus the quantity. */
static int find_shifted(const struct coding *c, const int64_t *value, int64_t *offset)
{
    const struct vocabulary *const vocabulary = c->vocabulary;
    int found = -1;
    for (int q = 0; q < c->quantities; q++) {
        const int64_t difference = difference_of(value[0], c->value[q]);
        int same = 0;
        if (difference != 0 && !offset)
            continue;
        while (same < SAMPLES && difference_of(value[same], c->value[same * c->quantities + q]) == difference)
            same++;
        if (same == SAMPLES && (found < 0 || vocabulary->quantity[q].cost < vocabulary->quantity[found].cost))
            found = q;
    }
    if (found >= 0 && offset)
        *offset = difference_of(value[0], c->value[found]);
    return found;
}

static int find_quantity(const struct coding *c, const int64_t *value)
{
    return find_shifted(c, value, NULL);
}

static bool values_of(const struct coding *c, const struct constraint *expression, int64_t *value)
{
    bool known = expression != NULL;
    for (int i = 0; known && i < SAMPLES; i++)
        known = expression_value(expression, &c->sample[i], &value[i]);
    return known;
}

/* Adds the expression as a quantity of its own and takes it over. Returns its index, or -1. */
static int add_expression(struct coding *c, struct constraint *expression)
{
    static const double cost = 3;
    struct vocabulary *const vocabulary = c->vocabulary;
    struct quantity quantity = {
        .kind = QUANTITY_EXPRESSION, .expression = expression, .second = -1, .against = -1, .cost = cost};
    for (int i = 0; vocabulary->space->problem->axes[i].name; i++)
        if (expression_depends_on(expression, vocabulary->space->problem, i))
            quantity.axis[quantity.count++] = i;
    if (quantity.count == 0 || vocabulary->expressions == MOST_EXPRESSIONS ||
        vocabulary->quantities == MOST_QUANTITIES) {
        constraint_free(expression);
        return -1;
    }
    vocabulary->expression[vocabulary->expressions++] = expression;
    vocabulary->quantity[vocabulary->quantities] = quantity;
    return vocabulary->quantities++;
}

/* Finds or adds the quantity of a text. */
static int quantity_of_text(struct coding *c, const char *text, const int64_t *value)
{
    char why[WHY_SIZE];
    const int found = find_quantity(c, value);
    for (int i = 0; found < 0 && i < c->vocabulary->expressions; i++)
        if (strcmp(constraint_text(c->vocabulary->expression[i]), text) == 0)
            return c->vocabulary->quantities - c->vocabulary->expressions + i;
    struct constraint *const expression =
        found < 0 ? expression_parse_derived(c->vocabulary->space->problem, text, why, sizeof why) : NULL;
    return expression ? add_expression(c, expression) : found;
}

static int quantity_of_expression(const struct coding *c, const struct constraint *expression)
{
    int64_t value[SAMPLES];
    return values_of(c, expression, value) ? find_quantity(c, value) : -1;
}

static bool is_constant(const int64_t *value)
{
    for (int i = 1; i < SAMPLES; i++)
        if (value[i] != value[0])
            return false;
    return true;
}

/* --- adding predicates --- */

static void add(struct coding *c, int quantity, enum predicate_kind kind, int64_t a, int64_t b)
{
    struct vocabulary *const vocabulary = c->vocabulary;
    const struct predicate predicate = {.quantity = quantity, .kind = kind, .a = a, .b = b};
    if (quantity < 0 || vocabulary->codeds == MOST_CODED || vocabulary_coded(vocabulary, &predicate))
        return;
    struct coded *const coded = &vocabulary->coded[vocabulary->codeds++];
    *coded = (struct coded){.predicate = predicate, .line = c->line};
    for (int i = 0; i + 1 < CLUE_FILE_SIZE && c->file[i]; i++)
        coded->file[i] = c->file[i];
}

/* Compares a quantity with a number. `a` is the greatest value that is not above the boundary. */
static void add_bound(struct coding *c, int quantity, enum clue_relation relation, int64_t bound)
{
    const bool at_least = relation == CLUE_GREATER_EQUAL || relation == CLUE_LESS;
    if (relation == CLUE_EQUAL || relation == CLUE_NOT_EQUAL)
        add(c, quantity, PREDICATE_EQUAL, bound, 0);
    else
        add(c, quantity, PREDICATE_ABOVE, at_least ? bound - 1 : bound, 0);
}

static void add_remainder(struct coding *c, const struct constraint *subject, enum clue_relation relation,
                          int64_t bound)
{
    int64_t modulus = 0;
    struct constraint *const whole = expression_before_remainder(subject, &modulus);
    const int quantity = quantity_of_expression(c, whole);
    const bool at_least = relation == CLUE_GREATER_EQUAL || relation == CLUE_LESS;
    if (whole && modulus > 1 && modulus <= LARGEST_MODULUS && bound >= 0 && bound < modulus) {
        if (relation == CLUE_EQUAL || relation == CLUE_NOT_EQUAL)
            add(c, quantity, PREDICATE_REMAINDER, modulus, bound);
        else
            add(c, quantity, PREDICATE_RESIDUE_ABOVE, modulus, at_least ? bound - 1 : bound);
    }
    constraint_free(whole);
}

/* The order of two quantities: k > group. */
static void add_order(struct coding *c, const int64_t *left, const int64_t *right,
                      enum clue_relation relation)
{
    int64_t order[SAMPLES], reverse[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        order[i] = left[i] < right[i] ? ORDER_LESS : left[i] == right[i] ? ORDER_SAME : ORDER_MORE;
        reverse[i] = ORDER_MORE - order[i];
    }
    const int straight = find_quantity(c, order), turned = find_quantity(c, reverse);
    const bool strict = relation == CLUE_LESS || relation == CLUE_GREATER_EQUAL;
    const int64_t side = relation == CLUE_EQUAL || relation == CLUE_NOT_EQUAL ? ORDER_SAME
                         : strict                                             ? ORDER_LESS
                                                                              : ORDER_MORE;
    add(c, straight, PREDICATE_EQUAL, side, 0);
    add(c, turned, PREDICATE_EQUAL, ORDER_MORE - side, 0);
}

/* k >= 3 * m is the ratio k / m, rounded down, compared with 3. */
static void add_ratio(struct coding *c, const int64_t *left, const struct constraint *right,
                      enum clue_relation relation)
{
    int64_t factor = 0, value[SAMPLES], ratio[SAMPLES];
    struct constraint *const rest = expression_after_factor(right, &factor);
    bool known = values_of(c, rest, value);
    constraint_free(rest);
    for (int i = 0; known && i < SAMPLES; i++) {
        known = value[i] > 0 && left[i] >= 0;
        ratio[i] = known ? left[i] / value[i] : 0;
    }
    if (known && (relation == CLUE_GREATER_EQUAL || relation == CLUE_LESS))
        add_bound(c, find_quantity(c, ratio), relation, factor);
}

/* heads != kv_heads * kv_heads is the difference of both sides, compared with 0. */
static void add_difference(struct coding *c, const struct constraint *subject, const struct constraint *bound,
                           const int64_t *left, const int64_t *right, enum clue_relation relation)
{
    char text[2 * CLUE_TEXT_SIZE + 8];
    int64_t value[SAMPLES];
    snprintf(text, sizeof text, "%s - (%s)", constraint_text(subject), constraint_text(bound));
    for (int i = 0; i < SAMPLES; i++)
        value[i] = left[i] - right[i];
    add_bound(c, quantity_of_text(c, text, value), relation, 0);
}

static void add_term(struct coding *c, const struct constraint *subject, const struct constraint *bound,
                     enum clue_relation relation)
{
    int64_t left[SAMPLES], right[SAMPLES];
    if (!values_of(c, subject, left) || !values_of(c, bound, right) || is_constant(left))
        return;
    if (is_constant(right)) {
        int64_t offset = 0;
        const int quantity = find_shifted(c, left, &offset);
        if (quantity >= 0)
            add_bound(c, quantity, relation, right[0] - offset);
        else
            add_bound(c, quantity_of_text(c, constraint_text(subject), left), relation, right[0]);
        add_remainder(c, subject, relation, right[0]);
        return;
    }
    const int before = c->vocabulary->codeds;
    add_order(c, left, right, relation);
    add_ratio(c, left, bound, relation);
    if (c->vocabulary->codeds == before)
        add_difference(c, subject, bound, left, right, relation);
}

static enum clue_relation mirrored(enum clue_relation relation)
{
    switch (relation) {
    case CLUE_LESS: return CLUE_GREATER;
    case CLUE_LESS_EQUAL: return CLUE_GREATER_EQUAL;
    case CLUE_GREATER: return CLUE_LESS;
    case CLUE_GREATER_EQUAL: return CLUE_LESS_EQUAL;
    default: return relation;
    }
}

static void add_clue_term(struct coding *c, const struct clue_term *term)
{
    char why[WHY_SIZE];
    const struct problem *const problem = c->vocabulary->space->problem;
    struct constraint *const subject = expression_parse_derived(problem, term->subject, why, sizeof why);
    struct constraint *const bound = expression_parse_derived(problem, term->bound, why, sizeof why);
    if (subject && bound && term->relation != CLUE_TILE) {
        const int before = c->vocabulary->codeds;
        add_term(c, subject, bound, term->relation);
        if (c->vocabulary->codeds == before)
            add_term(c, bound, subject, mirrored(term->relation));
    } else if (subject && bound) {
        int64_t left[SAMPLES], right[SAMPLES];
        if (values_of(c, subject, left) && values_of(c, bound, right) && is_constant(right) && right[0] > 1 &&
            right[0] <= LARGEST_MODULUS)
            add(c, find_quantity(c, left), PREDICATE_REMAINDER, right[0], 0);
    }
    constraint_free(subject);
    constraint_free(bound);
}

int vocabulary_code(struct vocabulary *vocabulary, const struct clue_list *clues, struct pcg *stream)
{
    struct coding *const c = calloc(1, sizeof *c);
    struct unknown_names unknown;
    struct argument_texts arguments;
    vocabulary->codeds = 0;
    vocabulary->coded = calloc(MOST_CODED, sizeof *vocabulary->coded);
    if (!c || !vocabulary->coded) {
        free(c);
        return -1;
    }
    c->vocabulary = vocabulary;
    const int status = sample_configs(c, stream);
    argument_texts_find(&arguments, vocabulary->space, stream);
    for (int i = 0; status == 0 && i < clues->count; i++) {
        struct clue clue = clues->item[i];
        clue_resolve(&clue, &arguments, &unknown);
        c->line = clue.line;
        c->file = clues->item[i].file;
        for (int t = 0; t < clue.terms; t++)
            add_clue_term(c, &clue.term[t]);
    }
    free(c->value);
    free(c);
    return status;
}

void vocabulary_uncode(struct vocabulary *vocabulary)
{
    for (int i = 0; i < vocabulary->expressions; i++)
        constraint_free(vocabulary->expression[i]);
    free(vocabulary->coded);
    vocabulary->expressions = 0;
    vocabulary->coded = NULL;
    vocabulary->codeds = 0;
}

/* --- their use --- */

const struct coded *vocabulary_coded(const struct vocabulary *vocabulary, const struct predicate *predicate)
{
    for (int i = 0; i < vocabulary->codeds; i++) {
        const struct predicate *const p = &vocabulary->coded[i].predicate;
        if (p->quantity == predicate->quantity && p->kind == predicate->kind && p->a == predicate->a &&
            p->b == predicate->b)
            return &vocabulary->coded[i];
    }
    return NULL;
}

double vocabulary_cost(const struct vocabulary *vocabulary, const struct predicate *predicate)
{
    const struct quantity *const quantity = &vocabulary->quantity[predicate->quantity];
    const double cost = predicate_cost(predicate, quantity, vocabulary->space),
                 coded = CODED_COST + CODED_SHARE * quantity->cost;
    return coded < cost && vocabulary_coded(vocabulary, predicate) ? coded : cost;
}

int64_t vocabulary_threshold(const struct vocabulary *vocabulary, int quantity, int64_t low, int64_t high)
{
    for (int i = 0; i < vocabulary->codeds; i++) {
        const struct predicate *const p = &vocabulary->coded[i].predicate;
        if (p->quantity == quantity && p->kind == PREDICATE_ABOVE && p->a >= low && p->a <= high)
            return p->a;
    }
    return roundest_between(low, high);
}

/* --- text --- */

void code_text(const struct vocabulary *vocabulary, const struct hypothesis *rule, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < rule->count; i++) {
        char place[CLUE_FILE_SIZE + 24];
        const struct coded *const coded = vocabulary_coded(vocabulary, &rule->term[i]);
        const size_t used = strlen(text);
        if (!coded || coded->line == 0)
            continue;
        if (*coded->file)
            snprintf(place, sizeof place, "%s:%d", coded->file, coded->line);
        else
            snprintf(place, sizeof place, "line %d", coded->line);
        if (!strstr(text, place) && used + strlen(place) + 3 < size)
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", place);
    }
}
