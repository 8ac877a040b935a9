#include "score.h"

#include <assert.h>
#include <math.h>

#include "gen/rules/proportion.h"
#include "reports/record/published.h"
#include "student.h"

/* 97.5% quantile of the standard normal distribution. */
static const double normal_quantile = 1.959963984540054;

struct interval score_wilson(int pass, int count)
{
    if (count <= 0)
        return (struct interval){0};
    const struct proportion share = proportion_wilson(pass, count, normal_quantile);
    return (struct interval){true, share.value, share.low, share.high};
}

/* Newcombe (1998), Stat. Med. 17:873, method 10: with Wilson limits l, u of each proportion,
 * d - sqrt((p1 - l1)^2 + (u2 - p2)^2) .. d + sqrt((u1 - p1)^2 + (p2 - l2)^2). */
struct interval score_difference(int first_pass, int first_count, int second_pass, int second_count)
{
    struct interval first = score_wilson(first_pass, first_count);
    struct interval second = score_wilson(second_pass, second_count);
    double difference = first.value - second.value;

    if (!first.present || !second.present)
        return (struct interval){0};
    return (struct interval){
        .present = true,
        .value = difference,
        .low = difference - hypot(first.value - first.low, second.high - second.value),
        .high = difference + hypot(first.high - first.value, second.value - second.low),
    };
}

double score_student_t(double df)
{
    return student_quantile(df, 0.025);
}

/* Welch (1947), Biometrika 34:28; Satterthwaite (1946), Biometrics Bull. 2:110:
 * (s1^2/n1 + s2^2/n2)^2 / ((s1^2/n1)^2/(n1-1) + (s2^2/n2)^2/(n2-1)). */
double score_welch_df(double first_variance, int first_count, double second_variance, int second_count)
{
    double first = first_variance / first_count, second = second_variance / second_count;
    double sum = first + second;

    return sum * sum / (first * first / (first_count - 1) + second * second / (second_count - 1));
}

/* Mean and scatter of logarithms, updated one value at a time (Welford 1962, Technometrics 4:419). */
struct moments {
    int count;
    double mean, scatter; /* scatter: sum of squared deviations */
};

static void moments_add(struct moments *moments, double value)
{
    double before = value - moments->mean;

    moments->count++;
    moments->mean += before / moments->count;
    moments->scatter += before * (value - moments->mean);
}

static struct moments moments_of_logs(const double *value, int count)
{
    struct moments moments = {0};

    for (int i = 0; i < count; i++)
        moments_add(&moments, log(value[i]));
    return moments;
}

static double moments_variance(const struct moments *moments)
{
    return moments->scatter / (moments->count - 1);
}

/* exp(log_value -+ half); a single value has no scatter, so its interval is unbounded. */
static struct interval around(double log_value, double half)
{
    return (struct interval){
        .present = true,
        .value = exp(log_value),
        .low = exp(log_value - half),
        .high = exp(log_value + half),
    };
}

/* The t interval of a mean of logarithms: mean -+ t(n-1) s / sqrt(n). */
static struct interval moments_geomean(const struct moments *moments)
{
    if (moments->count == 0)
        return (struct interval){0};
    if (moments->count == 1)
        return around(moments->mean, INFINITY);
    return around(moments->mean,
                  score_student_t(moments->count - 1) * sqrt(moments_variance(moments) / moments->count));
}

/* Welch's interval of a difference of means of logarithms. */
static struct interval moments_ratio(const struct moments *top, const struct moments *bottom)
{
    double difference = top->mean - bottom->mean, top_variance, bottom_variance, error;

    if (top->count == 0 || bottom->count == 0)
        return (struct interval){0};
    if (top->count == 1 || bottom->count == 1)
        return around(difference, INFINITY);
    top_variance = moments_variance(top);
    bottom_variance = moments_variance(bottom);
    error = sqrt(top_variance / top->count + bottom_variance / bottom->count);
    if (error == 0)
        return around(difference, 0);
    return around(difference, error * score_student_t(score_welch_df(top_variance, top->count,
                                                                     bottom_variance, bottom->count)));
}

