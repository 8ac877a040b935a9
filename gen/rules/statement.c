/* The record of a rule: its text and counts, or the reason why there is none. */
#include "rules_internal.h"
#include "proportion.h"

#include <stdio.h>
#include <string.h>

static const double LEAST_RIGHT = 0.9, SURELY_RIGHT = 0.8, LEAST_EXCLUDED = 0.03;

/* --- counts --- */

bool confirmation_add(struct confirmation *confirmed, const struct evidence *evidence,
                      const struct hypothesis *rule, int trial)
{
    const bool holds = hypothesis_holds_on(evidence, rule, trial), fails = bit_of(evidence->fails, trial);
    confirmed->inside += holds;
    confirmed->fails_inside += holds && fails;
    confirmed->outside += !holds;
    confirmed->passes_outside += !holds && !fails;
    return holds;
}

void count_sides(const struct evidence *evidence, const struct hypothesis *rule, struct sides *sides)
{
    *sides = (struct sides){0};
    for (int t = 0; t < evidence->trials; t++) {
        const bool fails = bit_of(evidence->fails, t);
        if (hypothesis_holds_on(evidence, rule, t))
            *(fails ? &sides->fails_inside : &sides->passes_inside) += 1;
        else
            *(fails ? &sides->fails_outside : &sides->passes_outside) += 1;
    }
}

static void state_confirmation(const struct confirmation *confirmed, struct rule *out)
{
    out->fails_inside = confirmed->fails_inside;
    out->inside = confirmed->inside;
    out->passes_outside = confirmed->passes_outside;
    out->outside = confirmed->outside;
}

static void state_sides(const struct sides *sides, struct rule *out)
{
    const int inside = sides->fails_inside + sides->passes_inside;
    out->explained = sides->fails_inside;
    out->failures = sides->fails_inside + sides->fails_outside;
    out->precision = inside ? (double)out->explained / inside : 0;
    out->recall = out->failures ? (double)out->explained / out->failures : 0;
}

/* --- two-sided rules --- */

/* Returns whether the share itself and its lower confidence limit (90%) are high enough. */
static bool is_right(int right, int asked)
{
    const double one_sided_90 = 1.2816;
    if (right == asked)
        return true;
    const struct proportion share = proportion_wilson(right, asked, one_sided_90);
    return share.value >= LEAST_RIGHT && share.low >= SURELY_RIGHT;
}

/* Returns whether the rule is right on either side over all trials, and holds on most failures. The simplest
 * one, which is reported beside it, must be among these. Fresh runs alone do not suffice. A rule that was
 * dropped and adopted again counts them anew, and a wrong rule has a lucky streak in the end. Published
 * points do not count, since a kernel may have memorised them. */
static bool holds_overall(const struct evidence *evidence, const struct hypothesis *rule)
{
    int asked[2] = {0}, right[2] = {0}, fails = 0;
    if (!hypothesis_holds_on(evidence, rule, simplest_failure(evidence)))
        return false;
    for (int t = 0; t < evidence->trials; t++) {
        const bool says = hypothesis_holds_on(evidence, rule, t);
        if (!bit_of(evidence->unpublished, t))
            continue;
        asked[says]++;
        right[says] += says == bit_of(evidence->fails, t);
        fails += bit_of(evidence->fails, t);
    }
    return is_right(right[0], asked[0]) && is_right(right[1], asked[1]) && right[1] >= SURELY_RIGHT * fails;
}

void state_two_sided(const struct evidence *evidence, const struct hypothesis *rule,
                     const struct confirmation *confirmed, int dropped, struct rule *out)
{
    const int right = confirmed->fails_inside + confirmed->passes_outside, asked = runs_of(confirmed);
    char text[sizeof out->text];
    state_confirmation(confirmed, out);
    out->present = out->always = false;
    out->text[0] = '\0';
    if (!rule)
        snprintf(out->reason, sizeof out->reason, "no rule fits");
    else if (!hypothesis_format(evidence->vocabulary, rule, text, sizeof text))
        snprintf(out->reason, sizeof out->reason, "the rule that fits is too long to print");
    else if (asked < LEAST_CONFIRMED && dropped > 0)
        snprintf(out->reason, sizeof out->reason,
                 "each of the %d rules that fitted was contradicted by a later run", dropped);
    else if (asked < LEAST_CONFIRMED)
        snprintf(out->reason, sizeof out->reason, "%d fresh runs are too few to confirm a rule", asked);
    else if (!is_right(right, asked) || !is_right(confirmed->fails_inside, confirmed->inside) ||
             !is_right(confirmed->passes_outside, confirmed->outside))
        snprintf(out->reason, sizeof out->reason,
                 "the best rule found is contradicted by %d of %d fresh runs", asked - right, asked);
    else if (!holds_overall(evidence, rule))
        snprintf(out->reason, sizeof out->reason,
                 "the best rule found is contradicted by runs before the last %d", asked);
    else
        out->present = true;
    if (out->present) {
        snprintf(out->text, sizeof out->text, "%s", text);
        out->always = rule->count == 0;
    }
}

