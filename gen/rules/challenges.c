/* Challenges a condition that is said to hold on every failure. Where failures are rare, random runs outside
 * it pass whether the condition is true or not. A counterexample is likeliest beside known failures, so these
 * are moved across one term with everything else unchanged. Some are also enlarged, since an element that
 * fails now and then is likelier to occur among many. */
#include "rules_internal.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOVES = 48,
    DOUBLINGS = 10,
    NEAREST = 6,
    ENOUGH = 12,      /* moved failures wanted for each term */
    LEAST = 8,        /* needed for the rule to be reported */
    MOST = 36,        /* wanted if all of them may pass by chance */
    A_CONTROL_OF = 2, /* moved ones for each control, which stays on the rule's own side */
    LEAST_APART = 2
};
static const double LEAST_BITS = 5;

struct cell {
    struct challenged *challenged;
    int at;
    bool apart;
};

/* Returns whether the rule fails to hold because of this predicate alone. */
static bool is_across(const struct inquiry *inquiry, const struct hypothesis *rule, int at,
                      const struct config *config)
{
    int64_t value[MOST_QUANTITIES];
    vocabulary_values(&inquiry->vocabulary, config, true, value);
    return !hypothesis_holds(&inquiry->vocabulary, rule, value) &&
           hypothesis_holds_if(&inquiry->vocabulary, rule, value, at, true) !=
               hypothesis_holds_if(&inquiry->vocabulary, rule, value, at, false);
}

static bool is_inside(const struct inquiry *inquiry, const struct hypothesis *rule,
                      const struct config *config)
{
    int64_t value[MOST_QUANTITIES];
    vocabulary_values(&inquiry->vocabulary, config, true, value);
    return hypothesis_holds(&inquiry->vocabulary, rule, value);
}

/* Doubles the axes in turn, while the caps allow it and the configuration stays on its side of the rule. */
static void grow(struct inquiry *inquiry, const struct hypothesis *rule, int at, bool across,
                 struct config *config)
{
    const int count = problem_axis_count(inquiry->vocabulary.space->problem);
    struct cost cost;
    for (int i = 0, first = (int)pcg_below(inquiry->stream, (uint64_t)count); i < DOUBLINGS * count; i++) {
        const int axis = (first + i) % count;
        struct config larger = *config;
        if (!domain_is_number(inquiry->vocabulary.space, axis))
            continue;
        larger.value[axis] =
            domain_nearest(&inquiry->vocabulary.space->domain[axis], 2 * config->value[axis]);
        if (draw_repair(inquiry->vocabulary.space, &larger, axis) != REPAIR_FAILED &&
            draw_cost(&inquiry->costing, &larger, &cost) &&
            (across ? is_across(inquiry, rule, at, &larger) : is_inside(inquiry, rule, &larger)))
            *config = larger;
    }
}

/* Returns how many failures are nearer to the threshold of the predicate. */
static int rank_of(const struct evidence *evidence, const struct predicate *predicate, int trial)
{
    const int64_t from = llabs(trial_values(evidence, trial)[predicate->quantity] - predicate->a);
    int nearer = 0;
    for (int t = 0; t < evidence->trials; t++) {
        const int64_t other = llabs(trial_values(evidence, t)[predicate->quantity] - predicate->a);
        nearer += bit_of(evidence->fails, t) && (other < from || (other == from && t < trial));
    }
    return nearer;
}

/* Picks one of the failures nearest to a threshold. Moved just across it, they are likeliest to fail
 * still. */
static int pick_near(struct inquiry *inquiry, const struct predicate *predicate)
{
    const int wanted = (int)pcg_below(inquiry->stream, NEAREST);
    int best = random_failure(inquiry);
    for (int t = 0; t < inquiry->evidence.trials; t++)
        if (bit_of(inquiry->evidence.fails, t) && rank_of(&inquiry->evidence, predicate, t) == wanted)
            best = t;
    return best;
}

