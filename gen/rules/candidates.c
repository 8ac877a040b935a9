/* Chooses the next configuration to run. Candidates are earlier ones, combined with each other and moved to
 * the boundaries of rules. A query picks the one on which the remaining rules disagree most, or one that
 * tests the best of them. */
#include "rules_internal.h"

#include <stdlib.h>

#include "gen/contract/instantiate.h"

enum { SHRINK_STEPS = 64, STEPS_PER_ASK = 4, SMALL_BITS = 18, MOST_MOVES = 3 };

static int largest_axis(const struct space *space, const struct config *config, unsigned kept)
{
    int largest = -1;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (!(kept >> i & 1) && domain_is_number(space, i) &&
            config->value[i] > domain_least(&space->domain[i]) &&
            (largest < 0 || config->value[i] > config->value[largest]))
            largest = i;
    return largest;
}

/* Shrinks the largest axis. Returns false if none can shrink except the `kept` ones (one bit each). */
static bool shrink_largest(struct inquiry *inquiry, struct config *config, unsigned kept)
{
    const int axis = largest_axis(inquiry->vocabulary.space, config, kept);
    if (axis < 0)
        return false;
    config->value[axis] =
        domain_shrink(&inquiry->vocabulary.space->domain[axis], config->value[axis], inquiry->stream);
    return draw_repair(inquiry->vocabulary.space, config, -1) != REPAIR_FAILED;
}

/* Shrinks the largest axes until the caps hold. */
static bool fit(struct inquiry *inquiry, struct config *config)
{
    struct cost cost;
    for (int i = 0; i < SHRINK_STEPS; i++) {
        if (draw_cost(&inquiry->costing, config, &cost))
            return true;
        if (!shrink_largest(inquiry, config, 0))
            return false;
    }
    return false;
}

static bool make_small(struct inquiry *inquiry, struct config *config)
{
    for (int i = 0; i < SHRINK_STEPS && config_size_bits(inquiry->vocabulary.space, config) > SMALL_BITS; i++)
        if (!shrink_largest(inquiry, config, 0))
            return false;
    return true;
}

static bool is_new(const struct inquiry *inquiry, const struct config *config)
{
    return space_contains(inquiry->vocabulary.space, config, NULL) && !point_set_has(&inquiry->used, config);
}

static bool random_config(struct inquiry *inquiry, struct config *config)
{
    draw_least(inquiry->vocabulary.space, config);
    for (int i = 0; inquiry->vocabulary.space->problem->axes[i].name; i++) {
        set_random(inquiry, config, i);
        if (domain_is_number(inquiry->vocabulary.space, i))
            config->value[i] =
                domain_decorate(&inquiry->vocabulary.space->domain[i], config->value[i], inquiry->stream);
    }
    return draw_repair(inquiry->vocabulary.space, config, -1) != REPAIR_FAILED;
}

/* --- one candidate --- */

static const struct config *random_trial(struct inquiry *inquiry, const uint64_t *among)
{
    int trial = (int)below(inquiry, (uint64_t)inquiry->evidence.trials);
    for (int i = 0; i < inquiry->evidence.trials && !bit_of(among, trial); i++)
        trial = (trial + 1) % inquiry->evidence.trials;
    return &inquiry->evidence.config[trial];
}

int random_failure(struct inquiry *inquiry)
{
    return (int)(random_trial(inquiry, inquiry->evidence.fails) - inquiry->evidence.config);
}

static const struct config *random_fresh(struct inquiry *inquiry)
{
    if (inquiry->fresh.count == 0)
        return random_trial(inquiry, inquiry->evidence.passes);
    return &inquiry->fresh.item[below(inquiry, (uint64_t)inquiry->fresh.count)];
}

static void cross(struct inquiry *inquiry, const struct config *with, struct config *config)
{
    for (int i = 0; inquiry->vocabulary.space->problem->axes[i].name; i++)
        if (below(inquiry, 2))
            config->value[i] = with->value[i];
}

static void pick_base(struct inquiry *inquiry, struct config *config)
{
    const uint64_t kind = below(inquiry, 10);
    if (kind < 3) {
        *config = *random_trial(inquiry, inquiry->evidence.fails);
    } else if (kind < 5) {
        *config = *random_trial(inquiry, inquiry->evidence.passes);
    } else if (kind < 7) {
        *config = *random_fresh(inquiry);
    } else {
        *config = *random_trial(inquiry, inquiry->evidence.fails);
        cross(inquiry, kind == 7 ? random_trial(inquiry, inquiry->evidence.fails) : random_fresh(inquiry),
              config);
    }
}

