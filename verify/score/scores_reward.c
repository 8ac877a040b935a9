/* Scores as rewards: tables, unusable candidates, and correctness before speed. */
#include <math.h>
#include <stdlib.h>

#include "scores_internal.h"

/* --- tables --- */

/* If failures ended the run before a passing configuration was timed, it gets the least value of a pass. */
static double worth(const struct counted *c, const struct config_result *config)
{
    const struct reward_table *const t = c->table;
    if (config->outcome == OUTCOME_CRASH && config->reason.stage == STAGE_LOADING)
        return t->value[REWARD_LOAD];
    if (config->outcome != OUTCOME_PASS)
        return t->value[config->outcome];
    if (reward_table_is_timed(t) && c->timed == 0)
        return reward_table_least(t);
    return reward_table_pass(t, scores_speedup(config), config->timing.fraction);
}

/* Leaves out passing small configurations, which have no speed, and configurations that could not be
 * judged. */
static bool counts(const struct counted *c, const struct config_result *config)
{
    const enum owner owner = cause_owner(config->reason.cause);
    if (config->unseen != c->unseen || scores_is_apart(config) ||
        (config->scout && config->outcome == OUTCOME_PASS))
        return false;
    return config->outcome != OUTCOME_SKIPPED || (owner != OWNER_MACHINE && owner != OWNER_JUDGE);
}

/* In a table without speeds, passing small configurations are worth as much as any other pass. */
static int add_scouts(const struct counted *c, double *reward, int count)
{
    for (int i = 0; i < c->scouts && !reward_table_is_timed(c->table); i++)
        reward[count++] = reward_table_pass(c->table, 1, 1);
    return count;
}

struct score_value scores_of_table(const struct counted *c)
{
    struct score_value instead;
    if (c->denied)
        return scores_number(c->table->value[REWARD_CHEATING], "the verdict is %s",
                             verdict_name(c->result->verdict));
    if (c->passing > 0 && reward_table_is_timed(c->table) && !(c->stopped && c->timed == 0) &&
        !scores_times_serve(c, reward_table_compares(c->table), &instead))
        return instead;
    double *const reward = malloc(((size_t)c->total + (size_t)c->scouts + 1) * sizeof *reward);
    int count = 0;
    if (!reward)
        return scores_open("out of memory");
    for (int i = 0; i < c->result->result_count; i++)
        if (counts(c, &c->result->results[i]))
            reward[count++] = worth(c, &c->result->results[i]);
    while (count < c->total)
        reward[count++] = c->table->value[REWARD_MISSING];
    const int passing = c->passing + (reward_table_is_timed(c->table) ? 0 : c->scouts);
    count = add_scouts(c, reward, count);
    const double value = count > 0 ? reward_table_over(c->table, reward, count) : 0;
    free(reward);
    return scores_number(value, "over %d %s configurations, of which %d pass", count, c->word, passing);
}

/* --- unusable candidates --- */

struct score_value scores_unusable(enum score_name name, const struct reward_table *table,
                                   enum reward_event event)
{
    const char *const why =
        event == REWARD_COMPILE ? "the candidate does not compile" : "the candidate cannot be loaded";
    if (name == SCORE_TABLE)
        return scores_number(table->value[event], "%s", why);
    return scores_number(name == SCORE_AKA_POINTS ? scores_points(false, false, 0) : 0, "%s", why);
}

/* --- correctness before speed --- */

/* The least score of a candidate that passes everywhere. Pass rates need no bound. */
static double least_of_right(const struct counted *c, enum score_name name)
{
    switch (name) {
    case SCORE_PASS_RATE:
    case SCORE_FAST_0:
    case SCORE_CONDITIONAL: return INFINITY;
    case SCORE_AKA_POINTS: return scores_points(true, true, 0);
    case SCORE_TABLE: return reward_table_least(c->table);
    default: return 0;
    }
}

static int failures(const struct result *result)
{
    int count = 0;
    for (int i = 0; i < result->result_count; i++)
        count += outcome_is_rejected(result->results[i].outcome);
    return count;
}

struct score_value scores_reward(const struct result *result, bool unseen, enum score_name name,
                                 const struct reward_table *table)
{
    struct score_value value = (unseen ? result->scores.unseen : result->scores.seen)[name];
    const struct counted c = scores_count(result, unseen, table);
    const int failed = failures(result);
    if (value.state == SCORE_NONE || result->unloadable || c.denied || failed == 0)
        return value;
    const double most = least_of_right(&c, name);
    if (most == 0 && name != SCORE_TABLE)
        return scores_number(0, "%d configurations do not pass: speed counts where all do", failed);
    value.value = fmin(value.value, most);
    return value;
}
