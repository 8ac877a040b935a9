/* Evaluates the classes' figures. */
#include <stdlib.h>
#include <string.h>

#include "prove_internal.h"

/* Largest median of allowed error over |value| for a class called discriminating. */
static const double sharp = 1.0 / 16;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_blind(const struct prove_telling *t)
{
    return t->values > 0 && (t->median >= 1 || 2 * t->accepted > t->changed);
}

static void sum_up(const struct proof *p, const struct judgement *j, int class, double *ratio,
                   struct prove_class *out)
{
    const struct prove_report *r = p->report;
    *out = (struct prove_class){.class = &p->problem->classes[class],
                                .output = p->problem->tensors[j->output].name};
    for (int i = 0; i < r->telling_count; i++) {
        const struct prove_telling *t = &r->telling[i];
        if (prove_class_of(&t->config) != class || strcmp(t->output, out->output) != 0)
            continue;
        if (is_blind(t)) {
            out->blind++;
            config_format(&t->config, out->line, sizeof out->line);
        }
        memcpy(ratio + out->values, t->ratio, (size_t)t->values * sizeof *ratio);
        out->values += t->values;
        out->configs++;
        out->changed += t->changed;
        out->accepted += t->accepted;
    }
    qsort(ratio, (size_t)out->values, sizeof *ratio, ascending);
    out->median = out->values ? ratio[(out->values - 1) / 2] : 0;
    out->tells_nothing = out->median >= 1 || 2 * out->accepted > out->changed;
}

static void judge_class(struct proof *p, const struct prove_class *c)
{
    if (c->class->discriminating > 0 && (c->tells_nothing || c->median > sharp)) {
        struct prove_finding *f = &p->report->check[PROVE_CLASSES];
        if (f->failures == 0)
            memcpy(f->line, c->line, sizeof f->line);
        prove_fail(
            p, PROVE_CLASSES, NULL,
            "of a discriminating class an allowed error below a sixteenth of the value, and elements that "
            "were set to 0 or doubled rejected",
            "class %s: %.2g of the value, %lld of %lld accepted", c->class->name, c->median,
            (long long)c->accepted, (long long)c->changed);
    }
}

/* A class that shows hardly any wrong element of any output wastes its share of configurations in every
 * verdict. */
static void judge_worth(struct proof *p, const struct prove_class *of_first, int class)
{
    const struct prove_class *told = NULL;
    for (int j = 0; j < p->judgements; j++) {
        const struct prove_class *const c = &of_first[j * p->classes + class];
        if (c->values == 0)
            continue;
        if (!c->tells_nothing)
            return;
        told = c;
    }
    if (!told)
        return;
    struct prove_finding *f = &p->report->check[PROVE_CLASSES];
    if (f->failures == 0)
        memcpy(f->line, told->line, sizeof f->line);
    prove_fail(
        p, PROVE_CLASSES, NULL,
        "an input class in which wrong elements show; one that tells nothing of any output is drawn in "
        "vain: make its values or its promise sharper, or leave it out of the contract",
        "class %s: allowed error %.2g of the value, %lld of %lld elements that were set to 0 or doubled "
        "accepted",
        told->class->name, told->median, (long long)told->accepted, (long long)told->changed);
}

bool prove_tell(struct proof *p)
{
    struct prove_report *r = p->report;
    double *ratio = malloc((size_t)(r->telling_count + 1) * PROVE_VALUES * sizeof *ratio);
    r->class = calloc((size_t)(p->classes * p->judgements) + 1, sizeof *r->class);
    if (!ratio || !r->class) {
        free(ratio);
        return prove_broke(p, "what classes tell", -1);
    }
    for (int j = 0; j < p->judgements; j++)
        for (int c = 0; c < p->classes; c++) {
            sum_up(p, &p->judgement[j], c, ratio, &r->class[r->class_count]);
            judge_class(p, &r->class[r->class_count++]);
        }
    for (int c = 0; c < p->classes; c++)
        judge_worth(p, r->class, c);
    free(ratio);
    return true;
}
