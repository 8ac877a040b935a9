/* What sets the elements of a least set apart. Nothing is said that holds by itself: of a row of one element that it is the
 * greatest, of a place that another one would have done as well. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "which_internal.h"

static __attribute__((format(printf, 2, 3))) void say(struct which *w, const char *format, ...)
{
    char *text = w->out->special;
    const size_t used = strlen(text), size = sizeof w->out->special - used;
    va_list arguments;
    snprintf(text + used, size, "%s", used ? "; " : "");
    const size_t comma = strlen(text + used);
    va_start(arguments, format);
    vsnprintf(text + used + comma, size - comma, format, arguments);
    va_end(arguments);
}

/* --- a question to every element --- */

struct asked {
    const struct which *w;
    const struct narrow *narrow;
    int tensor;
    int64_t element;
    double value; /* that fails */
};
typedef bool holds(const struct asked *a);

static bool is_kept(const struct asked *a, int64_t element)
{
    for (int i = 0; i < a->narrow->boxes; i++)
        if (a->narrow->box[i].tensor == a->tensor && box_has(&a->w->mixture.own, &a->narrow->box[i], element))
            return true;
    return false;
}

/* Of the mixture that fails. */
static double mixed_value(const struct asked *a, int64_t element)
{
    return mixture_value(&a->w->mixture, is_kept(a, element), a->tensor, element);
}

/* Of each element that is kept and differs; false where there is none. */
static bool all_hold(const struct which *w, const struct narrow *n, holds *question)
{
    bool any = false;
    for (int b = 0; b < n->boxes; b++) {
        const int t = n->box[b].tensor;
        const int64_t count = instance_tensor_count(&w->mixture.own.tensor[t]);
        for (int64_t i = 0; i < count; i++) {
            const struct asked a = {w, n, t, i, mixture_value(&w->mixture, true, t, i)};
            if (!box_has(&w->mixture.own, &n->box[b], i) || !mixture_differs(&w->mixture, t, i))
                continue;
            if (!question(&a))
                return false;
            any = true;
        }
    }
    return any;
}

/* --- values --- */

static bool is_nan(const struct asked *a)
{
    return isnan(a->value);
}

static bool is_infinite(const struct asked *a)
{
    return isinf(a->value);
}

/* Of its row, the last dimension, beyond all others by `sign`. */
static bool is_extreme(const struct asked *a, double sign)
{
    const int64_t width = instance_tensor_width(&a->w->mixture.own.tensor[a->tensor]);
    const int64_t first = a->element - a->element % width;
    for (int64_t i = first; i < first + width; i++)
        if (i != a->element && !(sign * a->value > sign * mixed_value(a, i)))
            return false;
    return width > 1;
}

static bool is_greatest(const struct asked *a)
{
    return is_extreme(a, 1);
}

static bool is_least(const struct asked *a)
{
    return is_extreme(a, -1);
}

/* The greatest magnitude that passes, of one tensor. */
static double most_of(const struct mixture *m, int t)
{
    const int64_t count = instance_tensor_count(&m->own.tensor[t]);
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        const double size = fabs(mixture_value(m, false, t, i));
        if (isfinite(size))
            most = fmax(most, size);
    }
    return most;
}

static bool is_larger_than_all(const struct asked *a)
{
    return isfinite(a->value) && instance_tensor_count(&a->w->mixture.own.tensor[a->tensor]) > 1 &&
           fabs(a->value) > most_of(&a->w->mixture, a->tensor);
}

static void say_values(struct which *w, const struct narrow *n)
{
    const bool several = w->out->elements > 1;
    const int t = n->box[0].tensor;
    const char *const name = w->task->problem->tensors[t].name;
    if (several && all_hold(w, n, is_nan))
        say(w, "all of them NaN");
    else if (several && all_hold(w, n, is_infinite))
        say(w, "all of them infinite");
    if (all_hold(w, n, is_greatest))
        say(w, "%sthe greatest of its row", several ? "each " : "");
    else if (all_hold(w, n, is_least))
        say(w, "%sthe least of its row", several ? "each " : "");
    if (n->box[n->boxes - 1].tensor == t && all_hold(w, n, is_larger_than_all))
        say(w, "larger in magnitude than all of %s that passes (%.3g at most)", name,
            most_of(&w->mixture, t));
}

/* --- places --- */

/* "[rows, cols]": the name of dimension d. */
static void name_dimension(const struct which *w, int t, int d, char *name, size_t size)
{
    const char *at = w->task->problem->tensors[t].shape;
    at = at ? at + (*at == '[') : "";
    for (int i = 0; i < d && *at; i++) {
        at += strcspn(at, ",");
        at += strspn(at, ", ");
    }
    const size_t length = strcspn(at, ",]");
    if (length > 0)
        snprintf(name, size, "%.*s", (int)length, at);
    else
        snprintf(name, size, "dimension %d", d);
}

