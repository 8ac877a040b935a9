#include "gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "signed_rank.h"

const double gate_alpha = 0.01;

/* Of all configurations together: their mean, and the signed ranks of their log ratios, which is one hypothesis more. */
static struct shift overall(const struct shift *shift, int count, double *log_ratio)
{
    struct shift all = {.log_ratio = compare_mean(shift, count), .slower = 1, .faster = 1, .adjusted = 1};
    int known = 0;
    for (int i = 0; i < count; i++)
        if (shift[i].log_ratio.present)
            log_ratio[known++] = shift[i].log_ratio.value;
    if (known == 0)
        return all;
    all.slower = signed_rank_above(log_ratio, known, compare_margin());
    all.faster = signed_rank_below(log_ratio, known, -compare_margin());
    return all;
}

int gate_decide(struct comparison *c, int looks)
{
    struct shift *const shift = calloc((size_t)c->count + 1, sizeof *shift);
    double *const log_ratio = calloc((size_t)c->count + 1, sizeof *log_ratio);
    int status = -1;
    if (shift && log_ratio) {
        for (int i = 0; i < c->count; i++)
            shift[i] = c->item[i].shift;
        shift[c->count] = overall(shift, c->count, log_ratio);
        status = compare_decide(shift, c->count + 1, gate_alpha, looks);
        for (int i = 0; i < c->count; i++)
            c->item[i].shift = shift[i];
        c->overall = shift[c->count];
    }
    free(shift);
    free(log_ratio);
    return status;
}

/* Right is better than an honest refusal, and that is better than a failure. */
static int worth(enum outcome outcome)
{
    return outcome == OUTCOME_PASS ? 2 : outcome == OUTCOME_REFUSED ? 1 : 0;
}

static enum correctness correctness_of(const enum outcome outcome[2])
{
    if (outcome[0] == OUTCOME_SKIPPED || outcome[1] == OUTCOME_SKIPPED)
        return CORRECTNESS_UNKNOWN;
    return worth(outcome[1]) < worth(outcome[0])   ? CORRECTNESS_LOST
           : worth(outcome[1]) > worth(outcome[0]) ? CORRECTNESS_GAINED
                                                   : CORRECTNESS_KEPT;
}

static void count(struct comparison *c)
{
    c->timed = c->lost = c->gained = c->unknown = 0;
    memset(c->changed, 0, sizeof c->changed);
    for (int i = 0; i < c->count; i++) {
        struct compared *item = &c->item[i];
        item->correctness = correctness_of(item->outcome);
        c->lost += item->correctness == CORRECTNESS_LOST;
        c->gained += item->correctness == CORRECTNESS_GAINED;
        c->unknown += item->correctness == CORRECTNESS_UNKNOWN;
        if (!item->shift.log_ratio.present)
            continue;
        c->timed++;
        c->changed[item->shift.change]++;
    }
}

static struct interval mean_of_set(const struct comparison *c, bool unseen)
{
    struct shift *const shift = calloc((size_t)c->count + 1, sizeof *shift);
    struct interval mean = {.present = false};
    int known = 0;
    if (!shift)
        return mean;
    for (int i = 0; i < c->count; i++)
        if (c->item[i].unseen == unseen)
            shift[known++] = c->item[i].shift;
    mean = compare_mean(shift, known);
    free(shift);
    return mean;
}

/* Nothing that could be compared is no success, and neither are times most of which say nothing, unless all of them together
 * are known not to be slower. */
static bool says_nothing(const struct comparison *c, bool timing)
{
    if (c->unknown == c->count)
        return true;
    return timing && 2 * c->changed[CHANGE_UNDECIDED] > c->timed &&
           !(c->overall.log_ratio.present && c->overall.log_ratio.high <= compare_margin());
}

void gate_close(struct comparison *c)
{
    count(c);
    for (int unseen = 0; unseen < 2; unseen++)
        c->set[unseen] = mean_of_set(c, unseen);
    const bool worse = c->lost > 0 || c->finding[0] != '\0' || c->changed[CHANGE_SLOWER] > 0 ||
                       (c->timed > 0 && c->overall.change == CHANGE_SLOWER);
    c->gate = worse ? GATE_REGRESSION : says_nothing(c, c->timed > 0) ? GATE_INCONCLUSIVE : GATE_PASSED;
}