/* Picks a failure with a random value of a random choice. All values are equally likely: failures with one
 * input class only are rare among those that occur with all classes. */
static int pick_by_choice(struct inquiry *inquiry)
{
    const struct axis *axes = inquiry->vocabulary.space->problem->axes;
    int choices = 0, axis = -1;
    for (int i = 0; axes[i].name; i++)
        if (axes[i].kind == AXIS_CHOICE && pcg_below(inquiry->stream, (uint64_t)++choices) == 0)
            axis = i;
    int trial = random_failure(inquiry);
    if (axis < 0)
        return trial;
    const struct domain *domain = &inquiry->vocabulary.space->domain[axis];
    const int64_t value = domain->value[pcg_below(inquiry->stream, (uint64_t)domain->value_count)];
    for (int i = 0; i < inquiry->evidence.trials; i++) {
        const int t = (trial + i) % inquiry->evidence.trials;
        if (bit_of(inquiry->evidence.fails, t) && inquiry->evidence.config[t].value[axis] == value)
            return t;
    }
    return trial;
}

static int pick_failure(struct inquiry *inquiry, const struct predicate *predicate)
{
    return predicate->kind == PREDICATE_ABOVE && pcg_below(inquiry->stream, 2) ? pick_near(inquiry, predicate)
                                                                               : pick_by_choice(inquiry);
}

/* Returns whether the trial belongs to the cell. Failures that the rule `apart` does not explain form cells
 * of their own, since they may fail with another probability. */
static bool is_of(const struct evidence *evidence, const struct hypothesis *apart, const struct cell *cell,
                  int trial)
{
    return !cell->apart || (apart && !hypothesis_holds_on(evidence, apart, trial));
}

static bool pick_moved(struct inquiry *inquiry, const struct hypothesis *rule, const struct hypothesis *apart,
                       const struct cell *cell, struct config *out)
{
    for (int i = 0; i < MOVES; i++) {
        const int trial = pick_failure(inquiry, &rule->term[cell->at]);
        *out = inquiry->evidence.config[trial];
        out->seed = draw_config_seed(inquiry->stream);
        aim(inquiry, &rule->term[cell->at], out);
        if (!is_of(&inquiry->evidence, apart, cell, trial) ||
            draw_repair(inquiry->vocabulary.space, out, -1) == REPAIR_FAILED ||
            !is_across(inquiry, rule, cell->at, out))
            continue;
        if (cell->challenged->moved % 2)
            grow(inquiry, rule, cell->at, true, out);
        if (candidate_fits(inquiry, NULL, out))
            return true;
    }
    return false;
}

/* Picks a control: a failure like those that are moved, left where it is. */
static bool pick_control(struct inquiry *inquiry, const struct hypothesis *rule,
                         const struct hypothesis *apart, const struct cell *cell, struct config *out)
{
    for (int i = 0; i < MOVES; i++) {
        const int trial = pick_failure(inquiry, &rule->term[cell->at]);
        *out = inquiry->evidence.config[trial];
        if (!is_of(&inquiry->evidence, apart, cell, trial) || !inquiry_reseed(inquiry, out) ||
            !is_inside(inquiry, rule, out))
            continue;
        if (cell->challenged->controls % 2)
            grow(inquiry, rule, cell->at, false, out);
        return true;
    }
    return false;
}

/* Returns, in bits, how unlikely it is that all moved ones pass if they fail as often as the controls. */
static double bits_of(const struct challenged *of)
{
    return -of->moved * log2(1 - (of->failed + 0.5) / (of->controls + 1.0));
}

/* Finds the cell with the fewest moved failures among those that need more. */
static bool next_cell(struct challenges *challenges, int terms, struct cell *next)
{
    *next = (struct cell){NULL, 0, false};
    for (int at = 0; at < terms; at++)
        for (int apart = 0; apart < 2; apart++) {
            struct challenged *const of = &challenges->term[at][apart];
            if (!of->over && (of->moved < ENOUGH || (of->moved < MOST && bits_of(of) < LEAST_BITS)) &&
                (!next->challenged || of->moved < next->challenged->moved))
                *next = (struct cell){of, at, apart};
        }
    return next->challenged != NULL;
}

