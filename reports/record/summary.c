#include "summary.h"

#include <math.h>
#include <string.h>

#include "published.h"
#include "rule_text.h"
#include "text.h"

struct count {
    int configs, pass, refused, skipped;
    int left; /* skipped because --budget ran out or --fail-fast stopped the run */
};

/* Counts by the deciding check. The table counts by our judgement, which --tolerance published overrules. */
static struct count count_set(const struct result *result, bool unseen)
{
    struct count count = {0};

    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];
        enum outcome outcome = config_outcome(config, published_decides(result));

        if (config->unseen != unseen)
            continue;
        count.configs++;
        count.pass += outcome == OUTCOME_PASS;
        count.refused += outcome == OUTCOME_REFUSED;
        count.skipped += outcome == OUTCOME_SKIPPED;
        count.left += outcome == OUTCOME_SKIPPED &&
                      (config->reason.cause == CAUSE_BUDGET || config->reason.cause == CAUSE_FAIL_FAST);
    }
    return count;
}

static void say_inconclusive(char *text, size_t size, const struct result *result, const struct count *seen,
                             const struct count *unseen)
{
    if (seen->configs + unseen->configs == seen->skipped + unseen->skipped)
        snprintf(text, size, "nothing could be judged: no configuration was run to its end%s%s%s.",
                 result->partial_reason[0] ? " (" : "", result->partial_reason,
                 result->partial_reason[0] ? ")" : "");
    else if (result->partial || result->result_count < result->planned)
        snprintf(text, size, "the run was cut off (%s) after %d of %d configurations; none of them fails.",
                 text_or(result->partial_reason, "no reason recorded"),
                 result->result_count - seen->left - unseen->left, result->planned);
    else if (seen->skipped > 0)
        snprintf(text, size, "%d of %d seen configurations could not be judged; nothing that was fails.",
                 seen->skipped, seen->configs);
    else if (result->forbid_blind)
        snprintf(text, size, "this machine hides the libraries that it loads, so --forbid proves nothing.");
    else if (seen->configs == 0)
        snprintf(text, size, "no seen configuration was run, so there is nothing to compare with.");
    else if (unseen->configs == 0)
        snprintf(text, size,
                 "every seen configuration passes, but no unseen one was asked for: "
                 "nothing shows how it generalizes.");
    else
        snprintf(text, size,
                 "every seen configuration passes, but none of the %d unseen ones could "
                 "be judged.",
                 unseen->configs);
}

/* The seen configurations as a noun phrase, to be continued by "and" or "but". Substitutes of the published
 * configurations were not known to the author. */
static const char *seen_words(const struct result *result)
{
    return result->seen_stands_in
               ? "configurations that stand in for the published ones (too large for the host)"
               : "configurations that its author was given";
}

static void say_general(char *text, size_t size, const struct result *result, const struct count *seen,
                        const struct count *unseen)
{
    const int used = snprintf(text, size, "it works on all %d %s and on ", seen->configs, seen_words(result));
    if (unseen->skipped == 0)
        snprintf(text + used, size - (size_t)used, "all %d that its author never saw.", unseen->configs);
    else
        snprintf(text + used, size - (size_t)used, "the %d of %d unseen ones that could be judged.",
                 unseen->pass, unseen->configs);
}

static void say(char *text, size_t size, const struct result *result)
{
    const struct count seen = count_set(result, false), unseen = count_set(result, true);

    switch (result_verdict(result)) {
    case VERDICT_GENERAL: say_general(text, size, result, &seen, &unseen); break;
    case VERDICT_LIMITED:
        snprintf(text, size,
                 "it is right wherever it runs, but refuses %d of %d configurations that its "
                 "author never saw.",
                 unseen.refused, unseen.configs);
        break;
    case VERDICT_SPECIALIZED:
        if (seen.pass == 0)
            snprintf(text, size,
                     "none of %d %s could be judged, and it fails on %d of %d that its author never saw.",
                     seen.configs, seen_words(result), unseen.configs - unseen.pass - unseen.skipped,
                     unseen.configs);
        else
            snprintf(text, size, "it passes %d of %d %s, but fails on %d of %d that its author never saw.",
                     seen.pass, seen.configs, seen_words(result),
                     unseen.configs - unseen.pass - unseen.skipped, unseen.configs);
        break;
    case VERDICT_BROKEN:
        if (seen.configs + unseen.configs == 0) {
            snprintf(text, size, "it cannot be loaded: %s", result->partial_reason);
            break;
        }
        snprintf(text, size, "it fails on %d of %d %s.", seen.configs - seen.pass - seen.skipped,
                 seen.configs, seen_words(result));
        break;
    case VERDICT_CHEATING:
        snprintf(text, size,
                 "there is evidence that it games the measurement; its passes and times "
                 "mean nothing. The findings below are the proof.");
        break;
    case VERDICT_FORBIDDEN:
        snprintf(text, size,
                 "it uses a library that --forbid names, so its passes and times do not count. The findings "
                 "below are the "
                 "proof.");
        break;
    case VERDICT_INCONCLUSIVE:
    case VERDICT_COUNT: say_inconclusive(text, size, result, &seen, &unseen); break;
    }
}