/* Picks a rule; those near the front are picked more often. */
static const struct hypothesis *pick_hypothesis(struct inquiry *inquiry, const struct hypotheses *hypotheses)
{
    const uint64_t octave = (uint64_t)hypotheses->count >> below(inquiry, 8);
    return &hypotheses->item[octave ? below(inquiry, octave) : 0];
}

/* Sets the axis to whole tiles, where kernels that fail on nearly everything may still be right. */
static void set_tiles(struct inquiry *inquiry, struct config *config, int axis)
{
    const struct domain *domain = &inquiry->vocabulary.space->domain[axis];
    const int64_t tile = domain->tile[below(inquiry, (uint64_t)domain->tile_count)];
    const int64_t tiles = random_up_to(inquiry, 64);
    config->value[axis] = domain_nearest(domain, tile * tiles);
}

static void random_move(struct inquiry *inquiry, struct config *config)
{
    int axes = 0;
    while (inquiry->vocabulary.space->problem->axes[axes].name)
        axes++;
    const int axis = (int)below(inquiry, (uint64_t)axes);
    const struct domain *domain = &inquiry->vocabulary.space->domain[axis];
    const uint64_t how = domain_is_number(inquiry->vocabulary.space, axis) ? below(inquiry, 5) : 0;
    if (how == 1)
        config->value[axis] = domain_next(domain, config->value[axis], below(inquiry, 2) ? 1 : -1);
    else if (how == 2 && inquiry->seen && inquiry->seen->count > 0)
        config->value[axis] = inquiry->seen->item[below(inquiry, (uint64_t)inquiry->seen->count)].value[axis];
    else if (how == 3 && domain->tile_count > 0)
        set_tiles(inquiry, config, axis);
    else
        set_random(inquiry, config, axis);
}

/* Draws a new configuration inside the space, near the boundaries of `rules`. The caps are not checked:
 * candidate_fits does so for the configuration that is chosen. */
static bool candidate_draw(struct inquiry *inquiry, const struct hypotheses *hypotheses, struct config *out)
{
    const int moves = 1 + (int)below(inquiry, MOST_MOVES);
    pick_base(inquiry, out);
    out->seed = draw_config_seed(inquiry->stream);
    for (int i = 0; i < moves; i++) {
        const struct hypothesis *hypothesis = hypotheses->count ? pick_hypothesis(inquiry, hypotheses) : NULL;
        if (hypothesis && hypothesis->count > 0 && below(inquiry, 4))
            aim(inquiry, &hypothesis->term[below(inquiry, (uint64_t)hypothesis->count)], out);
        else
            random_move(inquiry, out);
    }
    return draw_repair(inquiry->vocabulary.space, out, -1) != REPAIR_FAILED && is_new(inquiry, out);
}

/* Most of them are small, since these are run and judged faster. A quarter is as large as the caps allow. */
int candidates_fill(struct inquiry *inquiry, int count)
{
    for (int i = 0; i < count; i++) {
        struct config config;
        if (random_config(inquiry, &config) && (i % 4 == 0 || make_small(inquiry, &config)) &&
            fit(inquiry, &config) && is_new(inquiry, &config) && config_list_add(&inquiry->fresh, &config))
            return -1;
    }
    return 0;
}

/* Draws one of those of candidates_fill, which are independent of all rules; with `near`, it is moved to the
 * boundary of that predicate. */
static bool candidate_fresh(struct inquiry *inquiry, const struct predicate *near, struct config *out)
{
    *out = *random_fresh(inquiry);
    out->seed = draw_config_seed(inquiry->stream);
    if (near)
        aim(inquiry, near, out);
    return draw_repair(inquiry->vocabulary.space, out, -1) != REPAIR_FAILED && is_new(inquiry, out);
}

/* Draws a failing configuration and moves it across or along the boundary of the predicate and, half of the
 * time, elsewhere. Random configurations rarely satisfy all other terms of a rule. */
static bool candidate_beside(struct inquiry *inquiry, const struct predicate *near, struct config *out)
{
    *out = *random_trial(inquiry, inquiry->evidence.fails);
    out->seed = draw_config_seed(inquiry->stream);
    aim(inquiry, near, out);
    if (below(inquiry, 2))
        random_move(inquiry, out);
    return draw_repair(inquiry->vocabulary.space, out, -1) != REPAIR_FAILED && is_new(inquiry, out);
}

