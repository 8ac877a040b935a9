#include "compare_stored.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paired_test.h"
#include "gate.h"

enum compare_stored_status compare_stored_check(const struct result *old, const struct result *new,
                                                const char *const name[2], char *error, size_t size)
{
    if (!old->problem || !new->problem || strcmp(old->problem, new->problem) != 0) {
        snprintf(error, size,
                 "%.200s is a result of %.64s, and %.200s one of %.64s; expected two results of one problem\n"
                 "---> compare results of the same problem",
                 name[0], old->problem ? old->problem : "no problem", name[1],
                 new->problem ? new->problem : "no problem");
        return COMPARE_STORED_INPUT;
    }
    if (strcmp(old->device, new->device) != 0) {
        snprintf(
            error, size,
            "%.200s was measured on %.128s, and %.200s on %.128s; expected one device\n"
            "---> verify both candidates on the same device; a ratio of two devices says nothing of a kernel",
            name[0], old->device, name[1], new->device);
        return COMPARE_STORED_INPUT;
    }
    return COMPARE_STORED_OK;
}

static bool has_own_baseline(const struct result *result)
{
    return result->baseline.own && result->baseline.sha256[0] != '\0';
}

static bool same_baseline(const struct result *old, const struct result *new)
{
    return has_own_baseline(old) && has_own_baseline(new) &&
           strcmp(old->baseline.sha256, new->baseline.sha256) == 0;
}

/* Times by different clocks are not comparable. */
static bool same_method(const struct timing *old, const struct timing *new)
{
    return old->method && new->method &&strcmp(old->method, new->method) == 0;
}

static struct interval median_of(const struct timing *timing)
{
    return (struct interval){timing->present, timing->median_ms, timing->low_ms, timing->high_ms};
}

static struct shift shift_of(const struct comparison *c, const struct timing *old, const struct timing *new)
{
    const struct interval before = median_of(old), after = median_of(new);
    const struct interval today = compare_log(&new->baseline_ratio), then = compare_log(&old->baseline_ratio);
    return c->kind == COMPARISON_DRIFT ? compare_drift(&today, &then) : compare_medians(&before, &after);
}

/* Configurations that differ only in input class and seed share one time: it appears more than once in both
 * results, but counts once. */
static bool is_shared(const struct compared *a, const struct compared *b)
{
    return a->shift.log_ratio.present && b->shift.log_ratio.present && a->ms[0] == b->ms[0] &&
           a->ms[1] == b->ms[1] && a->shift.log_ratio.low == b->shift.log_ratio.low &&
           a->shift.log_ratio.high == b->shift.log_ratio.high;
}

static void drop_shared(struct comparison *c, struct compared *item)
{
    for (int i = 0; i < c->count - 1 && item->serves == 0; i++)
        if (is_shared(item, &c->item[i]))
            item->serves = i + 1;
    if (item->serves)
        item->shift = (struct shift){.slower = 1, .faster = 1, .adjusted = 1};
}

/* Comparing medians of two days assumes an equal machine. A result may say that this does not hold: times
 * taken beside other processes, or a machine below its own ceilings. Ratios to a baseline of the same day are
 * robust against both. */
static bool is_of_the_machine(const struct comparison *c, const struct compared *item, bool slow)
{
    return c->kind == COMPARISON_STORED && (slow || item->disturbed);
}

static void add(struct comparison *c, const struct config_result *old, const struct config_result *new,
                bool slow)
{
    struct compared *item = &c->item[c->count++];
    *item = (struct compared){.unseen = new->unseen,
                              .config = new->config,
                              .outcome = {old->outcome, new->outcome},
                              .disturbed = old->timing.disturbed || new->timing.disturbed,
                              .method = new->timing.method};
    memcpy(item->line, new->line, sizeof item->line);
    memcpy(item->detail, new->detail, sizeof item->detail);
    item->shift = (struct shift){.slower = 1, .faster = 1, .adjusted = 1};
    if (old->outcome != OUTCOME_PASS || new->outcome != OUTCOME_PASS || !old->timing.present ||
        !new->timing.present || !same_method(&old->timing, &new->timing))
        return;
    item->shift = shift_of(c, &old->timing, &new->timing);
    item->ms[0] = old->timing.median_ms;
    item->ms[1] = new->timing.median_ms;
    drop_shared(c, item);
    item->withheld = is_of_the_machine(c, item, slow);
    if (item->withheld)
        item->shift.slower = item->shift.faster = 1;
}