/* Missing parts come first, since many readers read a single line. */
void summary_verdict(char text[SUMMARY_SIZE], const struct result *result)
{
    text[0] = '\0';
    if (result->no_sandbox[0] != '\0')
        snprintf(text, SUMMARY_SIZE, "without a sandbox (%s), ", result->no_sandbox);
    if (result->without[0] != '\0')
        snprintf(text + strlen(text), SUMMARY_SIZE - strlen(text), "without: %s, ", result->without);
    say(text + strlen(text), SUMMARY_SIZE - strlen(text), result);
}

const char *summary_checks(char ours[SUMMARY_SIZE], char other[SUMMARY_SIZE], const struct result *result)
{
    const struct published_tally tally = published_count(result);
    char alone[96] = "the published tolerance";

    if (!result->published_judged)
        return NULL;
    snprintf(ours, SUMMARY_SIZE, "%s (%selement by element against the reference)",
             verdict_name(result->verdict), published_decides(result) ? "" : "decides: ");
    if (result->own_tolerance.present)
        snprintf(alone, sizeof alone, "atol=%g rtol=%g of the contract", result->own_tolerance.atol,
                 result->own_tolerance.rtol);
    snprintf(other, SUMMARY_SIZE, "%s (%s%s alone); passes %d of the %d configurations that we reject",
             verdict_name(result->published_verdict), published_decides(result) ? "decides: " : "", alone,
             tally.accepted, tally.rejected);
    return result->own_tolerance.present ? "your check" : "published";
}

bool summary_own(char text[SUMMARY_SIZE], const struct result *result, const struct config_result *config)
{
    if (!result->own_tolerance.present || !config->published_judged)
        return false;
    snprintf(text, SUMMARY_SIZE, "atol=%g rtol=%g of the contract %s it", result->own_tolerance.atol,
             result->own_tolerance.rtol, config->published_pass ? "passes" : "fails");
    return true;
}

bool summary_partial(char text[SUMMARY_SIZE], const struct result *result)
{
    const struct count seen = count_set(result, false), unseen = count_set(result, true);

    if (!result->partial)
        return false;
    snprintf(text, SUMMARY_SIZE, "cut off (%s) after %d of %d configurations",
             text_or(result->partial_reason, "no reason recorded"),
             result->result_count - seen.left - unseen.left, result->planned);
    return true;
}

void summary_rule(char text[SUMMARY_SIZE], const struct diagnosis *d)
{
    _Static_assert((int)RULE_TEXT_SIZE <= (int)SUMMARY_SIZE, "a rule's sentence fits");
    rule_text(text, d);
}

void summary_kind(char text[SUMMARY_SIZE], const struct result_kind *kind)
{
    rule_text_kind(text, kind);
}

void summary_smallest(char text[SUMMARY_SIZE], const struct diagnosis *d)
{
    snprintf(text, SUMMARY_SIZE, "%s%s", text_or(d->minimal.detail, outcome_name(d->minimal.outcome)),
             d->locally_minimal || d->minimal.reason.stage == STAGE_TIMED
                 ? ""
                 : " (the search ended early: a simpler one may fail too)");
}

/* ---- Figures with intervals ---- */

/* Is the interval wider than the value itself? */
static bool tells_little(const struct interval *interval)
{
    return !(interval->high - interval->low <= fabs(interval->value));
}

enum { FEW_FAILURES = 10 };

