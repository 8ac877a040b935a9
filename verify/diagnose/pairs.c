#include "pairs.h"

#include <stdio.h>
#include <string.h>

#include "verify/session/session.h"

enum { VARIATIONS = 3, PAIRS = 6, MOST_BASES = 40 };

static const struct session_options *options_of(const struct shrinking *s)
{
    return session_given(probe_session(s->probe));
}

/* --- the smallest pair --- */

struct pair_step {
    struct shrinking *s;
    struct sibling_wish wish;
};

/* Returns 1 if a sibling of the wished kind fails right after this configuration, 0 if none of VARIATIONS
 * does, -1 if no more runs are allowed. */
static int step_fails(void *data, const struct config *config)
{
    struct pair_step *const step = data;
    struct shrinking *const s = step->s;
    for (unsigned v = 0; v < VARIATIONS; v++) {
        struct config sibling;
        struct config_result result;
        if (!sibling_choose(options_of(s), config, &step->wish, false, v, &sibling))
            return 0;
        if (!shrinking_after(s, &sibling, config, &result))
            return -1;
        s->spent++;
        if (s->observe)
            s->observe(s->observe_data, &result);
        if (result.pair.present) {
            s->best = result;
            return 1;
        }
    }
    return 0;
}

bool pairs_shrink(struct shrinking *s, const struct config_result *failure)
{
    struct pair_step step = {.s = s};
    const struct result_pair pair = failure->pair;
    struct config_result again;
    shrinking_from(s, failure);
    if (!shrinking_after(s, &pair.config, &pair.after, &again) || !again.pair.present)
        return false;
    s->best = again;
    if (sibling_kind_of(options_of(s)->problem, &pair.after, &pair.config, &step.wish))
        shrink(s->space, &pair.after, s->steps, step_fails, &step, &s->shrunk);
    return true;
}

/* --- the relation --- */

struct pair_rate {
    int fails, runs;
};

static bool is_excluded(const struct problem *problem, const struct config *a, const struct config *b,
                        int kind)
{
    struct sibling_wish found;
    return !sibling_kind_of(problem, a, b, &found) || found.kind != kind;
}

/* Runs fresh pairs of one kind. Pairs that are of another kind, too, are left out: a swap keeps both product
 * and sum. */
static struct pair_rate rate_of(struct shrinking *s, const struct sibling_wish *wish,
                                const struct config_result *base, int bases)
{
    const struct session_options *const options = options_of(s);
    struct pair_rate rate = {0, 0};
    for (int i = 0; i < bases && i < MOST_BASES && rate.runs < PAIRS; i++) {
        struct config sibling;
        struct config_result result;
        const struct config *const first = &base[i].config;
        if (!base[i].unseen || (base[i].outcome != OUTCOME_PASS && !base[i].pair.present) ||
            !sibling_choose(options, first, wish, false, 0, &sibling) ||
            is_excluded(options->problem, first, &sibling, wish->kind))
            continue;
        if (!shrinking_after(s, &sibling, first, &result))
            break;
        rate.runs++;
        rate.fails += result.pair.present;
    }
    return rate;
}

/* Not every pair of a kind needs to fail: a plan for more rows than there are may do no harm. */
static bool some_fail(const struct pair_rate *rate)
{
    return rate->fails > 0;
}

static void take(struct pairs_relation *relation, const struct pair_rate *with, const struct pair_rate *other,
                 const struct pair_rate *another)
{
    relation->fails = with->fails;
    relation->runs = with->runs;
    relation->other_fails = other->fails + another->fails;
    relation->others = other->runs + another->runs;
}

static const char *axis_name(const struct shrinking *s, int axis)
{
    return options_of(s)->problem->axes[axis].name;
}

/* Two extents differ. Decides whether the failure needs an equal product, an equal sum, any change, or a
 * swap. */
static void relate_two(struct shrinking *s, const struct sibling_wish *wish, const struct config_result *base,
                       int bases, struct pairs_relation *relation)
{
    const struct sibling_wish product = {SIBLING_PRODUCT, {wish->axis[0], wish->axis[1]}},
                              sum = {SIBLING_SUM, {wish->axis[0], wish->axis[1]}},
                              one = {SIBLING_AXIS, {wish->axis[0], -1}};
    const struct pair_rate by_product = rate_of(s, &product, base, bases),
                           by_sum = rate_of(s, &sum, base, bases), by_one = rate_of(s, &one, base, bases);
    const char *const a = axis_name(s, wish->axis[0]), *const b = axis_name(s, wish->axis[1]);
    if (some_fail(&by_product) && some_fail(&by_sum) && some_fail(&by_one)) {
        snprintf(relation->text, sizeof relation->text, "another %s", a);
        relation->fails = by_product.fails + by_sum.fails + by_one.fails;
        relation->runs = by_product.runs + by_sum.runs + by_one.runs;
    } else if (some_fail(&by_product) && !some_fail(&by_sum)) {
        snprintf(relation->text, sizeof relation->text, "equal %s*%s", a, b);
        take(relation, &by_product, &by_sum, &by_one);
    } else if (some_fail(&by_sum) && !some_fail(&by_product)) {
        snprintf(relation->text, sizeof relation->text, "equal %s+%s", a, b);
        take(relation, &by_sum, &by_product, &by_one);
    } else {
        const struct pair_rate own = rate_of(s, wish, base, bases);
        take(relation, &own, &by_one, &(struct pair_rate){0, 0});
    }
}

/* One axis differs. Counts failures of such pairs, and of pairs that differ in another axis instead. */
static void relate_one(struct shrinking *s, const struct sibling_wish *wish, const struct config_result *base,
                       int bases, struct pairs_relation *relation)
{
    const struct problem *const problem = options_of(s)->problem;
    const struct pair_rate own = rate_of(s, wish, base, bases);
    struct pair_rate others = {0, 0};
    for (int axis = 0; problem->axes[axis].name && others.runs < PAIRS; axis++) {
        const struct sibling_wish other = {SIBLING_AXIS, {axis, -1}};
        if (axis == wish->axis[0] || axis == problem_input_axis(problem))
            continue;
        const struct pair_rate rate = rate_of(s, &other, base, bases);
        others.runs += rate.runs;
        others.fails += rate.fails;
    }
    take(relation, &own, &others, &(struct pair_rate){0, 0});
}

void pairs_relate(struct shrinking *s, const struct result_pair *pair, const struct config_result *base,
                  int bases, struct pairs_relation *relation)
{
    struct sibling_wish wish;
    *relation = (struct pairs_relation){.fails = 0};
    snprintf(relation->text, sizeof relation->text, "%s", pair->relation);
    if (!pair->config.problem || !sibling_kind_of(options_of(s)->problem, &pair->after, &pair->config, &wish))
        return;
    if (wish.kind == SIBLING_AXIS)
        relate_one(s, &wish, base, bases, relation);
    else
        relate_two(s, &wish, base, bases, relation);
}