static void list_unexplained(const struct evidence *evidence, const struct hypothesis *rule, struct rule *out)
{
    int listed = 0;
    for (int t = 0; t < evidence->trials && listed < RULE_UNEXPLAINED; t++)
        if (bit_of(evidence->fails, t) && !hypothesis_holds_on(evidence, rule, t))
            config_format(&evidence->config[t], out->unexplained[listed++], RULE_LINE_SIZE);
}

void state_two_sided_details(const struct evidence *evidence, const struct hypothesis *rule, struct rule *out)
{
    struct sides sides;
    count_sides(evidence, rule, &sides);
    state_sides(&sides, out);
    device_limit_text(evidence->vocabulary, rule, out->limit, sizeof out->limit);
    code_text(evidence->vocabulary, rule, out->code, sizeof out->code);
    if (sides.fails_outside > 0 && sides.passes_inside == 0) {
        out->kind = RULE_PARTIAL;
        list_unexplained(evidence, rule, out);
    }
}

/* --- one-sided rules --- */

static void state_inner(const struct evidence *evidence, const struct hypothesis *rule, struct rule *out)
{
    struct hypothesis inner;
    double gain;
    if (!search_inner(evidence, rule, &inner, &gain) ||
        !hypothesis_format(evidence->vocabulary, &inner, out->inner, sizeof out->inner)) {
        out->inner[0] = '\0';
        return;
    }
    for (int t = 0; t < evidence->trials; t++) {
        const bool fails = bit_of(evidence->fails, t), holds = hypothesis_holds_on(evidence, &inner, t);
        if (!hypothesis_holds_on(evidence, rule, t))
            continue;
        out->inner_runs += holds;
        out->inner_fails += holds && fails;
        out->other_runs += !holds;
        out->other_fails += !holds && fails;
    }
}

bool state_one_sided(const struct evidence *evidence, const struct hypothesis *rule, enum rule_kind kind,
                     const struct confirmation *confirmed, struct rule *out)
{
    struct sides sides;
    char text[sizeof out->text];
    if (!hypothesis_format(evidence->vocabulary, rule, text, sizeof text))
        return false;
    out->present = true;
    out->kind = kind;
    device_limit_text(evidence->vocabulary, rule, out->limit, sizeof out->limit);
    code_text(evidence->vocabulary, rule, out->code, sizeof out->code);
    snprintf(out->text, sizeof out->text, "%s", text);
    out->reason[0] = out->closest[0] = '\0';
    count_sides(evidence, rule, &sides);
    state_confirmation(confirmed, out);
    state_sides(&sides, out);
    if (kind == RULE_NECESSARY)
        state_inner(evidence, rule, out);
    else
        list_unexplained(evidence, rule, out);
    return true;
}

/* --- without a rule --- */

bool excludes_enough(const struct inquiry *inquiry, const struct hypothesis *rule, enum rule_kind kind)
{
    int64_t value[MOST_QUANTITIES];
    int outside = 0;
    bool thresholds = kind == RULE_NECESSARY;
    for (int i = 0; i < rule->count; i++)
        thresholds = thresholds && rule->term[i].kind == PREDICATE_ABOVE;
    for (int i = 0; thresholds && i < inquiry->fresh.count; i++) {
        vocabulary_values(&inquiry->vocabulary, &inquiry->fresh.item[i], true, value);
        outside += !hypothesis_holds(&inquiry->vocabulary, rule, value);
    }
    return !thresholds || outside >= LEAST_EXCLUDED * inquiry->fresh.count;
}

bool best_divider(const struct evidence *evidence, struct hypothesis *out)
{
    const struct hypothesis any = {.count = 0};
    double gain;
    return search_inner(evidence, &any, out, &gain) && gain >= PLAIN_GAIN;
}

void state_closest(const struct inquiry *inquiry, const struct hypothesis *rule, struct rule *out)
{
    const struct evidence *const evidence = &inquiry->evidence;
    const size_t length = strlen(out->reason);
    struct hypothesis divider;
    struct sides sides;
    if (out->closest[0]) /* an earlier attempt, with all failures, has set it */
        return;
    count_sides(evidence, rule, &sides);
    if (sides.passes_outside + sides.fails_outside < LEAST_SURE ||
        !excludes_enough(inquiry, rule, RULE_NECESSARY)) {
        if (!best_divider(evidence, &divider))
            return;
        rule = &divider;
        count_sides(evidence, rule, &sides);
    }
    if (!hypothesis_format(evidence->vocabulary, rule, out->closest, sizeof out->closest)) {
        out->closest[0] = '\0';
        return;
    }
    snprintf(out->reason + length, sizeof out->reason - length,
             "; closest: %s (%d of %d runs inside it fail, %d of %d outside it)", out->closest,
             sides.fails_inside, sides.fails_inside + sides.passes_inside, sides.fails_outside,
             sides.fails_outside + sides.passes_outside);
}

/* --- a rule with exceptions --- */

void state_exceptions(const struct evidence *evidence, const int *trial, int count, struct rule *out)
{
    int listed = 0;
    while (listed < RULE_UNEXPLAINED && out->unexplained[listed][0])
        listed++;
    for (int i = 0; i < count && listed < RULE_UNEXPLAINED; i++)
        config_format(&evidence->config[trial[i]], out->unexplained[listed++], RULE_LINE_SIZE);
    out->failures += count;
    out->recall = (double)out->explained / out->failures;
}