/* Failures of both sets: judged and not passed. */
static int failures_of(const struct result *result)
{
    const struct set_score *seen = &result->seen, *unseen = &result->unseen;

    return seen->configs + unseen->configs - seen->outcome[OUTCOME_PASS] - unseen->outcome[OUTCOME_PASS] -
           seen->outcome[OUTCOME_SKIPPED] - unseen->outcome[OUTCOME_SKIPPED];
}

/* Why the intervals are too wide. With many failures, the smaller seen set is the cause. */
static const char *little_to_tell(const struct result *result)
{
    const int passes = result->seen.outcome[OUTCOME_PASS] + result->unseen.outcome[OUTCOME_PASS];
    const int failures = failures_of(result);

    return passes == 0               ? "nothing passes"
           : failures < FEW_FAILURES ? "too few failures to tell"
                                     : "too few seen configurations to tell";
}

/* Warns that configurations that were not judged count as not passing, though they are no failures of the
 * candidate. */
static void say_unjudged_drop(char *text, size_t size, const struct result *result)
{
    const int skipped = result->seen.outcome[OUTCOME_SKIPPED] + result->unseen.outcome[OUTCOME_SKIPPED];

    if (skipped == 0)
        snprintf(text, size, "none: no configuration of either set fails");
    else
        snprintf(text, size,
                 "none: no configuration that was judged fails; %d could not be judged (with them counted as "
                 "failing it would be %.1f points)",
                 skipped, result->drop.value == 0 ? 0 : result->drop.value);
}

bool summary_directed(char text[SUMMARY_SIZE], const struct result *result)
{
    const struct set_score *const set = &result->directed;
    size_t used;

    if (set->configs == 0)
        return false;
    used = (size_t)snprintf(text, SUMMARY_SIZE,
                            "%d unseen ones more, drawn for conditions in its code: ", set->configs);
    for (int i = 0; i < OUTCOME_COUNT && used < SUMMARY_SIZE; i++)
        if (set->outcome[i] > 0)
            used += (size_t)snprintf(text + used, SUMMARY_SIZE - used, "%d %s, ", set->outcome[i],
                                     outcome_name(i));
    if (used < SUMMARY_SIZE)
        snprintf(text + used - 2, SUMMARY_SIZE - used + 2, " (apart from drop and score)");
    return true;
}

bool summary_drop(char text[SUMMARY_SIZE], const struct result *result)
{
    const struct interval *drop = &result->drop;
    const bool skipped = result->seen.outcome[OUTCOME_SKIPPED] + result->unseen.outcome[OUTCOME_SKIPPED] > 0;
    char range[64];

    if (!drop->present)
        return false;
    if (failures_of(result) == 0) {
        say_unjudged_drop(text, SUMMARY_SIZE, result);
        return true;
    }
    snprintf(range, sizeof range, "95%%: %.1f to %.1f", drop->low, drop->high);
    snprintf(text, SUMMARY_SIZE,
             "the pass rate is %.1f points lower on unseen than on seen configurations (%s)%s",
             drop->value == 0 ? 0 : drop->value, /* avoids printing -0.0 */
             tells_little(drop) ? little_to_tell(result) : range,
             skipped ? "; a configuration that was not judged counts as not passing" : "");
    return true;
}

bool summary_retention(char text[SUMMARY_SIZE], const struct result *result)
{
    const struct interval *retention = &result->retention;
    char range[96];

    if (!retention->present)
        return false;
    snprintf(range, sizeof range, "95%%: %.3g%% to %.3g%%", 100 * retention->low, 100 * retention->high);
    snprintf(text, SUMMARY_SIZE, "unseen configurations reach %.3g%% of the speed of seen ones (%s)",
             100 * retention->value, tells_little(retention) ? "too few times to tell" : range);
    return true;
}

static bool has_no_score(const struct result *result, const struct score_value *score,
                         const struct set_score *set)
{
    const enum element_verdict verdict = result_verdict(result);

    if (score->state == SCORE_NONE) /* after a failure, a missing score needs no explanation */
        return !set->timed && (verdict == VERDICT_GENERAL || verdict == VERDICT_LIMITED);
    return score->state == SCORE_INCONCLUSIVE || score->state == SCORE_INCOMPARABLE;
}