/* Returns whether `apart` holds on enough failures to be no coincidence, and leaves some others. */
static bool has_apart(const struct evidence *evidence, const struct hypothesis *apart)
{
    int count[2] = {0};
    for (int t = 0; apart && t < evidence->trials; t++)
        count[hypothesis_holds_on(evidence, apart, t)] += bit_of(evidence->fails, t);
    return count[true] >= LEAST && count[false] >= LEAST_APART;
}

bool challenge_next(struct inquiry *inquiry, const struct hypothesis *rule, const struct hypothesis *apart,
                    struct challenges *challenges, struct config *out)
{
    const bool has = has_apart(&inquiry->evidence, apart);
    for (int at = 0; at < rule->count; at++)
        challenges->term[at][true].over = !has;
    for (struct cell cell = {NULL, 0, false}; next_cell(challenges, rule->count, &cell);) {
        challenges->asked = cell.challenged;
        challenges->asked_apart = cell.apart;
        challenges->control = cell.challenged->controls < cell.challenged->moved / A_CONTROL_OF &&
                              pick_control(inquiry, rule, apart, &cell, out);
        if (challenges->control || pick_moved(inquiry, rule, apart, &cell, out))
            return true;
        cell.challenged->over = true;
    }
    challenges->asked = NULL;
    return false;
}

void challenge_learn(struct evidence *evidence, struct challenges *challenges, int result)
{
    struct challenged *const of = challenges->asked;
    challenges->asked = NULL;
    if (!of || result < 0)
        return;
    evidence->challenge[evidence->trials - 1] =
        (uint8_t)((challenges->control ? CHALLENGE_CONTROL : CHALLENGE_MOVED) |
                  (challenges->asked_apart ? CHALLENGE_APART : 0));
    of->moved += !challenges->control;
    of->controls += challenges->control;
    of->failed += challenges->control && result == 1;
}

/* Counts one trial for every term. A control counts for each of them, as a known failure with other
 * inputs. */
static void recount_trial(const struct evidence *evidence, const struct hypothesis *rule, int trial,
                          struct challenges *challenges)
{
    const int64_t *value = trial_values(evidence, trial);
    const bool apart = evidence->challenge[trial] & CHALLENGE_APART,
               holds = hypothesis_holds(evidence->vocabulary, rule, value);
    for (int at = 0; at < rule->count; at++) {
        struct challenged *const of = &challenges->term[at][apart];
        const bool across = !holds && hypothesis_holds_if(evidence->vocabulary, rule, value, at, true);
        of->moved += evidence->challenge[trial] & CHALLENGE_MOVED && across;
        of->controls += evidence->challenge[trial] & CHALLENGE_CONTROL && holds;
        of->failed +=
            evidence->challenge[trial] & CHALLENGE_CONTROL && holds && bit_of(evidence->fails, trial);
    }
}

void challenges_recount(const struct evidence *evidence, const struct hypothesis *rule,
                        const struct hypothesis *apart, struct challenges *challenges)
{
    const bool has = has_apart(evidence, apart);
    *challenges = (struct challenges){.asked = NULL};
    for (int t = 0; t < evidence->trials; t++)
        if (evidence->challenge[t])
            recount_trial(evidence, rule, t, challenges);
    for (int at = 0; at < rule->count; at++)
        challenges->term[at][true].over = !has;
}

bool challenge_suffices(const struct challenges *challenges, int term)
{
    bool suffices = true;
    for (int apart = 0; apart < 2; apart++) {
        const struct challenged *const of = &challenges->term[term][apart];
        suffices = suffices && (of->over || of->moved >= MOST || /* no more are wanted */
                                (of->moved >= LEAST && bits_of(of) >= LEAST_BITS));
    }
    return suffices;
}