/* Finds a configuration in a result; a repeated one is matched only once. */
static int find(const struct result *result, const struct config_result *config, const bool *taken)
{
    for (int i = 0; i < result->result_count; i++)
        if (!taken[i] && result->results[i].unseen == config->unseen &&
            strcmp(result->results[i].line, config->line) == 0)
            return i;
    return -1;
}

static int match(const struct result *old, const struct result *new, struct comparison *c)
{
    const bool slow = old->peaks.incomparable || new->peaks.incomparable;
    bool *const taken = calloc((size_t)old->result_count + 1, sizeof *taken);
    c->item = calloc((size_t) new->result_count + 1, sizeof *c->item);
    if (!taken || !c->item) {
        free(taken);
        return -1;
    }
    for (int i = 0; i < new->result_count; i++) {
        const int at = find(old, &new->results[i], taken);
        if (at < 0)
            continue;
        taken[at] = true;
        add(c, &old->results[at], &new->results[i], slow);
    }
    c->unmatched[0] = old->result_count - c->count;
    c->unmatched[1] = new->result_count - c->count;
    free(taken);
    return 0;
}

static int count_methods(const struct result *old, const struct result *new)
{
    int differ = 0;
    for (int i = 0; i < old->result_count; i++)
        for (int k = 0; k < new->result_count; k++)
            differ += strcmp(old->results[i].line, new->results[k].line) == 0 &&
                      old->results[i].timing.present && new->results[k].timing.present &&
                      !same_method(&old->results[i].timing, &new->results[k].timing);
    return differ;
}

static void note_worth(const struct result *const result[2], const char *const name[2], struct comparison *c)
{
    int disturbed = 0;
    for (int i = 0; i < c->count; i++)
        disturbed += c->item[i].disturbed;
    for (int i = 0; i < 2; i++)
        if (result[i]->partial)
            comparison_note(c, "%.200s was cut off (%.96s): missing configurations are not compared", name[i],
                            result[i]->partial_reason);
    const int differ = count_methods(result[0], result[1]);
    if (differ > 0)
        comparison_note(
            c, "%d configurations were timed by another clock in each result: their times are not compared",
            differ);
    const bool stored = c->kind == COMPARISON_STORED;
    if (disturbed > 0)
        comparison_note(c, "times of %d configurations were taken beside others on the device%s", disturbed,
                        stored ? ": they decide nothing" : "");
    for (int i = 0; i < 2; i++)
        if (result[i]->peaks.incomparable)
            comparison_note(c, "%.200s was made on a machine below its ceilings (%.200s): %s", name[i],
                            result[i]->peaks.why,
                            stored ? "its times decide nothing here, since they are the machine's, too"
                                   : "ratios to the baseline of the same day hold, its scores do not");
    if (c->kind == COMPARISON_STORED && c->timed > 0)
        comparison_note(
            c, "what the machine was like on each day is in these ratios, too; `verify --baseline own` keeps "
               "what is needed to take it out");
}

enum compare_stored_status matched(const struct result *old, const struct result *new,
                                   const char *const name[2], struct comparison *c, char *error, size_t size)
{
    const struct result *const both[2] = {old, new};
    const enum compare_stored_status status = compare_stored_check(old, new, name, error, size);
    if (status != COMPARE_STORED_OK)
        return status;
    c->kind = same_baseline(old, new) ? COMPARISON_DRIFT : COMPARISON_STORED;
    if (match(old, new, c) != 0) {
        snprintf(error, size, "out of memory");
        return COMPARE_STORED_ENVIRONMENT;
    }
    if (c->count == 0) {
        snprintf(
            error, size,
            "%.200s and %.200s have no configuration in common (%d and %d); expected results of one set\n"
            "---> verify both with the same --seed and --effort",
            name[0], name[1], old->result_count, new->result_count);
        return COMPARE_STORED_INPUT;
    }
    gate_find_cheating(old, new, c);
    gate_over_configurations(c);
    if (gate_decide(c, 1) != 0) {
        snprintf(error, size, "out of memory");
        return COMPARE_STORED_ENVIRONMENT;
    }
    gate_close(c);
    note_worth(both, name, c);
    return COMPARE_STORED_OK;
}
