#include "plain_rule.h"

#include <stdarg.h>
#include <string.h>

#include "published.h"
#include "text.h"

const char *plain_outcome(enum outcome outcome)
{
    static const char *const words[OUTCOME_COUNT] = {
        [OUTCOME_PASS] = "passes",
        [OUTCOME_WRONG] = "is wrong",
        [OUTCOME_UNWRITTEN] = "leaves elements of the output unwritten",
        [OUTCOME_OVERRUN] = "touches memory outside of its tensors",
        [OUTCOME_MODIFIED] = "changes an input",
        [OUTCOME_UNSTABLE] = "gives different results on equal inputs",
        [OUTCOME_REFUSED] = "refuses to run",
        [OUTCOME_CRASH] = "crashes",
        [OUTCOME_TIMEOUT] = "does not end in time",
        [OUTCOME_EXCEEDED] = "exceeds its memory or processes",
        [OUTCOME_SKIPPED] = "could not be judged",
    };

    return words[outcome];
}

__attribute__((format(printf, 2, 3))) static void add(char text[SUMMARY_SIZE], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, SUMMARY_SIZE - used, format, arguments);
    va_end(arguments);
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

/* The rule is confirmed on both sides. */
static void add_two_sided(char text[SUMMARY_SIZE], const struct rule *rule, const char *outcome)
{
    add(text,
        "It %s when %s. Confirmed on fresh runs: %d of %d inside the rule fail, %d of %d outside it pass.",
        outcome, rule->text, rule->fails_inside, rule->inside, rule->passes_outside, rule->outside);
}

/* Every failure satisfies the rule, but some runs inside it pass. */
static void add_necessary(char text[SUMMARY_SIZE], const struct rule *rule, const char *outcome)
{
    const int others = rule->failures - rule->explained;
    add(text, "It %s %s when %s: %d of %d failures lie there, and none of %d fresh run%s elsewhere fails.",
        outcome, others > 0 ? "nearly only" : "only", rule->text, rule->explained, rule->failures,
        rule->outside, plural(rule->outside));
    if (rule->inside > rule->fails_inside)
        add(text, " It does not fail always there: %d of %d fresh run%s pass.",
            rule->inside - rule->fails_inside, rule->inside, plural(rule->inside));
    else if (rule->inside > 0)
        add(text, " There %d of %d fresh run%s fail.", rule->fails_inside, rule->inside,
            plural(rule->inside));
    if (rule->inner[0])
        add(text, " Failures there are most frequent with %s: %d of %d run%s, against %d of %d without.",
            rule->inner, rule->inner_fails, rule->inner_runs, plural(rule->inner_runs), rule->other_fails,
            rule->other_runs);
}

static void add_partial(char text[SUMMARY_SIZE], const struct rule *rule, const char *outcome)
{
    const int others = rule->failures - rule->explained;

    add(text, "It always %s when %s (%d of %d fresh runs), but %d other failure%s lie%s outside this rule.",
        outcome, rule->text, rule->fails_inside, rule->inside, others, plural(others),
        others == 1 ? "s" : "");
}

static void add_rule(char text[SUMMARY_SIZE], const struct rule *rule, const char *outcome)
{
    if (!rule->present)
        add(text, "No rule was found for when it fails: %s.", text_or(rule->reason, "none was looked for"));
    else if (rule->always)
        add(text, "It %s on every configuration: so did %d of %d fresh runs.", outcome, rule->fails_inside,
            rule->inside);
    else if (rule->kind == RULE_NECESSARY)
        add_necessary(text, rule, outcome);
    else if (rule->kind == RULE_PARTIAL)
        add_partial(text, rule, outcome);
    else
        add_two_sided(text, rule, outcome);
}

/* The outcome of all failures. A rule covers failures of any outcome. */
static const char *common_outcome(const struct result *result)
{
    const enum outcome outcome = result->diagnosis.minimal.outcome;

    for (int i = 0; i < result->result_count; i++) {
        const enum outcome other = config_outcome(&result->results[i], published_decides(result));

        if (outcome_fails(other) && other != outcome)
            return "fails";
    }
    return plain_outcome(outcome);
}

void plain_rule(char text[SUMMARY_SIZE], const struct result *result)
{
    const struct diagnosis *const d = &result->diagnosis;

    text[0] = '\0';
    add_rule(text, &d->rule, common_outcome(result));
    if (d->rule.present && d->rule.limit[0])
        add(text, " Note that %s.", d->rule.limit);
    if (d->rule.present && d->rule.code[0])
        add(text, " The code has this condition at %s.", d->rule.code);
    if (d->calls[0])
        add(text, " The first call passes; later calls fail: %s.", d->calls);
}

void plain_rule_kind(char text[SUMMARY_SIZE], const struct result_kind *kind)
{
    const struct rule *const rule = &kind->rule;

    text[0] = '\0';
    add(text, "%d x %s: ", kind->count, kind->words[0] ? kind->words : outcome_name(kind->outcome));
    if (!rule->present)
        add(text, "no rule was found (%s)", text_or(rule->reason, "none was looked for"));
    else if (rule->always)
        add(text, "on every configuration");
    else
        add(text, "%s %s (%d of %d fresh runs inside the rule %s)",
            rule->kind == RULE_NECESSARY ? "only when" : "when", rule->text, rule->fails_inside, rule->inside,
            kind->outcome == OUTCOME_REFUSED ? "are refused" : "fail");
}