bool summary_no_score(char text[SUMMARY_SIZE], const struct result *result)
{
    const struct score_value *const seen = &result->scores.seen[SCORE_OURS];
    const struct score_value *const unseen = &result->scores.unseen[SCORE_OURS];
    const bool first = result->scores.present && has_no_score(result, seen, &result->seen);
    const bool second = result->scores.present && has_no_score(result, unseen, &result->unseen);

    if (first && second && strcmp(seen->reason, unseen->reason) == 0)
        snprintf(text, SUMMARY_SIZE, "%s", text_or(seen->reason, "no reason recorded"));
    else
        snprintf(text, SUMMARY_SIZE, "%s%s%s%s%s", first ? "seen: " : "", first ? seen->reason : "",
                 first && second ? "; " : "", second ? "unseen: " : "", second ? unseen->reason : "");
    return first || second;
}

/* ---- Provenance ---- */

/* By default PyTorch computes convolutions on a GPU in TF32. Tell the user how to disable it. */
static const char *how_to_leave_tf32(const struct result *result)
{
    const char *language = text_or(result->language, "");
    const bool is_torch = strcmp(language, "python") == 0 || strcmp(language, "solution") == 0;
    return is_torch && strcmp(result->fits, "tf32") == 0
               ? " (PyTorch's convolutions on a GPU are TF32 by default: torch.backends.cudnn.allow_tf32 = "
                 "False turns it off)"
               : "";
}

/* If results are wrong, no arithmetic class explains them: a fault is no rounding error. */
static bool has_wrong_results(const struct result *result)
{
    for (int i = 0; i < result->result_count; i++)
        if (result->results[i].outcome == OUTCOME_WRONG || result->results[i].outcome == OUTCOME_UNWRITTEN)
            return true;
    return false;
}

void summary_arithmetic(char text[SUMMARY_SIZE], const struct result *result)
{
    const char *admitted = text_or(result->admitted, "unknown");

    if (result->unexplained && has_wrong_results(result))
        snprintf(text, SUMMARY_SIZE, "not told: wrong results say nothing of it; the problem admits %s",
                 admitted);
    else if (text_or(result->fits, "")[0] == '\0')
        snprintf(text, SUMMARY_SIZE, "could not be determined; the problem allows %s", admitted);
    else if (result->unexplained)
        snprintf(text, SUMMARY_SIZE,
                 "the errors are larger than any arithmetic makes them; the problem allows %s", admitted);
    else if (result->downgrade)
        snprintf(text, SUMMARY_SIZE,
                 "SILENT DOWNGRADE: the candidate computes like %s where the problem "
                 "admits %s%s",
                 result->fits, admitted, how_to_leave_tf32(result));
    else
        snprintf(text, SUMMARY_SIZE, "the results are as precise as %s makes them; the problem allows %s",
                 result->fits, admitted);
}

void summary_candidate(char text[SUMMARY_SIZE], const struct result *result)
{
    snprintf(text, SUMMARY_SIZE, "%s, sha256 %.16s, built in %.1f s%s",
             text_or(result->language, "unknown language"), text_or(result->candidate_sha256, "not recorded"),
             result->build_seconds, result->object_kept ? " (kept object)" : "");
}

void summary_device(char text[SUMMARY_SIZE], const struct result *result)
{
    snprintf(text, SUMMARY_SIZE, "%s%s%s", text_or(result->device, "unknown"),
             result->driver[0] != '\0' ? ", driver " : "", result->driver);
}

bool summary_ceilings(char text[SUMMARY_SIZE], const struct result *result)
{
    const struct peaks *peaks = &result->peaks;
    char measured[64] = "", when[128] = "";

    if (peaks->bandwidth_gbps <= 0 && peaks->tflops <= 0)
        return false;
    if (peaks->measured_gbps > 0)
        snprintf(measured, sizeof measured, " (copy, measured: %.4g)", peaks->measured_gbps);
    if (peaks->calibrated[0] != '\0')
        snprintf(when, sizeof when, "; %s %.30s%s", peaks->sha256[0] != '\0' ? "calibrated" : "measured",
                 peaks->calibrated, peaks->sha256[0] != '\0' ? "" : ", for this run only");
    snprintf(text, SUMMARY_SIZE, "%.4g GB/s%s, %.4g TFLOP/s (%s); an empty call takes %.4g ms%s%s",
             peaks->bandwidth_gbps, measured, peaks->tflops,
             text_or(peaks_source_name(peaks->source), "unknown source"), peaks->launch_ms, when,
             peaks->incomparable ? "; not comparable" : "");
    return true;
}
