#include "rule_text.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

const char *rule_kind_name(enum rule_kind kind)
{
    static const char *const name[] = {
        [RULE_TWO_SIDED] = "two_sided", [RULE_NECESSARY] = "necessary", [RULE_PARTIAL] = "partial"};
    return name[kind];
}

/* "every failure has cols % 2 == 1 (41 of 41; none of 30 fresh runs elsewhere); where it holds, 9 of 14 fresh
 * runs fail, of all runs 12 of 12 with input=needle and 20 of 44 without" */
static void necessary_text(char text[RULE_TEXT_SIZE], const struct rule *rule)
{
    int length =
        snprintf(text, RULE_TEXT_SIZE, "%s failure has %s (%d of %d; none of %d fresh runs elsewhere fails)",
                 rule->explained < rule->failures ? "nearly every" : "every", rule->text, rule->explained,
                 rule->failures, rule->outside);
    if (rule->inside > 0 && length > 0 && length < RULE_TEXT_SIZE)
        length += snprintf(text + length, RULE_TEXT_SIZE - (size_t)length,
                           "; where it holds, %d of %d fresh runs pass", rule->inside - rule->fails_inside,
                           rule->inside);
    else if (length > 0 && length < RULE_TEXT_SIZE)
        length += snprintf(text + length, RULE_TEXT_SIZE - (size_t)length,
                           "; no fresh run was made where it holds");
    if (rule->inner[0] && length > 0 && length < RULE_TEXT_SIZE)
        snprintf(text + length, RULE_TEXT_SIZE - (size_t)length,
                 "; there %d of all %d runs fail with %s, %d of %d without", rule->inner_fails,
                 rule->inner_runs, rule->inner, rule->other_fails, rule->other_runs);
}

static void partial_text(char text[RULE_TEXT_SIZE], const struct rule *rule, const char *outcome)
{
    const int others = rule->failures - rule->explained;
    snprintf(text, RULE_TEXT_SIZE, "always %s when %s (%d/%d confirmed); %d other failure%s unexplained",
             outcome, rule->text, rule->fails_inside, rule->inside, others, others == 1 ? "" : "s");
}

/* Appends the device limit, and the remark that first calls pass. */
static void append_asides(char text[RULE_TEXT_SIZE], const struct diagnosis *d)
{
    size_t length = strlen(text);
    if (d->rule.present && d->rule.limit[0] && length + 1 < RULE_TEXT_SIZE)
        length += (size_t)snprintf(text + length, RULE_TEXT_SIZE - length, "; %s", d->rule.limit);
    if (d->rule.present && d->rule.code[0] && length + 1 < RULE_TEXT_SIZE)
        length += (size_t)snprintf(text + length, RULE_TEXT_SIZE - length, "; in the code: %s", d->rule.code);
    if (d->calls[0] && length + 1 < RULE_TEXT_SIZE)
        snprintf(text + length, RULE_TEXT_SIZE - length, "; no first call fails, but later ones do: %s",
                 d->calls);
}

static void bare_text(char text[RULE_TEXT_SIZE], const struct rule *rule, const char *outcome)
{
    if (!rule->present)
        snprintf(text, RULE_TEXT_SIZE, "no rule: %s", text_or(rule->reason, "it was not looked for"));
    else if (rule->always)
        snprintf(text, RULE_TEXT_SIZE, "%s whatever the configuration (%d/%d confirmed)", outcome,
                 rule->fails_inside, rule->inside);
    else if (rule->kind == RULE_NECESSARY)
        necessary_text(text, rule);
    else if (rule->kind == RULE_PARTIAL)
        partial_text(text, rule, outcome);
    else
        snprintf(text, RULE_TEXT_SIZE, "%s whenever %s (%d/%d confirmed; right on %d/%d others)", outcome,
                 rule->text, rule->fails_inside, rule->inside, rule->passes_outside, rule->outside);
}

void rule_text(char text[RULE_TEXT_SIZE], const struct diagnosis *d)
{
    if (d->minimal.pair.present && !d->rule.present && d->rule.reason[0])
        /* a rule about single configurations would mislead here */
        snprintf(text, RULE_TEXT_SIZE, "%s", d->rule.reason);
    else
        bare_text(text, &d->rule, outcome_name(d->minimal.outcome));
    append_asides(text, d);
}

void rule_text_kind(char text[RULE_TEXT_SIZE], const struct result_kind *kind)
{
    char bare[RULE_TEXT_SIZE];
    const char *const name = kind->words[0] ? kind->words : outcome_name(kind->outcome);
    bare_text(bare, &kind->rule, name);
    snprintf(text, RULE_TEXT_SIZE, "%s%s%.800s; %d %s", kind->rule.present ? "" : name,
             kind->rule.present ? "" : ": ", bare, kind->count,
             kind->outcome == OUTCOME_REFUSED ? "refusals" : "failures");
}

void rule_text_slower(char text[RULE_TEXT_SIZE], const struct rule *rule, double ratio)
{
    const int others = rule->failures - rule->explained;
    if (rule->always)
        snprintf(text, RULE_TEXT_SIZE, "slower by %.2f always (%d/%d confirmed)", ratio, rule->fails_inside,
                 rule->inside);
    else if (rule->kind == RULE_NECESSARY)
        snprintf(
            text, RULE_TEXT_SIZE,
            "slower by %.2f only where %s (%d of %d that are; none of %d fresh runs elsewhere is); where it "
            "holds, %d of %d fresh runs are not",
            ratio, rule->text, rule->explained, rule->failures, rule->outside,
            rule->inside - rule->fails_inside, rule->inside);
    else if (rule->kind == RULE_PARTIAL)
        snprintf(text, RULE_TEXT_SIZE,
                 "slower by %.2f always when %s (%d/%d confirmed); %d other%s unexplained", ratio, rule->text,
                 rule->fails_inside, rule->inside, others, others == 1 ? "" : "s");
    else
        snprintf(text, RULE_TEXT_SIZE, "slower by %.2f whenever %s (%d/%d confirmed; right on %d/%d others)",
                 ratio, rule->text, rule->fails_inside, rule->inside, rule->passes_outside, rule->outside);
}