struct interval score_mean(const double *value, int count)
{
    double mean = 0, squares = 0;
    for (int i = 0; i < count; i++)
        mean += value[i] / count;
    if (count < 2)
        return (struct interval){.value = mean, .high = INFINITY};
    for (int i = 0; i < count; i++)
        squares += (value[i] - mean) * (value[i] - mean);
    const double half = score_student_t(count - 1) * sqrt(squares / (count - 1) / count);
    return (struct interval){.present = true, .value = mean, .low = mean - half, .high = mean + half};
}

struct interval score_geomean(const double *value, int count)
{
    struct moments moments = moments_of_logs(value, count);

    return moments_geomean(&moments);
}

struct interval score_geomean_ratio(const double *numerator, int numerator_count, const double *denominator,
                                    int denominator_count)
{
    struct moments top = moments_of_logs(numerator, numerator_count);
    struct moments bottom = moments_of_logs(denominator, denominator_count);

    return moments_ratio(&top, &bottom);
}

/* The largest k with P(B <= k - 1) <= 0.025 for B ~ Binomial(n, 1/2). The order statistics k and n + 1 - k
 * then enclose the median with at least 95% (Conover, Practical Nonparametric Statistics, 3.2). 0 if there is
 * none. From n = 1000 on, its normal approximation, rounded outward. */
static int median_rank(int count)
{
    double tail = 0;
    int k = 0;

    if (count >= 1000)
        return (int)floor((count - normal_quantile * sqrt(count)) / 2);
    for (;; k++) {
        tail += exp(lgamma(count + 1.0) - lgamma(k + 1.0) - lgamma(count - k + 1.0) - count * M_LN2);
        if (tail > 0.025)
            return k;
    }
}

struct interval score_median(const double *ascending, int count)
{
    int rank, lowest;

    if (count <= 0)
        return (struct interval){0};
    rank = median_rank(count);
    lowest = rank > 0 ? rank - 1 : 0;
    return (struct interval){
        .present = rank > 0,
        .value = (ascending[(count - 1) / 2] + ascending[count / 2]) / 2,
        .low = ascending[lowest],
        .high = ascending[count - 1 - lowest],
    };
}

double score_p95(const double *ascending, int count)
{
    int rank = (int)((95 * (int64_t)count + 99) / 100); /* ceil(0.95 n), exact */

    return ascending[rank - 1];
}

/* ---- Sets ---- */

/* 1e9 flops per millisecond is 1 TFLOP/s; 1e6 bytes per millisecond is 1 GB/s. */
static double achieved_rate(const struct config_result *config, bool memory_bound)
{
    return memory_bound ? config->bytes / config->timing.median_ms / 1e6
                        : config->flops / config->timing.median_ms / 1e9;
}

static bool has_logarithm(double value)
{
    return isfinite(value) && value > 0;
}

/* A time below the hardware's limit shows that the candidate's clock is wrong, or that work was skipped. Then
 * the other times are not reliable either. */
static bool is_timed_truly(const struct result *result)
{
    for (int i = 0; i < result->finding_count; i++)
        if (result->finding[i].kind == FINDING_CEILING)
            return false;
    return true;
}

enum scored_set { SET_SEEN, SET_UNSEEN, SET_DIRECTED };

static enum scored_set set_of(const struct config_result *config)
{
    return config->directed ? SET_DIRECTED : config->unseen ? SET_UNSEEN : SET_SEEN;
}

/* Scores one set and returns the moments of its log fractions. */
static struct moments score_one(const struct result *result, enum scored_set set, struct set_score *score)
{
    struct moments fraction = {0}, rate = {0};
    struct interval geomean;
    const bool truly = is_timed_truly(result);

    *score = (struct set_score){0};
    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];
        double achieved;

        if (set_of(config) != set)
            continue;
        score->configs++;
        score->outcome[config->outcome]++;
        if (config->outcome != OUTCOME_PASS || !config->timing.present || !truly ||
            !has_logarithm(config->timing.fraction))
            continue;
        moments_add(&fraction, log(config->timing.fraction));
        achieved = achieved_rate(config, result->memory_bound);
        if (has_logarithm(achieved))
            moments_add(&rate, log(achieved));
    }
    geomean = moments_geomean(&fraction);
    score->rate = score->configs > 0 ? (double)score->outcome[OUTCOME_PASS] / score->configs : 0;
    score->timed = geomean.present;
    score->geomean_rate = rate.count > 0 ? exp(rate.mean) : 0;
    score->geomean_fraction = geomean.value;
    score->fraction_low = geomean.low;
    score->fraction_high = geomean.high;
    score->score = score->rate * geomean.value;
    return fraction;
}