static unsigned axes_of(const struct vocabulary *vocabulary, const struct hypothesis *hypothesis)
{
    unsigned axes = 0;
    for (int i = 0; hypothesis && i < hypothesis->count; i++) {
        const struct quantity *quantity = &vocabulary->quantity[hypothesis->term[i].quantity];
        for (int a = 0; a < quantity->count; a++)
            axes |= 1u << quantity->axis[a];
    }
    return axes;
}

bool candidate_fits(struct inquiry *inquiry, const struct hypothesis *kept, struct config *config)
{
    const unsigned axes = axes_of(&inquiry->vocabulary, kept);
    struct cost cost;
    for (int i = 0; i < SHRINK_STEPS; i++) {
        if (i % STEPS_PER_ASK == 0 && draw_cost(&inquiry->costing, config, &cost))
            return is_new(inquiry, config);
        if (!kept || !shrink_largest(inquiry, config, axes))
            return false;
    }
    return false;
}

/* --- queries: the candidate that tells most --- */

enum { CANDIDATES = 256, SHORT_LIST = 8, CONFIRM_TRIES = 240, CONFIRM_CHOICE = 4, CONFIRM_BITS = 24 };
enum { RIVALS_AT_ONCE = 6, RIVAL_PICKS = 2 };
static const double LEAST_SPLIT = 0.001;

struct candidate {
    struct config config;
    double score;
};

static double weight_of(const struct hypotheses *hypotheses, const struct hypothesis *hypothesis)
{
    return __builtin_exp2((hypotheses->item[0].cost - hypothesis->cost) / 2);
}

/* Returns how evenly the configuration divides the rules: the smaller part of their weight, up to one
 * half. */
static double split_of(const struct vocabulary *vocabulary, const struct hypotheses *hypotheses,
                       const int64_t *value)
{
    double fails = 0, all = 0;
    for (int i = 0; i < hypotheses->count; i++) {
        const struct hypothesis *hypothesis = &hypotheses->item[i];
        if (!hypothesis->alive)
            continue;
        const double weight = weight_of(hypotheses, hypothesis);
        all += weight;
        fails += hypothesis_holds(vocabulary, hypothesis, value) ? weight : 0;
    }
    return all > 0 ? (2 * fails < all ? fails : all - fails) / all : 0;
}

static void shortlist(struct candidate *list, int *count, const struct candidate *candidate)
{
    int at = *count;
    if (at == SHORT_LIST && candidate->score <= list[at - 1].score)
        return;
    if (*count < SHORT_LIST)
        (*count)++;
    else
        at--;
    for (; at > 0 && list[at - 1].score < candidate->score; at--)
        list[at] = list[at - 1];
    list[at] = *candidate;
}

bool query_divide(struct inquiry *inquiry, const struct hypotheses *hypotheses, double least,
                  struct config *out)
{
    const bool derived = hypotheses_ask_derived(&inquiry->vocabulary, hypotheses);
    struct candidate list[SHORT_LIST];
    int64_t value[MOST_QUANTITIES];
    int count = 0;
    for (int i = 0; i < CANDIDATES; i++) {
        struct candidate candidate;
        if (!candidate_draw(inquiry, hypotheses, &candidate.config))
            continue;
        vocabulary_values(&inquiry->vocabulary, &candidate.config, derived, value);
        const double split = split_of(&inquiry->vocabulary, hypotheses, value);
        candidate.score = split * (1 - 0.01 * config_size_bits(inquiry->vocabulary.space, &candidate.config));
        if (split >= least)
            shortlist(list, &count, &candidate);
    }
    for (int i = 0; i < count; i++) {
        *out = list[i].config;
        if (!candidate_fits(inquiry, &hypotheses->item[0], out))
            continue;
        vocabulary_values(&inquiry->vocabulary, out, derived, value);
        if (split_of(&inquiry->vocabulary, hypotheses, value) >= least)
            return true;
    }
    return false;
}

/* --- confirming --- */

