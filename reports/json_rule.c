#include "json_internal.h"

#include "rule_text.h"

static json_t *unexplained_json(const struct result_rule *rule)
{
    json_t *array = json_array();

    for (int i = 0; i < RESULT_UNEXPLAINED && rule->unexplained[i][0]; i++)
        if (json_array_append_new(array, json_of_text(rule->unexplained[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *inner_json(const struct result_rule *rule)
{
    if (!rule->inner[0])
        return json_null();
    return json_pack("{s:o, s:i, s:i, s:i, s:i}", "text", json_of_text(rule->inner), "fails",
                     rule->inner_fails, "runs", rule->inner_runs, "other_fails", rule->other_fails,
                     "other_runs", rule->other_runs);
}

/* `confirmed` counts the fresh runs on both sides of the rule. */
static json_t *rule_json(const struct result_rule *rule)
{
    if (!rule->present)
        return json_null();
    return json_pack("{s:o, s:b, s:o, s:o, s:{s:i, s:i, s:i, s:i}, s:s, s:i, s:i, s:o, s:o, s:o}", "text",
                     json_of_text(rule->text), "always", rule->always, "precision",
                     json_of_number(rule->precision), "recall", json_of_number(rule->recall), "confirmed",
                     "fails", rule->fails_inside, "inside", rule->inside, "passes", rule->passes_outside,
                     "outside", rule->outside, "kind", rule_kind_name(rule->kind), "explained",
                     rule->explained, "failures", rule->failures, "inner", inner_json(rule), "unexplained",
                     unexplained_json(rule), "limit", json_of_text(rule->limit[0] ? rule->limit : NULL));
}

json_t *json_of_rule(const struct diagnosis *d)
{
    return d->present ? rule_json(&d->rule) : json_null();
}

json_t *json_of_kinds(const struct diagnosis *d)
{
    json_t *array = json_array();

    for (int i = 0; i < d->kinds; i++) {
        const struct result_kind *kind = &d->kind[i];

        if (json_array_append_new(array,
                                  json_pack("{s:s, s:o, s:i, s:o, s:o, s:o, s:i}", "outcome",
                                            outcome_name(kind->outcome), "words", json_of_text(kind->words),
                                            "failures", kind->count, "config", json_of_text(kind->line),
                                            "rule", rule_json(&kind->rule), "no_rule",
                                            json_of_text(kind->rule.present ? NULL : kind->rule.reason),
                                            "rule_runs", kind->rule.runs)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}
