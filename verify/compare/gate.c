#include "gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paired_test.h"

const double gate_alpha = 0.01;

int gate_decide(struct comparison *c, int looks)
{
    struct shift *const shift = calloc((size_t)c->count + 1, sizeof *shift);
    int status = -1;
    if (!shift)
        return -1;
    for (int i = 0; i < c->count; i++)
        shift[i] = c->item[i].shift;
    shift[c->count] = c->overall;
    status = compare_decide(shift, c->count + 1, gate_alpha, looks);
    for (int i = 0; i < c->count; i++)
        c->item[i].shift = shift[i];
    for (int i = 0; i < c->count; i++)
        if (c->item[i].withheld)
            c->item[i].shift.change = CHANGE_UNDECIDED;
    c->overall = shift[c->count];
    free(shift);
    return status;
}

/* If all n processes lie on one side of the margin, p is 2^-n, multiplied by two sides, the looks and Holm's
 * correction. */
int gate_least_processes(int hypotheses, int looks)
{
    return (int)ceil(log2(2 * looks * (double)hypotheses / gate_alpha));
}

void gate_find_cheating(const struct result *old, const struct result *new, struct comparison *c)
{
    for (int i = 0; i < new->finding_count; i++) {
        const struct finding *finding = &new->finding[i];
        bool known = !finding_is_cheating(finding->kind);
        for (int k = 0; k < old->finding_count; k++)
            known = known || old->finding[k].kind == finding->kind;
        if (!known)
            snprintf(c->finding, sizeof c->finding, "%s", finding->evidence);
    }
}

/* A correct result is better than an honest refusal, and a refusal better than a failure. */
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

/* For a comparison that has only one ratio per configuration: their mean with its t interval, and for the
 * decision their signed ranks. */
static struct shift over(const struct comparison *c, bool seen, bool unseen)
{
    double *const log_ratio = calloc((size_t)c->count + 1, sizeof *log_ratio);
    struct shift all = {.slower = 1, .faster = 1, .adjusted = 1};
    int known = 0;
    if (!log_ratio)
        return all;
    for (int i = 0; i < c->count; i++)
        if (c->item[i].shift.log_ratio.present && !c->item[i].withheld && (c->item[i].unseen ? unseen : seen))
            log_ratio[known++] = c->item[i].shift.log_ratio.value;
    if (known > 0)
        all = compare_processes(log_ratio, known);
    all.log_ratio = compare_mean(log_ratio, known);
    free(log_ratio);
    return all;
}

void gate_over_configurations(struct comparison *c)
{
    c->overall = over(c, true, true);
    c->set[0] = over(c, true, false).log_ratio;
    c->set[1] = over(c, false, true).log_ratio;
}

/* If nothing could be compared, the gate is not passed. The same holds if most times are undecided, unless
 * all together are known not to be slower. */
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
    const bool worse = c->lost > 0 || c->finding[0] != '\0' || c->changed[CHANGE_SLOWER] > 0 ||
                       (c->timed > 0 && c->overall.change == CHANGE_SLOWER);
    c->gate = worse ? GATE_REGRESSION : says_nothing(c, c->timed > 0) ? GATE_INCONCLUSIVE : GATE_PASSED;
}