/* Do all boxes lie behind the last multiple of `tile` along dimension d, and something before it? */
static bool lie_in_tail(const struct which *w, const struct narrow *n, int d, int64_t tile)
{
    for (int i = 0; i < n->boxes; i++) {
        const struct instance_tensor *tensor = &w->mixture.own.tensor[n->box[i].tensor];
        const int64_t dim = tensor->dim[d];
        if (n->box[i].tensor != n->box[0].tensor || dim <= tile || n->box[i].low[d] < dim - dim % tile)
            return false;
    }
    return true;
}

/* The narrowest tile that it may be the rest of. */
static void say_tail(struct which *w, const struct narrow *n)
{
    enum { LEAST_TILE = 4, MOST_TILE = 4096 };
    char name[48];
    const int t = n->box[0].tensor;
    const struct instance_tensor *tensor = &w->mixture.own.tensor[t];
    for (int d = tensor->rank - 1; d >= 0; d--)
        for (int64_t tile = LEAST_TILE; tile <= MOST_TILE; tile *= 2)
            if (lie_in_tail(w, n, d, tile)) {
                name_dimension(w, t, d, name, sizeof name);
                say(w, "among the last %s %% %lld = %lld of %lld along %s", name, (long long)tile,
                    (long long)(tensor->dim[d] % tile), (long long)tensor->dim[d], name);
                return;
            }
}

/* --- a value elsewhere, another value there --- */

static int run_with(struct which *w, int t, int64_t element, double value, bool *passes)
{
    const struct set_element set = {t, element, value};
    const struct mix mix = {.of = &w->mixture, .set = &set, .sets = 1};
    return which_run(w, &mix, passes);
}

/* Another place of its row, or where rows have one element, of the tensor: the first, or the last. */
static int64_t other_place(const struct instance_tensor *tensor, int64_t element)
{
    const int64_t all = instance_tensor_count(tensor), width = instance_tensor_width(tensor);
    const int64_t length = width > 1 ? width : all, first = element - element % length;
    return element != first ? first : first + length - 1;
}

/* Is it the place? Only then a tail is more than where it happens to be. */
static void try_elsewhere(struct which *w, const struct narrow *n, int t, int64_t element, double value)
{
    const int64_t place = other_place(&w->mixture.own.tensor[t], element);
    char text[80];
    bool passes;
    if (place == element || !mixture_is_used(&w->mixture, t, place))
        return;
    const int fails = run_with(w, t, place, value, &passes);
    const struct box box = box_of_element(&w->mixture.own, t, place);
    boxes_format(&w->mixture, &box, 1, text, sizeof text);
    if (passes)
        say_tail(w, n);
    if (passes || fails == 1)
        say(w, "the same value at %s %s", text, passes ? "passes" : "fails, too");
}

/* From which value on, between that which passes and that which fails: by powers where they are far apart. */
static void try_between(struct which *w, int t, int64_t element, double fails, double passes)
{
    enum { STEPS = 6 };
    static const double far = 16, near = 0.02;
    const double from = passes;
    if (!isfinite(fails) || !isfinite(passes) || mixture_is_whole(w->task->problem->tensors[t].dtype))
        return;
    for (int i = 0; i < STEPS && fabs(fails - passes) > near * fabs(fails); i++) {
        const bool by_powers =
            fails * passes > 0 && (fabs(fails / passes) > far || fabs(passes / fails) > far);
        const double middle =
            by_powers ? copysign(sqrt(fabs(fails)) * sqrt(fabs(passes)), fails) : fails / 2 + passes / 2;
        bool passed;
        const int failed = run_with(w, t, element, middle, &passed);
        if (failed != 1 && !passed)
            break;
        if (passed)
            passes = middle;
        else
            fails = middle;
    }
    if (passes != from)
        say(w, "%.3g there still passes, %.3g fails", passes, fails);
}

/* In a mixture of which nothing is promised the failure must show as well, else what passes there says nothing. */
static void try_one(struct which *w, const struct narrow *n)
{
    const int t = n->box[0].tensor;
    const int64_t count = instance_tensor_count(&w->mixture.own.tensor[t]);
    int64_t element = 0;
    while (element < count &&
           !(box_has(&w->mixture.own, &n->box[0], element) && mixture_differs(&w->mixture, t, element)))
        element++;
    if (element == count)
        return;
    const double value = mixture_value(&w->mixture, true, t, element);
    if (run_with(w, t, element, value, NULL) != 1)
        return;
    try_elsewhere(w, n, t, element, value);
    try_between(w, t, element, value, mixture_value(&w->mixture, false, t, element));
}

void which_special(struct which *w, const struct narrow *n)
{
    say_values(w, n);
    if (w->out->elements == 1)
        try_one(w, n);
    else
        say_tail(w, n);
}
