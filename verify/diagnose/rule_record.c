#include "rule_record.h"

#include <string.h>

#include "gen/contract/space.h"

void rule_record(const struct rule *rule, struct result_rule *out)
{
    static const enum result_rule_kind kind[] = {[RULE_TWO_SIDED] = RESULT_RULE_TWO_SIDED,
                                                 [RULE_NECESSARY] = RESULT_RULE_NECESSARY,
                                                 [RULE_PARTIAL] = RESULT_RULE_PARTIAL};
    *out = (struct result_rule){.present = rule->present,
                                .kind = kind[rule->kind],
                                .always = rule->always,
                                .fails_inside = rule->fails_inside,
                                .inside = rule->inside,
                                .passes_outside = rule->passes_outside,
                                .outside = rule->outside,
                                .precision = rule->precision,
                                .recall = rule->recall,
                                .runs = rule->runs,
                                .inner_fails = rule->inner_fails,
                                .inner_runs = rule->inner_runs,
                                .other_fails = rule->other_fails,
                                .other_runs = rule->other_runs,
                                .explained = rule->explained,
                                .failures = rule->failures};
    for (int i = 0; i < MOST_UNEXPLAINED && rule->unexplained[i].problem; i++)
        config_format(&rule->unexplained[i], out->unexplained[i], sizeof out->unexplained[i]);
    memcpy(out->inner, rule->inner, sizeof out->inner);
    memcpy(out->limit, rule->limit, sizeof out->limit);
    memcpy(out->text, rule->text, sizeof out->text);
    memcpy(out->reason, rule->reason, sizeof out->reason);
}
