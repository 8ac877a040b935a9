/* Scores of a record, by set. Only passing configurations have a speed; all planned ones count in every
 * denominator. */
#include "scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "score.h"
#include "scores_internal.h"

/* --- single scores --- */

static struct score_value pass_rate(const struct counted *c)
{
    const int passing = c->passing + c->scouts, total = c->total + c->scouts;
    const double rate = (double)passing / total;
    if (c->left_out > 0)
        return scores_number(rate, "%d of %d %s configurations pass; --fail-fast left out %d", passing, total,
                             c->word, c->left_out);
    if (c->unjudged > 0)
        return scores_number(rate, "%d of %d %s configurations pass; %d more could not be judged", passing,
                             total, c->word, c->unjudged);
    return scores_number(rate, "%d of %d %s configurations pass", passing, total, c->word);
}

static struct score_value fails(const struct counted *c, double value)
{
    return scores_number(value, "%d of %d %s configurations do not pass", scores_lacking(c),
                         c->total + c->scouts, c->word);
}

/* If failures elsewhere in the run prevented all times, there is no speed, and the machine is not the
 * cause. */
static bool failures_took_times(const struct counted *c)
{
    return c->stopped && c->timed == 0;
}

static const char untimed[] = "failures ended the run before times were taken";

/* There is no speed at all: at most small configurations pass, or failures ended the run before anything was
 * timed. */
static bool has_no_speed(const struct counted *c, struct score_value *instead)
{
    if (c->passing == 0 && c->scouts == 0)
        *instead = pass_rate(c);
    else if (c->passing == 0)
        *instead =
            scores_number(0, "of %d %s configurations only scouts pass", c->total + c->scouts, c->word);
    else if (failures_took_times(c))
        *instead = scores_number(0, "%s", untimed);
    else
        return false;
    return true;
}

static struct score_value ours(const struct counted *c)
{
    const struct set_score *const set = c->unseen ? &c->result->unseen : &c->result->seen;
    const int passing = c->passing + c->scouts, total = c->total + c->scouts;
    struct score_value instead;
    if (has_no_speed(c, &instead) || !scores_times_serve(c, false, &instead))
        return instead;
    return scores_number((double)passing / total * set->geomean_fraction,
                         "%d of %d %s configurations pass, at %.3g of what is attainable", passing, total,
                         c->word, set->geomean_fraction);
}

/* The mean over configurations with equal weights. */
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
    if (failures_took_times(c))
        return scores_number(bounded ? 0 : scores_points(true, true, 0), "%s", untimed);
    if (!scores_times_serve(c, true, &instead))
        return instead;
    if (c->worse > 0)
        return scores_number(
            scores_points(true, true, 0),
            "all %d %s configurations pass; the baseline fails on %d, so that no speedup counts",
            c->total + c->scouts, c->word, c->worse);
    return scores_number(bounded ? scores_bounded(true, speedup) : scores_points(true, true, speedup),
                         "all %d %s configurations pass, %.3g times as fast in the mean",
                         c->total + c->scouts, c->word, speedup);
}

/* An unknown outcome of the baseline counts against a candidate that fails there, and not for one that
 * passes. */
static struct score_value conditional(const struct counted *c)
{
    const struct score_quadrants *const q = &c->quadrants;
    int open = 0;
    for (int i = 0; i < c->result->result_count; i++) {
        const struct config_result *const config = &c->result->results[i];
        open += config->unseen == c->unseen && !scores_is_apart(config) && !config->baseline_judged &&
                !scores_passing(c, i);
    }
    open += c->total + c->scouts + c->unjudged - c->found;
    const int given = q->both + q->regression + open;
    return scores_number((double)q->both / given,
                         "passes %d of the %d %s configurations that the baseline passes", q->both, given,
                         c->word);
}

/* Does its interval contain p? */
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

/* A speed near a threshold may be undecided while the mean is known, and vice versa. */
static struct score_value fast_p(const struct counted *c, double p)
{
    struct score_value instead;
    if (p == 0)
        return pass_rate(c);
    if (has_no_speed(c, &instead) || !scores_times_usable(c, true, &instead))
        return instead;
    return fast(c, p);
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
    if (failures_took_times(c))
        return scores_number(0, "%s", untimed);
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

/* The mean over the set, where configurations that do not pass count 0. T_SOL is the roofline's time without
 * the launch time. */
static struct score_value sol(const struct counted *c)
{
    const struct peaks *const peaks = &c->result->peaks;
    double sum = 0;
    struct score_value instead;
    if (has_no_speed(c, &instead) || !scores_times_serve(c, true, &instead))
        return instead;
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
    case SCORE_TABLE: return scores_of_table(c);
    default: return fast_p(c, score_traits(name)->threshold);
    }
}

/* --- both sets --- */

/* A kernel that fails somewhere has this score, even if other configurations were left out. */
static bool is_settled(const struct counted *c, enum score_name name)
{
    return c->failed > 0 &&
           (name == SCORE_AKA_POINTS || name == SCORE_AKA_BOUNDED || name == SCORE_PEAK_FRACTION);
}

/* Does the score relate times to ceilings? Speedups do not: both sides were timed in the same minutes. */
static bool leans_on_ceilings(const struct counted *c, enum score_name name)
{
    if (c->timed == 0 || c->denied)
        return false;
    switch (name) {
    case SCORE_OURS:
    case SCORE_SOL: return true;
    case SCORE_PEAK_FRACTION: return scores_lacking(c) == 0;
    case SCORE_TABLE: return c->table && c->table->quantity == REWARD_FRACTION;
    default: return false;
    }
}

/* Withdraws such a score if the machine is slower than at the time of its calibration. */
static void take_back(const struct counted *c, enum score_name name, struct score_value *score)
{
    const struct peaks *const peaks = &c->result->peaks;
    if (!peaks->incomparable || score->state == SCORE_NONE || !leans_on_ceilings(c, name))
        return;
    *score = (struct score_value){.state = SCORE_INCOMPARABLE};
    snprintf(score->reason, sizeof score->reason, "%s",
             *peaks->why ? peaks->why : "the machine was slower than its calibration");
}

/* Up to one in ten configurations may be unjudged: a score over the others still represents the set. */
static bool is_judged(const struct counted *c, enum score_name name)
{
    enum { ONE_IN = 10 };
    const int judged = c->total + (scores_is_timed(c, name) ? 0 : c->scouts);
    return ONE_IN * c->unjudged <= c->planned && judged > 0;
}

static struct score_value value_of(const struct counted *c, enum score_name name)
{
    struct score_value instead;
    if (scores_is_ruled_out(c, name, &instead))
        return instead;
    if (c->result->unloadable)
        return scores_unusable(name, c->table, REWARD_LOAD);
    if (c->denied || is_settled(c, name))
        return one(c, name);
    if (c->cut)
        return scores_open("the run was cut off: %.120s", c->result->partial_reason);
    if (!is_judged(c, name))
        return scores_open("%d of %d %s configurations could not be judged", c->unjudged, c->planned,
                           c->word);
    return one(c, name);
}

static void fill(const struct counted *c, struct score_value *score)
{
    for (int i = 0; i < SCORE_NAMES; i++) {
        const enum score_name name = (enum score_name)i;
        score[i] = value_of(c, name);
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
