/* Counts the configurations of a set for its scores. */
#include "scores_internal.h"

const struct config_result *scores_passing(const struct counted *c, int i)
{
    const struct config_result *config = &c->result->results[i];
    return config->unseen == c->unseen && !config->directed && config->outcome == OUTCOME_PASS && !c->denied
               ? config
               : NULL;
}

bool scores_is_compared(const struct config_result *config)
{
    return config->outcome == OUTCOME_PASS && config->timing.present && config->timing.median_ms > 0 &&
           config->timing.baseline_ms > 0 &&
           (!config->baseline_judged || config->baseline_outcome == OUTCOME_PASS);
}

/* Prefers the ratio of paired times: the median may have been measured minutes apart from the baseline's. */
double scores_speedup(const struct config_result *config)
{
    const struct timing *t = &config->timing;
    return t->baseline_ratio.present ? 1 / t->baseline_ratio.value : t->baseline_ms / t->median_ms;
}

static void count_quadrant(struct score_quadrants *q, bool judged, bool baseline, bool candidate)
{
    if (!judged)
        q->unknown++;
    else if (baseline)
        (*(candidate ? &q->both : &q->regression))++;
    else
        (*(candidate ? &q->improvement : &q->neither))++;
}

static void count_baseline(struct counted *c, const struct config_result *config)
{
    if (!config->baseline_judged || config->directed)
        return;
    const bool passes = config->baseline_outcome == OUTCOME_PASS;
    c->baseline_passes += passes;
    c->baseline_fails += !passes && !config->scout;
}

bool scores_is_apart(const struct config_result *config)
{
    return config->directed && !outcome_is_rejected(config->outcome);
}

static void count_one(struct counted *c, const struct config_result *config)
{
    const bool passes = config->outcome == OUTCOME_PASS && !c->denied;
    const bool baseline = config->baseline_outcome == OUTCOME_PASS;
    const bool skipped = config->outcome == OUTCOME_SKIPPED;
    c->found++;
    c->left_out += skipped && config->reason.cause == CAUSE_FAIL_FAST;
    c->unjudged += skipped && (cause_owner(config->reason.cause) == OWNER_MACHINE ||
                               cause_owner(config->reason.cause) == OWNER_JUDGE);
    c->failed += outcome_is_rejected(config->outcome);
    count_quadrant(&c->quadrants, config->baseline_judged, baseline, passes);
    count_baseline(c, config);
    if (passes && config->scout) {
        c->scouts++;
        return;
    }
    if (!passes)
        return;
    c->passing++;
    c->timed += config->timing.present;
    c->disturbed += config->timing.present && config->timing.disturbed;
    c->compared += scores_is_compared(config);
    c->worse += config->baseline_judged && !baseline;
}

/* A run stops at failures by --fail-fast, or when more failures would prove nothing; the remaining
 * configurations count as not passing. Any other early end leaves the score open. */
static void count_endings(struct counted *c)
{
    bool budget = false;
    for (int i = 0; i < c->result->result_count; i++) {
        const struct config_result *const config = &c->result->results[i];
        if (config->outcome != OUTCOME_SKIPPED)
            continue;
        c->stopped =
            c->stopped || config->reason.cause == CAUSE_FAIL_FAST || config->reason.cause == CAUSE_PATIENCE;
        budget = budget || config->reason.cause == CAUSE_BUDGET;
    }
    c->cut = c->result->partial && (!c->stopped || budget || c->result->result_count < c->result->planned);
}

struct counted scores_count(const struct result *result, bool unseen, const struct reward_table *table)
{
    const int planned =
        unseen ? result->planned - result->planned_seen - result->planned_directed : result->planned_seen;
    struct counted c = {
        .result = result,
        .table = table,
        .unseen = unseen,
        .word = unseen ? "unseen" : "seen",
        .denied = result->verdict == VERDICT_CHEATING || result->verdict == VERDICT_FORBIDDEN,
        .planned = planned,
        .timeable = unseen ? planned - result->planned_scouts : planned,
    };
    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *const config = &result->results[i];
        /* a set that is empty without them has a score for nobody */
        if (config->unseen != unseen || scores_is_apart(config) || (config->directed && planned == 0))
            continue;
        c.planned += config->directed;
        count_one(&c, config);
    }
    count_endings(&c);
    c.total = c.planned > c.found ? c.planned : c.found;
    c.quadrants.unknown += c.total - c.found;
    c.total -= c.scouts + c.unjudged;
    return c;
}

int scores_lacking(const struct counted *c)
{
    return c->total - c->passing;
}
