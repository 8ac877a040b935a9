/* Finds the bound beyond which values fail: clips a whole tensor, and bisects between a passing and a failing
 * bound. Unlike delta debugging it needs no few decisive elements. It finds "some g below -1" where all of g
 * decides. */
#include <math.h>

#include "input_ddmin_internal.h"

enum { MOST_TENSORS = 2, STEPS = 7 };

bool input_ddmin_bisect(struct input_ddmin *w, input_ddmin_at *run, void *data, double *passes, double *fails)
{
    static const double far = 16, near = 0.02;
    bool moved = false;
    for (int i = 0; i < STEPS && fabs(*fails - *passes) > near * fabs(*fails); i++) {
        const bool by_powers =
            *fails * *passes > 0 && (fabs(*fails / *passes) > far || fabs(*passes / *fails) > far);
        bool passed;
        double value =
            by_powers ? copysign(sqrt(fabs(*fails)) * sqrt(fabs(*passes)), *fails) : *fails / 2 + *passes / 2;
        if (i == 0 && *fails * *passes < 0) /* decide the sign first */
            value = 0;
        if (run(w, data, value, &passed) != 1 && !passed)
            break;
        moved = true;
        *(passed ? passes : fails) = value;
    }
    return moved;
}

/* Range of the values that a tensor uses, in one draw. */
struct range {
    double least, greatest;
    bool finite;
};

static struct range range_of(const struct mixture *m, bool own, int t)
{
    const int64_t count = instance_tensor_count(&m->own.tensor[t]);
    struct range range = {INFINITY, -INFINITY, true};
    for (int64_t i = 0; i < count; i++) {
        const double value = mixture_is_used(m, t, i) ? mixture_value(m, own, t, i) : NAN;
        range.finite = range.finite && (isfinite(value) || !mixture_is_used(m, t, i));
        range.least = value < range.least ? value : range.least;
        range.greatest = value > range.greatest ? value : range.greatest;
    }
    return range;
}

/* --- one bound --- */

enum clipped {
    BELOW,
    ABOVE,
    BOTH
}; /* the clipped values: lower ones, greater ones, or those of greater magnitude */

struct clipping {
    int tensor;
    enum clipped side;
};

static struct clip clip_at(const struct clipping *c, double bound)
{
    return (struct clip){c->tensor,
                         c->side == BELOW  ? bound
                         : c->side == BOTH ? -bound
                                           : -INFINITY,
                         c->side == BELOW ? INFINITY : bound};
}

static int run_at(struct input_ddmin *w, void *data, double bound, bool *passes)
{
    const struct clip clip = clip_at(data, bound);
    const struct mix mix = {.of = &w->mixture, .clip = &clip};
    return input_ddmin_run(w, &mix, passes);
}

static void say_bound(struct input_ddmin *w, const struct clipping *c, double passes, double fails)
{
    const char *const to = c->side == BELOW   ? "to at least"
                           : c->side == ABOVE ? "to at most"
                                              : "to magnitudes of at most";
    input_ddmin_say(w, "clipped %s %.3g, %s passes; to %.3g, it fails", to, passes,
                    w->task->problem->tensors[c->tensor].name, fails);
}

/* Returns whether a bound exists. `passes` is the extreme value of the passing draw, `fails` that of the
 * failing one. */
static bool try_bound(struct input_ddmin *w, struct clipping c, double passes, double fails)
{
    static const double alike = 0.8; /* a bound close to that of a single element is not reported again */
    bool passed;
    if (run_at(w, &c, passes, &passed) < 0 || !passed || !input_ddmin_bisect(w, run_at, &c, &passes, &fails))
        return false;
    if (w->between == 0 || fabs(fails) < alike * fabs(w->between))
        say_bound(w, &c, passes, fails);
    if (w->out->values[0] == '\0') {
        const struct clip clip = clip_at(&c, fails);
        if (!mix_format(&(struct mix){.of = &w->mixture, .clip = &clip}, w->out->values,
                        sizeof w->out->values))
            w->out->values[0] = '\0';
    }
    return true;
}

static bool try_tensor(struct input_ddmin *w, int t, struct range own, struct range other)
{
    const double most = fmax(fabs(other.least), fabs(other.greatest));
    const double own_most = fmax(fabs(own.least), fabs(own.greatest));
    if (!own.finite || !other.finite || own.least > own.greatest || other.least > other.greatest)
        return false; /* infinite values, or no element is used */
    return (own.least < other.least && try_bound(w, (struct clipping){t, BELOW}, other.least, own.least)) ||
           (own.greatest > other.greatest &&
            try_bound(w, (struct clipping){t, ABOVE}, other.greatest, own.greatest)) ||
           (own_most > most && try_bound(w, (struct clipping){t, BOTH}, most, own_most));
}

void input_ddmin_clip(struct input_ddmin *w, const struct narrow *n, const struct config *failure,
                      int content)
{
    struct range own[MOST_TENSORS], other[MOST_TENSORS];
    int tensor[MOST_TENSORS], tensors = 0;
    for (int i = 0; i < n->boxes; i++) {
        const int t = n->box[i].tensor;
        if ((i > 0 && n->box[i - 1].tensor == t) || dtype_is_whole(w->task->problem->tensors[t].dtype))
            continue;
        if (tensors == MOST_TENSORS) /* a failure that needs many tensors has no bound in one */
            return;
        own[tensors] = range_of(&w->mixture, true, t);
        other[tensors] = range_of(&w->mixture, false, t);
        tensor[tensors++] = t;
    }
    /* The judge assumes nothing about clipped data, and may allow more error. An infinite bound must still
     * fail, or a pass would mean nothing. */
    struct clipping none = {.tensor = tensors > 0 ? tensor[0] : 0, .side = BOTH};
    if (tensors == 0 || !input_ddmin_open(w, failure, content, failure, content) ||
        run_at(w, &none, INFINITY, NULL) != 1)
        return;
    for (int i = 0; i < tensors; i++)
        if (try_tensor(w, tensor[i], own[i], other[i]))
            return;
}
