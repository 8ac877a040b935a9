/* Scores of a record, by set. Only what passes has a speed; what was planned stays in every denominator. */
#include "scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "score.h"
#include "scores_internal.h"

/* --- counting --- */

const struct config_result *scores_passing(const struct counted *c, int i)
{
    const struct config_result *config = &c->result->results[i];
    return config->unseen == c->unseen && config->outcome == OUTCOME_PASS && !c->denied ? config : NULL;
}

bool scores_is_compared(const struct config_result *config)
{
    return config->outcome == OUTCOME_PASS && config->timing.present && config->timing.median_ms > 0 &&
           config->timing.baseline_ms > 0 &&
           (!config->baseline_judged || config->baseline_outcome == OUTCOME_PASS);
}

/* Of pairs taken in turns, where there are any: the median may be of other minutes than the baseline's. */
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

static void count_one(struct counted *c, const struct config_result *config)
{
    const bool passes = config->outcome == OUTCOME_PASS && !c->denied;
    const bool baseline = config->baseline_outcome == OUTCOME_PASS;
    c->found++;
    c->left_out += config->outcome == OUTCOME_SKIPPED && config->reason.cause == CAUSE_FAIL_FAST;
    c->failed += outcome_is_rejected(config->outcome);
    count_quadrant(&c->quadrants, config->baseline_judged, baseline, passes);
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

struct counted scores_count(const struct result *result, bool unseen, const struct reward_table *table)
{
    struct counted c = {
        .result = result,
        .table = table,
        .unseen = unseen,
        .word = unseen ? "unseen" : "seen",
        .denied = result->verdict == VERDICT_CHEATING || result->verdict == VERDICT_FORBIDDEN,
        .total = unseen ? result->planned - result->planned_seen : result->planned_seen,
    };
    for (int i = 0; i < result->result_count; i++)
        if (result->results[i].unseen == unseen)
            count_one(&c, &result->results[i]);
    c.total = c.total > c.found ? c.total : c.found;
    c.quadrants.unknown += c.total - c.found;
    c.total -= c.scouts;
    return c;
}

/* --- single scores --- */

static struct score_value pass_rate(const struct counted *c)
{
    const int passing = c->passing + c->scouts, total = c->total + c->scouts;
    return scores_number((double)passing / total, "%d of %d %s configurations pass", passing, total, c->word);
}

static struct score_value fails(const struct counted *c, double value)
{
    return scores_number(value, "%d of %d %s configurations do not pass", c->total - c->passing,
                         c->total + c->scouts, c->word);
}

/* No speed at all: of what passes there are scouts at most. */
static struct score_value none_passes(const struct counted *c)
{
    return c->scouts == 0
               ? pass_rate(c)
               : scores_number(0, "of %d %s configurations only scouts pass", c->total + c->scouts, c->word);
}

static struct score_value ours(const struct counted *c)
{
    const struct set_score *const set = c->unseen ? &c->result->unseen : &c->result->seen;
    const int passing = c->passing + c->scouts, total = c->total + c->scouts;
    struct score_value instead;
    if (c->passing == 0)
        return none_passes(c);
    if (!scores_times_serve(c, false, &instead))
        return instead;
    return scores_number((double)passing / total * set->geomean_fraction,
                         "%d of %d %s configurations pass, at %.3g of what is attainable", passing, total,
                         c->word, set->geomean_fraction);
}

/* The mean over configurations, each with the same weight. */
static double mean_speedup(const struct counted *c)
{
    double sum = 0;
    for (int i = 0; i < c->result->result_count; i++)
        if (scores_passing(c, i) && scores_is_compared(&c->result->results[i]))
            sum += scores_speedup(&c->result->results[i]);
    return c->compared > 0 ? sum / c->compared : 0;
}

static struct score_value arena(const struct counted *c, bool bounded)
{
    struct score_value instead;
    const double speedup = mean_speedup(c);
    if (c->passing < c->total)
        return fails(c, bounded ? scores_bounded(false, 0) : scores_points(true, false, 0));
    if (!scores_times_serve(c, true, &instead))
        return instead;
    if (c->worse > 0 && bounded)
        return scores_none("the baseline fails on %d of %d %s configurations: no speedup", c->worse, c->total,
                           c->word);
    if (c->worse > 0)
        return scores_number(
            scores_points(true, true, 0),
            "all %d %s configurations pass; the baseline fails on %d, so that no speedup counts",
            c->total + c->scouts, c->word, c->worse);
    return scores_number(bounded ? scores_bounded(true, speedup) : scores_points(true, true, speedup),
                         "all %d %s configurations pass, %.3g times as fast in the mean",
                         c->total + c->scouts, c->word, speedup);
}

/* What is not known of the baseline counts against a candidate that does not pass there, and not for one that does. */
static struct score_value conditional(const struct counted *c)
{
    const struct score_quadrants *const q = &c->quadrants;
    int open = 0;
    if (!c->result->scores.compared)
        return scores_none("no baseline: --baseline FILE, or --baseline own");
    for (int i = 0; i < c->result->result_count; i++) {
        const struct config_result *const config = &c->result->results[i];
        open += config->unseen == c->unseen && !config->baseline_judged && !scores_passing(c, i);
    }
    open += c->total + c->scouts - c->found;
    const int given = q->both + q->regression + open;
    if (given == 0)
        return scores_none("the baseline passes on no %s configuration", c->word);
    return scores_number((double)q->both / given,
                         "passes %d of the %d %s configurations that the baseline passes", q->both, given,
                         c->word);
}

/* Is its interval on both sides of p? */
static bool straddles(const struct timing *t, double p)
{
    return !t->baseline_ratio.present || (p * t->baseline_ratio.low < 1 && p * t->baseline_ratio.high >= 1);
}

static struct score_value fast(const struct counted *c, double p)
{
    enum { ONE_IN = 10 };
    int open = 0, count = 0;
    double *const speedup = malloc(((size_t)c->passing + 1) * sizeof *speedup);
    if (!speedup)
        return scores_open("out of memory");
    for (int i = 0; i < c->result->result_count; i++) {
        const struct config_result *const config = scores_passing(c, i);
        if (!config || !scores_is_compared(config))
            continue;
        open += straddles(&config->timing, p);
        speedup[count++] = scores_speedup(config);
    }
    const double share = scores_fast(speedup, count, c->total, p);
    free(speedup);
    if (ONE_IN * open > c->total)
        return scores_open(
            "%d of %d %s configurations may lie on either side of %g times the baseline's speed", open,
            c->total, c->word, p);
    return scores_number(share, "%d of %d %s configurations pass and are more than %g times as fast",
                         (int)lround(share * c->total), c->total, c->word, p);
}

/* Speed near a threshold may be open while the mean is known, and the other way round. */
static struct score_value fast_p(const struct counted *c, double p)
{
    struct score_value instead;
    if (p == 0)
        return pass_rate(c);
    if (c->passing == 0)
        return none_passes(c);
    return scores_times_usable(c, true, &instead) ? fast(c, p) : instead;
}

static struct score_value peak_fraction(const struct counted *c)
{
    const struct peaks *const peaks = &c->result->peaks;
    const double peak = c->result->memory_bound ? peaks->bandwidth_gbps : peaks->tflops;
    double sum = 0;
    int count = 0;
    struct score_value instead;
    if (c->passing < c->total)
        return fails(c, 0);
    if (!(peak > 0))
        return scores_none("what the hardware can do is not known");
    if (!scores_times_serve(c, false, &instead))
        return instead;
    for (int i = 0; i < c->result->result_count; i++) {
        const struct config_result *const config = scores_passing(c, i);
        if (!config || !config->timing.present)
            continue;
        const double rate = c->result->memory_bound ? config->bytes / config->timing.median_ms / 1e6
                                                    : config->flops / config->timing.median_ms / 1e9;
        const double fraction = rate / peak;
        sum += log(scores_peak_fraction(&fraction, 1));
        count++;
    }
    return scores_number(exp(sum / count), "geomean over %d %s configurations, of %.4g %s (%s)", count,
                         c->word, peak, c->result->memory_bound ? "GB/s" : "TFLOP/s",
                         peaks->source == PEAKS_VENDOR ? "vendor's" : "measured");
}

/* The mean over the set; what does not pass has 0. T_SOL is the roofline's time, without what a launch takes. */
static struct score_value sol(const struct counted *c)
{
    const struct peaks *const peaks = &c->result->peaks;
    double sum = 0;
    struct score_value instead;
    if (c->passing == 0)
        return none_passes(c);
    if (!scores_times_serve(c, true, &instead))
        return instead;
    if (c->worse > 0)
        return scores_none("the baseline fails on %d of %d %s configurations: no T_b there", c->worse,
                           c->total, c->word);
    if (!(peaks->bandwidth_gbps > 0) || !(peaks->tflops > 0))
        return scores_none("what the hardware can do is not known");
    for (int i = 0; i < c->result->result_count; i++) {
        const struct config_result *const config = scores_passing(c, i);
        if (config && !config->scout)
            sum += scores_sol(
                config->timing.median_ms, config->timing.median_ms * scores_speedup(config),
                fmax(config->flops / peaks->tflops / 1e9, config->bytes / peaks->bandwidth_gbps / 1e6));
    }
    return scores_number(sum / c->total, "mean over %d %s configurations, of which %d pass", c->total,
                         c->word, c->passing);
}

static double reward_of(const struct counted *c, const struct config_result *config)
{
    if (config->outcome == OUTCOME_CRASH && config->reason.stage == STAGE_LOADING)
        return c->table->value[REWARD_LOAD];
    if (config->outcome != OUTCOME_PASS)
        return c->table->value[config->outcome];
    return reward_table_pass(c->table, scores_speedup(config), config->timing.fraction);
}

static struct score_value table(const struct counted *c)
{
    struct score_value instead;
    if (!c->table)
        return scores_none("no table: --reward-table FILE");
    if (c->denied)
        return scores_number(c->table->value[REWARD_CHEATING], "the verdict is %s",
                             verdict_name(c->result->verdict));
    if (c->passing > 0 && reward_table_is_timed(c->table) &&
        !scores_times_serve(c, reward_table_compares(c->table), &instead))
        return instead;
    if (c->worse > 0 && reward_table_compares(c->table))
        return scores_none("the baseline fails on %d of %d %s configurations: no speedup", c->worse, c->total,
                           c->word);
    double *const reward = malloc((size_t)c->total * sizeof *reward);
    int count = 0;
    if (!reward)
        return scores_open("out of memory");
    for (int i = 0; i < c->result->result_count; i++)
        if (c->result->results[i].unseen == c->unseen &&
            !(c->result->results[i].scout && c->result->results[i].outcome == OUTCOME_PASS))
            reward[count++] = reward_of(c, &c->result->results[i]);
    while (count < c->total)
        reward[count++] = c->table->value[REWARD_MISSING];
    const double value = reward_table_over(c->table, reward, count);
    free(reward);
    return scores_number(value, "over %d %s configurations, of which %d pass", count, c->word, c->passing);
}

static struct score_value one(const struct counted *c, enum score_name name)
{
    switch (name) {
    case SCORE_OURS: return ours(c);
    case SCORE_PASS_RATE: return pass_rate(c);
    case SCORE_AKA_POINTS: return arena(c, false);
    case SCORE_AKA_BOUNDED: return arena(c, true);
    case SCORE_CONDITIONAL: return conditional(c);
    case SCORE_PEAK_FRACTION: return peak_fraction(c);
    case SCORE_SOL: return sol(c);
    case SCORE_TABLE: return table(c);
    default: return fast_p(c, score_traits(name)->threshold);
    }
}

/* --- both sets --- */

/* A kernel that is wrong somewhere is so, whatever was left out. */
static bool is_settled(const struct counted *c, enum score_name name)
{
    return c->failed > 0 &&
           (name == SCORE_AKA_POINTS || name == SCORE_AKA_BOUNDED || name == SCORE_PEAK_FRACTION);
}

/* Is it made of times that are held against ceilings? Speedups are not: both sides are of the same minutes. */
static bool leans_on_ceilings(const struct counted *c, enum score_name name)
{
    if (c->timed == 0 || c->denied)
        return false;
    switch (name) {
    case SCORE_OURS:
    case SCORE_SOL: return true;
    case SCORE_PEAK_FRACTION: return c->passing == c->total;
    case SCORE_TABLE: return c->table && c->table->quantity == REWARD_FRACTION;
    default: return false;
    }
}

/* On a machine that is slower than when its ceilings were measured no such number stands. */
static void take_back(const struct counted *c, enum score_name name, struct score_value *score)
{
    const struct peaks *const peaks = &c->result->peaks;
    if (!peaks->incomparable || score->state == SCORE_NONE || !leans_on_ceilings(c, name))
        return;
    *score = (struct score_value){.state = SCORE_INCOMPARABLE};
    snprintf(score->reason, sizeof score->reason, "%s",
             *peaks->why ? peaks->why : "the machine was slower than its calibration");
}

static void fill(const struct counted *c, struct score_value *score)
{
    for (int i = 0; i < SCORE_NAMES; i++) {
        const enum score_name name = (enum score_name)i;
        if (c->total == 0)
            score[i] = scores_none("the %s set is empty", c->word);
        else if (c->denied || is_settled(c, name))
            score[i] = one(c, name);
        else if (c->result->partial)
            score[i] = scores_open("the run was cut off: %.120s", c->result->partial_reason);
        else if (c->left_out > 0)
            score[i] = scores_open("--fail-fast left out %d of %d %s configurations", c->left_out, c->total,
                                   c->word);
        else
            score[i] = one(c, name);
        take_back(c, name, &score[i]);
    }
}

void scores_fill(struct result *result, const struct reward_table *table)
{
    struct result_scores *const scores = &result->scores;
    *scores = (struct result_scores){.present = true, .compared = result->baseline.path[0] != '\0'};
    const struct counted seen = scores_count(result, false, table);
    const struct counted unseen = scores_count(result, true, table);
    scores->seen_quadrants = seen.quadrants;
    scores->unseen_quadrants = unseen.quadrants;
    fill(&seen, scores->seen);
    fill(&unseen, scores->unseen);
}

struct score_value scores_uncompiled(enum score_name name, const struct reward_table *table)
{
    static const char why[] = "the candidate does not compile";
    if (name == SCORE_TABLE)
        return scores_number(table->value[REWARD_COMPILE], "%s", why);
    return scores_number(name == SCORE_AKA_POINTS ? scores_points(false, false, 0) : 0, "%s", why);
}