static int outcomes_sum(const struct set_score *score)
{
    int sum = 0;

    for (int i = 0; i < OUTCOME_COUNT; i++)
        sum += score->outcome[i];
    return sum;
}

/* Configurations left out by --fail-fast or the budget would count as not passing, and show a drop that was
 * never measured. */
static bool stopped_early(const struct result *result)
{
    for (int i = 0; i < result->result_count; i++)
        if (result->results[i].outcome == OUTCOME_SKIPPED &&
            (result->results[i].reason.cause == CAUSE_FAIL_FAST ||
             result->results[i].reason.cause == CAUSE_BUDGET))
            return true;
    return false;
}

void score_set(struct result *result)
{
    struct set_score *const seen = &result->seen, *const unseen = &result->unseen;
    struct moments seen_fraction = score_one(result, SET_SEEN, seen);
    struct moments unseen_fraction = score_one(result, SET_UNSEEN, unseen);

    score_one(result, SET_DIRECTED, &result->directed);
    assert(outcomes_sum(seen) == seen->configs && outcomes_sum(unseen) == unseen->configs);
    assert(seen->configs + unseen->configs + result->directed.configs == result->result_count);
    result->retention = moments_ratio(&unseen_fraction, &seen_fraction);
    result->drop = (struct interval){0};
    if (stopped_early(result))
        return;
    result->drop = score_difference(seen->outcome[OUTCOME_PASS], seen->configs, unseen->outcome[OUTCOME_PASS],
                                    unseen->configs);
    result->drop.value *= 100; /* percentage points */
    result->drop.low *= 100;
    result->drop.high *= 100;
}

/* ---- Verdicts ---- */

struct error_stats {
    int configs, skipped, refused, failed;
};

static void tally_add(struct error_stats *tally, enum outcome outcome)
{
    tally->configs++;
    tally->skipped += outcome == OUTCOME_SKIPPED;
    tally->refused += outcome == OUTCOME_REFUSED;
    tally->failed += outcome_fails(outcome);
}

/* A failure decides even if other configurations were not judged; otherwise unjudged configurations decide.
 * An empty or entirely skipped set shows nothing, so the verdict is never a success. */
static enum element_verdict decide(const struct result *result, const struct error_stats *seen,
                                   const struct error_stats *unseen)
{
    if (seen->failed + seen->refused > 0)
        return VERDICT_BROKEN;
    if (unseen->failed > 0)
        return VERDICT_SPECIALIZED;
    if (result->partial || result->result_count < result->planned)
        return VERDICT_INCONCLUSIVE;
    if (seen->configs == 0 || seen->skipped > 0 || unseen->configs == unseen->skipped)
        return VERDICT_INCONCLUSIVE;
    if (result->forbid_blind)
        return VERDICT_INCONCLUSIVE;
    return unseen->refused > 0 ? VERDICT_LIMITED : VERDICT_GENERAL;
}

static bool found_cheating(const struct result *result)
{
    for (int i = 0; i < result->finding_count; i++)
        if (finding_is_cheating(result->finding[i].kind))
            return true;
    return false;
}

static bool found_forbidden(const struct result *result)
{
    for (int i = 0; i < result->finding_count; i++)
        if (result->finding[i].kind == FINDING_FORBIDDEN)
            return true;
    return false;
}

static enum element_verdict decide_by(const struct result *result, bool published)
{
    struct error_stats set[2] = {0};

    for (int i = 0; i < result->result_count; i++)
        tally_add(&set[result->results[i].unseen], config_outcome(&result->results[i], published));
    return decide(result, &set[0], &set[1]);
}

enum element_verdict verdict_decide(const struct result *result)
{
    if (found_cheating(result))
        return VERDICT_CHEATING;
    return found_forbidden(result) ? VERDICT_FORBIDDEN : decide_by(result, false);
}

/* The published check does not look for cheating, so findings do not count here. */
enum element_verdict verdict_decide_published(const struct result *result)
{
    return decide_by(result, true);
}

enum element_verdict verdict_decide_given_up(const struct result *result)
{
    return result->unloadable ? VERDICT_BROKEN : VERDICT_INCONCLUSIVE;
}
