/* Checks that outputs without honest work are rejected. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prove_trial.h"

static const enum null_kind tried[NULLS_TRIED] = {NULL_ZEROS,     NULL_ONES,       NULL_NAN,
                                                  NULL_INPUT,     NULL_MEAN,       NULL_MIDDLE,
                                                  NULL_FIRST_ROW, NULL_FIRST_TILE, NULL_RANDOM};
static bool try_null(struct trial *t, const struct null_source *source, int kind, float *out,
                     struct null_count *count)
{
    null_make(tried[kind], source, out);
    for (int64_t i = 0; i < t->elements; i++)
        trial_set(t, i, out[i]);
    if (memcmp(t->changed, t->right, t->bytes) == 0)
        return true; /* happens to be right, as for an output of one element */
    if (!trial_judge(t, t->changed))
        return false;
    count->judged++;
    count->rejected += t->report->wrong > 0;
    if (t->report->wrong == 0)
        count->config = t->c->config;
    return true;
}

/* If the right answer is NaN or infinite, anything else is wrong for any allowed error, so a rejected null
 * says nothing about the definition. */
static bool are_finite(const float *expected, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(expected[i]))
            return false;
    return true;
}

bool trial_nulls(struct trial *t, struct null_count count[NULLS_TRIED])
{
    const struct layout *l = t->layout;
    const int64_t inputs = l->held[0] ? instance_tensor_count(&l->instance.tensor[0]) : 0;
    float *const expected = malloc((size_t)t->elements * sizeof *expected);
    float *const out = malloc((size_t)t->elements * sizeof *out);
    float *const input = malloc(((size_t)inputs + 1) * sizeof *input);
    void *const staging = malloc(l->bytes[0] + 1);
    bool ok = (expected && out && input && staging) || prove_broke(t->p, "null outputs", -1);
    if (ok && inputs) {
        const int error = l->memory->to_host(staging, l->held[0], 0, (int64_t)l->bytes[0]);
        ok = !error || prove_broke(t->p, "reading an input", error);
    }
    if (ok) {
        const struct null_source source = {.problem = t->p->problem,
                                           .shape = t->shape,
                                           .count = t->elements,
                                           .expected = expected,
                                           .input = input,
                                           .inputs = inputs,
                                           .seed = t->p->options->seed};
        for (int64_t i = 0; i < t->elements; i++)
            expected[i] = (float)trial_get(t, t->right, i);
        for (int64_t i = 0; i < inputs; i++)
            input[i] = (float)value_get(t->p->problem->tensors[0].dtype, staging,
                                        instance_tensor_place(&l->instance.tensor[0], i));
        for (int kind = 0; kind < NULLS_TRIED && ok && are_finite(expected, t->elements); kind++)
            ok = try_null(t, &source, kind, out, &count[kind]);
        memcpy(t->changed, t->right, t->bytes);
    }
    free(expected);
    free(out);
    free(input);
    free(staging);
    return ok;
}

/* Judges nulls over the whole set: a mean is right if all elements are equal. */
void judge_nulls(struct proof *p, const struct judgement *j, const struct null_count count[NULLS_TRIED])
{
    for (int kind = 0; kind < NULLS_TRIED; kind++) {
        prove_ask(p, PROVE_NULLS, count[kind].judged);
        if (count[kind].judged > 0 && count[kind].rejected == 0)
            prove_fail(p, PROVE_NULLS, &count[kind].config, "every null output rejected somewhere",
                       "%s: '%s' accepted in all of %d configurations", p->problem->tensors[j->output].name,
                       null_name(tried[kind]), count[kind].judged);
    }
}