static bool draw_for(struct inquiry *inquiry, const struct hypotheses *hypotheses,
                     const struct predicate *near, bool fails, int try, struct config *out)
{
    static const struct hypotheses none = {.count = 0};
    if (fails && try > CONFIRM_TRIES / 3) /* failures are rare, so a known one is the start */
        return candidate_draw(inquiry, near ? hypotheses : &none, out);
    if (near && try % 2)
        return candidate_beside(inquiry, near, out);
    if (!near && try % 2) /* near earlier runs, at seen sizes and whole tiles, where other faults may hide */
        return candidate_draw(inquiry, &none, out);
    return candidate_fresh(inquiry, near, out);
}

/* Returns whether the rule predicts `fails`, and whether the predicate `at` (-1: any) decides that. */
static bool tests(const struct vocabulary *vocabulary, const struct hypothesis *rule, int at, bool fails,
                  const int64_t *value)
{
    if (hypothesis_holds(vocabulary, rule, value) != fails)
        return false;
    return at < 0 || hypothesis_holds_if(vocabulary, rule, value, at, true) !=
                         hypothesis_holds_if(vocabulary, rule, value, at, false);
}

/* Of a few configurations that test the rule, picks the one on which most other rules disagree with it. Small
 * ones are preferred in three turns of four. */
bool query_confirm(struct inquiry *inquiry, const struct hypotheses *hypotheses, int turn, struct config *out)
{
    const struct hypothesis *rule = &hypotheses->item[0];
    const bool fails = turn % 2 == 0;
    const int at = turn % 4 < 2 || rule->count == 0 ? -1 : turn / 4 % rule->count;
    const struct predicate *near = at < 0 ? NULL : &rule->term[at];
    const int most_bits = turn % 8 < 6 ? CONFIRM_BITS : 1000;
    const bool derived = hypotheses_ask_derived(&inquiry->vocabulary, hypotheses);
    struct candidate list[SHORT_LIST];
    int64_t value[MOST_QUANTITIES];
    int count = 0;
    for (int try = 0; try < CONFIRM_TRIES && count < CONFIRM_CHOICE; try++) {
        struct candidate candidate;
        if (!draw_for(inquiry, hypotheses, near, fails, try, &candidate.config))
            continue;
        vocabulary_values(&inquiry->vocabulary, &candidate.config, derived, value);
        const int over = config_size_bits(inquiry->vocabulary.space, &candidate.config) - most_bits;
        if (!tests(&inquiry->vocabulary, rule, at, fails, value))
            continue;
        candidate.score = split_of(&inquiry->vocabulary, hypotheses, value) - (over > 0 ? over : 0);
        shortlist(list, &count, &candidate);
    }
    for (int i = 0; i < count; i++) {
        *out = list[i].config;
        if (!candidate_fits(inquiry, rule, out))
            continue;
        vocabulary_values(&inquiry->vocabulary, out, derived, value);
        if (tests(&inquiry->vocabulary, rule, at, fails, value))
            return true;
    }
    return false;
}

int query_learn(const struct vocabulary *vocabulary, struct hypotheses *hypotheses,
                const struct config *config, bool fails)
{
    int64_t value[MOST_QUANTITIES];
    int alive = 0;
    vocabulary_values(vocabulary, config, hypotheses_ask_derived(vocabulary, hypotheses), value);
    for (int i = 0; i < hypotheses->count; i++) {
        struct hypothesis *hypothesis = &hypotheses->item[i];
        hypothesis->alive = hypothesis->alive && hypothesis_holds(vocabulary, hypothesis, value) == fails;
        alive += hypothesis->alive;
    }
    return alive;
}

bool query_rivals(struct inquiry *inquiry, const struct hypothesis *leader, const struct hypotheses *rivals,
                  struct config *out)
{
    struct hypotheses apart;
    apart.count = 1;
    apart.item[0] = *leader;
    apart.item[0].alive = true;
    for (int i = 0; i < rivals->count && i < RIVALS_AT_ONCE; i++) {
        apart.item[apart.count] = rivals->item[i];
        apart.item[apart.count++].cost = leader->cost; /* all have equal weight */
    }
    for (int i = 0; i < RIVAL_PICKS && apart.count > 1; i++)
        if (query_divide(inquiry, &apart, LEAST_SPLIT, out))
            return true;
    return false;
}

bool query_weak_term(struct inquiry *inquiry, const struct hypothesis *rule,
                     const struct hypotheses *hypotheses, struct config *out)
{
    bool inside;
    const int weak = weakest_term(&inquiry->evidence, rule, &inside);
    return weak >= 0 && query_confirm(inquiry, hypotheses, QUERY_TURNS * weak + (inside ? 2 : 3), out);
}
