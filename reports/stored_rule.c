#include "stored_internal.h"

#include <stdio.h>
#include <string.h>

#include "rule_text.h"

static const char *kind_word(int i)
{
    return rule_kind_name((enum result_rule_kind)i);
}

static void read_unexplained(struct reading *r, const json_t *lines, struct result_rule *rule)
{
    const json_t *line;
    size_t i;

    json_array_foreach(lines, i, line)
    {
        if (i >= RESULT_UNEXPLAINED || !json_is_string(line) ||
            strlen(json_string_value(line)) >= RESULT_LINE_SIZE) {
            stored_fail(r, "unexplained", line, "at most 3 configuration lines");
            return;
        }
        strcpy(rule->unexplained[i], json_string_value(line));
    }
}

void stored_kinds(struct reading *r, const json_t *diagnosis, struct diagnosis *d)
{
    const json_t *list = stored_array(r, diagnosis, "kinds"), *object;
    size_t i;

    if (json_array_size(list) > RESULT_KINDS) {
        stored_fail(r, "kinds", list, "at most 3 kinds");
        return;
    }
    json_array_foreach(list, i, object)
    {
        struct result_kind *kind = &d->kind[d->kinds++];
        snprintf(r->at, sizeof r->at, "diagnosis.kinds[%zu].", i);
        kind->outcome = (enum outcome)stored_name(r, object, "outcome", stored_outcome_word, OUTCOME_COUNT,
                                                  OUTCOME_WRONG);
        kind->count = stored_count(r, object, "failures");
        stored_copy(r, object, "words", kind->words, sizeof kind->words);
        stored_copy(r, object, "config", kind->line, sizeof kind->line);
        stored_rule(r, object, object, &kind->rule);
    }
    snprintf(r->at, sizeof r->at, "diagnosis.");
}

void stored_rule(struct reading *r, const json_t *json, const json_t *diagnosis, struct result_rule *rule)
{
    const json_t *object = stored_object(r, json, "rule"), *confirmed = stored_object(r, object, "confirmed"),
                 *inner = stored_object(r, object, "inner");

    rule->present = object != NULL;
    rule->always = stored_flag(r, object, "always", false);
    stored_copy(r, object, "text", rule->text, sizeof rule->text);
    stored_copy(r, diagnosis, "no_rule", rule->reason, sizeof rule->reason);
    rule->fails_inside = stored_count(r, confirmed, "fails");
    rule->inside = stored_count(r, confirmed, "inside");
    rule->passes_outside = stored_count(r, confirmed, "passes");
    rule->outside = stored_count(r, confirmed, "outside");
    rule->precision = stored_number(r, object, "precision", 0);
    rule->recall = stored_number(r, object, "recall", 0);
    rule->runs = stored_count(r, diagnosis, "rule_runs");
    rule->kind = (enum result_rule_kind)stored_name(r, object, "kind", kind_word, RESULT_RULE_KINDS,
                                                    RESULT_RULE_TWO_SIDED);
    rule->explained = stored_count(r, object, "explained");
    rule->failures = stored_count(r, object, "failures");
    stored_copy(r, inner, "text", rule->inner, sizeof rule->inner);
    rule->inner_fails = stored_count(r, inner, "fails");
    rule->inner_runs = stored_count(r, inner, "runs");
    rule->other_fails = stored_count(r, inner, "other_fails");
    rule->other_runs = stored_count(r, inner, "other_runs");
    stored_copy(r, object, "limit", rule->limit, sizeof rule->limit);
    read_unexplained(r, stored_array(r, object, "unexplained"), rule);
}
