#include "comparison_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/record/atomic.h"
#include "json_values.h"
#include "reports/record/rule_text.h"

static const char *kind_name(enum comparison_kind kind)
{
    static const char *const name[] = {"now", "stored", "drift"};

    return name[kind];
}

/* Ratios of times, new / old. */
static json_t *ratio(const struct interval *log_ratio)
{
    if (!log_ratio->present)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "ratio", json_of_number(exp(log_ratio->value)), "low",
                     json_of_number(exp(log_ratio->low)), "high", json_of_number(exp(log_ratio->high)));
}

static json_t *side(const struct comparison_side *side)
{
    return json_pack("{s:o, s:o}", "path", json_of_text(side->path), "sha256", json_of_text(side->sha256));
}

static json_t *shift(const struct shift *shift)
{
    if (!shift->log_ratio.present)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "change", change_name(shift->change), "time",
                     ratio(&shift->log_ratio), "p_slower", json_of_number(shift->slower), "p_faster",
                     json_of_number(shift->faster), "p_adjusted", json_of_number(shift->adjusted));
}

static json_t *item(const struct compared *item)
{
    return json_pack("{s:s, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:i, s:b}", "set",
                     item->unseen ? "unseen" : "seen", "config", json_of_text(item->line), "old_outcome",
                     outcome_name(item->outcome[0]), "new_outcome", outcome_name(item->outcome[1]),
                     "correctness", correctness_name(item->correctness), "detail", json_of_text(item->detail),
                     "speed", shift(&item->shift), "old_ms", json_of_number_if(item->ms[0] > 0, item->ms[0]),
                     "new_ms", json_of_number_if(item->ms[1] > 0, item->ms[1]), "pairs", item->pairs,
                     "processes", item->processes, "method", json_of_text(item->method), "time_of",
                     item->serves - 1, "trusted", !item->disturbed);
}

static json_t *items(const struct comparison *c)
{
    json_t *array = json_array();

    for (int i = 0; i < c->count; i++)
        if (json_array_append_new(array, item(&c->item[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *rule(const struct comparison *c)
{
    const struct rule *r = &c->rule;

    if (!r->present)
        return json_null();
    return json_pack("{s:o, s:s, s:i, s:i, s:o, s:o, s:o, s:{s:i, s:i, s:i, s:i}}", "text",
                     json_of_text(r->text), "kind", rule_kind_name(r->kind), "slower", r->failures,
                     "explained", r->explained, "ratio", json_of_number(c->rule_ratio), "precision",
                     json_of_number(r->precision), "recall", json_of_number(r->recall), "confirmed", "slower",
                     r->fails_inside, "inside", r->inside, "not_slower", r->passes_outside, "outside",
                     r->outside);
}

static json_t *document(const struct comparison *c)
{
    return json_pack("{s:i, s:{s:o, s:o}, s:s, s:o, s:s, s:o, s:o, s:o, s:I, s:{s:o, s:o, s:o}, s:{s:i, s:i, "
                     "s:i, s:i, s:i},"
                     " s:{s:i, s:i, s:i, s:i}, s:[i, i], s:o, s:o, s:o, s:o, s:o, s:o}",
                     "comparison", 1, "tool", "version", json_of_text(c->version), "git",
                     json_of_text(c->git), "gate", gate_name(c->gate), "problem", json_of_text(c->problem),
                     "kind", kind_name(c->kind), "old", side(&c->side[0]), "new", side(&c->side[1]), "device",
                     json_of_text(c->device), "seed", (json_int_t)c->seed, "time", "seen", ratio(&c->set[0]),
                     "unseen", ratio(&c->set[1]), "all", shift(&c->overall), "times", "timed", c->timed,
                     "faster", c->changed[CHANGE_FASTER], "same", c->changed[CHANGE_SAME], "slower",
                     c->changed[CHANGE_SLOWER], "undecided", c->changed[CHANGE_UNDECIDED], "outcomes", "lost",
                     c->lost, "gained", c->gained, "kept", c->count - c->lost - c->gained - c->unknown,
                     "unknown", c->unknown, "unmatched", c->unmatched[0], c->unmatched[1], "finding",
                     json_of_text(c->finding), "rule", rule(c), "no_rule",
                     json_of_text(c->rule.present ? NULL : c->rule.reason), "notes", json_of_text(c->notes),
                     "seconds", json_of_number(c->seconds), "configurations", items(c));
}

int comparison_json_write(const char *path, const struct comparison *comparison, char *error,
                          size_t error_size)
{
    json_t *json = document(comparison);
    char *dump = json != NULL ? json_dumps(json, JSON_INDENT(1)) : NULL;
    int status = -1;

    json_decref(json);
    if (dump == NULL) {
        snprintf(error, error_size,
                 "%s: cannot write the comparison: out of memory\n---> compare fewer configurations", path);
        return -1;
    }
    const size_t length = strlen(dump);
    dump[length] = '\n'; /* over the terminator: the text is written by its length */
    status = atomic_write(path, dump, length + 1, error, error_size);
    free(dump);
    return status;
}
