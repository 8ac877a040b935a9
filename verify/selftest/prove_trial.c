#include "prove_trial.h"

#include <math.h>
#include <string.h>

/* --- elements by index --- */

double trial_get(const struct trial *t, const void *output, int64_t i)
{
    return value_get(t->dtype, output, instance_tensor_place(t->shape, i));
}

void trial_set(const struct trial *t, int64_t i, double value)
{
    value_set(t->dtype, t->changed, instance_tensor_place(t->shape, i), value);
}

/* --- judging --- */

bool trial_judge(struct trial *t, const void *output)
{
    int error = t->layout->memory->from_host(t->layout->got[t->j->output], output, t->bytes);
    error = error ? error : t->layout->memory->poison(t->device_mask, (size_t)t->elements, 0);
    t->request.wrong = t->device_mask;
    error = error ? error : layout_judge(t->layout, t->j->reference, &t->request, t->report);
    error = error ? error : t->layout->memory->to_host(t->mask, t->device_mask, 0, t->elements);
    return !error || prove_broke(t->p, "judging", error);
}

bool trial_expect(struct trial *t)
{
    struct layout *l = t->layout;
    void *expected = NULL;
    int error = l->memory->take(&expected, t->bytes + 16);
    t->request.expected = expected;
    error = error ? error : layout_judge(l, t->j->reference, &t->request, t->report);
    error = error ? error : l->memory->to_host(t->right, expected, 0, (int64_t)t->bytes);
    t->request.expected = NULL;
    if (expected)
        l->memory->release(expected);
    return !error || prove_broke(t->p, "computing the right output", error);
}

void trial_put_right(const struct trial *t, int64_t i)
{
    const int64_t at = instance_tensor_place(t->shape, i);
    dtype_copy(t->dtype, t->changed, at, t->right, at);
}

bool trial_tells(const struct trial *t, const struct judged *e)
{
    return isfinite(e->mid) && trial_get(t, t->right, e->index) != 0;
}
