#include "retry.h"

#include "verify/util/budget.h"
#include "verify/util/interrupt.h"

#define BIT(which) (1U << (which))

/* REJECTED is the set of outcome_is_rejected. PAIRED is the part of it that a busy machine does not produce.
 */
#define ANY (~0U)
#define PAIRED                                                                                               \
    (BIT(OUTCOME_WRONG) | BIT(OUTCOME_UNWRITTEN) | BIT(OUTCOME_OVERRUN) | BIT(OUTCOME_MODIFIED) |            \
     BIT(OUTCOME_UNSTABLE) | BIT(OUTCOME_CRASH) | BIT(OUTCOME_EXCEEDED))
#define REJECTED (PAIRED | BIT(OUTCOME_REFUSED) | BIT(OUTCOME_TIMEOUT))
#define SEARCHED (PAIRED & ~BIT(OUTCOME_EXCEEDED))
#define NOT_KILLED (~BIT(CAUSE_KILLED))
#define LOADING BIT(STAGE_LOADING)

static const struct retry_rule rules[RETRY_RULES] = {
    /* a later failure in that process may be a consequence of the exception */
    {"exception", RETRY_STEP_PROCESS, REJECTED, ANY, ANY, RETRY_EXCEPTION_BEFORE, false, RETRY_NEW_PROCESS, 1,
     RETRY_LAST_COUNTS},
    {"memory", RETRY_STEP_MEMORY, BIT(OUTCOME_SKIPPED), BIT(CAUSE_MEMORY), ANY, RETRY_NO_FACTS, false,
     RETRY_EXCLUSIVE_MEMORY, 1, RETRY_LAST_COUNTS_IF_MEMORY},
    {"refusal", RETRY_STEP_MEMORY, BIT(OUTCOME_REFUSED), ANY, ANY, RETRY_MEMORY_ELSEWHERE, false,
     RETRY_EXCLUSIVE_MEMORY, 1, RETRY_LAST_COUNTS_IF_MEMORY},
    /* the signal may come from outside, such as from the OOM killer; a kernel that is the reason ends so
     * again */
    {"killed", RETRY_STEP_SIGNAL, ANY, BIT(CAUSE_KILLED), ANY, RETRY_NO_FACTS, false, RETRY_AS_BEFORE, 1,
     RETRY_LAST_COUNTS},
    /* the baseline's times say nothing about loading */
    {"loading", RETRY_STEP_TIME, BIT(OUTCOME_TIMEOUT), ANY, LOADING, RETRY_NO_HANG_YET, true, RETRY_ALONE, 1,
     RETRY_LAST_COUNTS},
    {"timeout", RETRY_STEP_TIME, BIT(OUTCOME_TIMEOUT), ANY, ~LOADING, RETRY_NO_HANG_YET, true,
     RETRY_ALONE_BASELINE, 1, RETRY_LAST_COUNTS},
    {"slow", RETRY_STEP_TIME, BIT(OUTCOME_TIMEOUT), ANY, ~LOADING, RETRY_SLOW_BASELINE, true,
     RETRY_ALONE_BASELINE, 1, RETRY_LAST_COUNTS},
    {"sibling", RETRY_STEP_SIBLING, PAIRED, NOT_KILLED, ANY, RETRY_NO_FACTS, false, RETRY_BOTH_ORDERS, 1,
     RETRY_PAIR_COUNTS},
    {"search", RETRY_STEP_SEARCH, SEARCHED, NOT_KILLED, ~LOADING, RETRY_NO_FACTS, false, RETRY_BOTH_ORDERS, 3,
     RETRY_PAIR_COUNTS},
    /* once a pair was found, more such pairs are likely */
    {"found", RETRY_STEP_FOUND, SEARCHED, NOT_KILLED, ~LOADING, RETRY_NO_FACTS, false, RETRY_BOTH_ORDERS, 1,
     RETRY_PAIR_COUNTS},
    {"after", RETRY_STEP_AFTER, PAIRED, NOT_KILLED, ANY, RETRY_NO_FACTS, false, RETRY_BOTH_ORDERS, 1,
     RETRY_PAIR_COUNTS},
};

const struct retry_rule *retry_rules(void)
{
    return rules;
}

struct retry retry_begin(enum retry_step step, const struct config_result *before)
{
    return (struct retry){.step = step, .before = *before};
}

static bool matches(const struct retry_rule *rule, const struct config_result *result, unsigned facts)
{
    return rule->outcomes & BIT(result->outcome) && rule->causes & BIT(result->reason.cause) &&
           rule->stages & BIT(result->reason.stage) && (facts & rule->facts) == rule->facts;
}

const struct retry_rule *retry_find(enum retry_step step, const struct config_result *result, unsigned facts)
{
    for (int i = 0; i < RETRY_RULES; i++)
        if (rules[i].step == step && matches(&rules[i], result, facts))
            return &rules[i];
    return NULL;
}

const struct retry_rule *retry_again(struct retry *retry, const struct config_result *result, unsigned facts)
{
    const struct retry_rule *const rule = retry_find(retry->step, result, facts);
    if (!rule || retry->done >= rule->times || is_interrupted() || (rule->in_budget && budget_is_over()))
        return NULL;
    retry->done++;
    return rule;
}

int retry_times(enum retry_step step)
{
    for (int i = 0; i < RETRY_RULES; i++)
        if (rules[i].step == step)
            return rules[i].times;
    return 0;
}
