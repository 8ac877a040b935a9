/* Finds properties that distinguish the elements of a minimal set. Trivial ones are not reported: the
 * greatest value in a row of one element, or a place if another would do as well. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "input_ddmin_internal.h"

void input_ddmin_say(struct input_ddmin *w, const char *format, ...)
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

/* --- a predicate on every element --- */

struct asked {
    const struct input_ddmin *w;
    const struct narrow *narrow;
    int tensor;
    int64_t element;
    double value; /* the failing value */
};
typedef bool holds(const struct asked *a);

static bool is_kept(const struct asked *a, int64_t element)
{
    for (int i = 0; i < a->narrow->boxes; i++)
        if (a->narrow->box[i].tensor == a->tensor && box_has(&a->w->mixture.own, &a->narrow->box[i], element))
            return true;
    return false;
}

/* The element's value in the failing blend. */
static double mixed_value(const struct asked *a, int64_t element)
{
    return mixture_value(&a->w->mixture, is_kept(a, element), a->tensor, element);
}

/* Returns whether the predicate holds on every kept element that differs; false if there is none. */
static bool all_hold(const struct input_ddmin *w, const struct narrow *n, holds *question)
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

/* The failing value of the first element. */
static double first_value(const struct input_ddmin *w, const struct narrow *n)
{
    const struct instance_tensor *tensor = &w->mixture.own.tensor[n->box[0].tensor];
    int64_t first = 0;
    for (int d = 0; d < tensor->rank; d++)
        first = first * tensor->dim[d] + n->box[0].low[d];
    return mixture_value(&w->mixture, true, n->box[0].tensor, first);
}

static bool is_first_value(const struct asked *a)
{
    const double value = first_value(a->w, a->narrow);
    return a->value == value || (isnan(a->value) && isnan(value));
}

/* Returns whether the value exceeds all others of its row (last dimension); sign -1: whether it is below
 * them. False for rows of one element. */
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

/* The greatest finite magnitude of one tensor in the passing draw. */
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

/* Reports the side if all failing values lie on one side of the passing values in their places. */
static void say_side(struct input_ddmin *w, const struct narrow *n)
{
    /* of the passing draw, of the failing one */
    double most[2] = {-INFINITY, -INFINITY}, least[2] = {INFINITY, INFINITY};
    for (int b = 0; b < n->boxes; b++) {
        const int t = n->box[b].tensor;
        const int64_t count = instance_tensor_count(&w->mixture.own.tensor[t]);
        for (int64_t i = 0; i < count; i++)
            for (int own = 0; own < 2; own++) {
                if (!box_has(&w->mixture.own, &n->box[b], i) || !mixture_differs(&w->mixture, t, i))
                    continue;
                const double value = mixture_value(&w->mixture, own, t, i);
                most[own] = fmax(most[own], value);
                least[own] = fmin(least[own], value);
            }
    }
    if (most[1] < 0 && least[0] >= 0)
        input_ddmin_say(w, "all failing values are negative, and no passing value in their places is");
    else if (least[1] > 0 && most[0] <= 0)
        input_ddmin_say(w, "all failing values are positive, and no passing value in their places is");
    else if (most[1] < least[0])
        input_ddmin_say(w,
                        "the failing values are at most %.3g, the passing ones in their places at least %.3g",
                        most[1], least[0]);
    else if (least[1] > most[0])
        input_ddmin_say(w,
                        "the failing values are at least %.3g, the passing ones in their places at most %.3g",
                        least[1], most[0]);
}

/* A byte that packs two numbers has no order. */
static bool is_packed(const struct input_ddmin *w, const struct narrow *n)
{
    return w->mixture.own.tensor[n->box[0].tensor].fill.kind == FILL_NIBBLES;
}

static void say_values(struct input_ddmin *w, const struct narrow *n)
{
    const bool several = w->out->elements > 1;
    const double first = first_value(w, n);
    const int t = n->box[0].tensor;
    const char *const name = w->task->problem->tensors[t].name;
    if (w->out->items == 0 && all_hold(w, n, is_first_value))
        input_ddmin_say(w, isnan(first) ? "all failing values are NaN" : "all failing values are %.4g",
                        first);
    if (is_packed(w, n)) {
        const int byte = (int)first;
        if (!several)
            input_ddmin_say(w, "nibbles %d (low) and %d (high)", byte & 15, byte >> 4);
        return;
    }
    if (all_hold(w, n, is_greatest))
        input_ddmin_say(w, "%sthe greatest of its row", several ? "each " : "");
    else if (all_hold(w, n, is_least))
        input_ddmin_say(w, "%sthe least of its row", several ? "each " : "");
    if (n->box[n->boxes - 1].tensor == t && all_hold(w, n, is_larger_than_all))
        input_ddmin_say(w, "larger in magnitude than every passing value of %s (%.3g at most)", name,
                        most_of(&w->mixture, t));
    if (several && n->box[n->boxes - 1].tensor == t && w->out->items == 0)
        say_side(w, n);
}

/* --- places --- */

/* Writes the name of dimension d, as in "[rows, cols]". */
static void name_dimension(const struct input_ddmin *w, int t, int d, char *name, size_t size)
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

/* Returns whether the box lies behind the last multiple of `tile` along dimension d, and at least one tile
 * before it. */
static bool lies_in_tail(const struct input_ddmin *w, const struct box *box, int d, int64_t tile)
{
    const int64_t dim = w->mixture.own.tensor[box->tensor].dim[d];
    return dim > tile && box->low[d] >= dim - dim % tile;
}

/* Reports the narrowest tile whose remainder along dimension d contains the box. */
static void say_tail(struct input_ddmin *w, const struct narrow *n, int d)
{
    enum { LEAST_TILE = 4, MOST_TILE = 4096 };
    char name[48];
    const int t = n->box[0].tensor;
    const int64_t dim = w->mixture.own.tensor[t].dim[d];
    for (int64_t tile = LEAST_TILE; tile <= MOST_TILE; tile *= 2)
        if (lies_in_tail(w, n->box, d, tile)) {
            name_dimension(w, t, d, name, sizeof name);
            input_ddmin_say(w, "in the last %lld of %lld elements along %s, which tiles of %lld leave over",
                            (long long)(dim % tile), (long long)dim, name, (long long)tile);
            return;
        }
}

/* --- the same values elsewhere, other values in place --- */

enum { MOST_SET = 16 };

static int run_with(struct input_ddmin *w, const struct set_element *set, int sets, bool *passes)
{
    const struct mix mix = {.of = &w->mixture, .set = set, .sets = sets};
    return input_ddmin_run(w, &mix, passes);
}

/* Lists the elements of the box, with their failing values; at most MOST_SET. */
static int list_set(const struct input_ddmin *w, const struct box *box, struct set_element *set)
{
    const int64_t count = instance_tensor_count(&w->mixture.own.tensor[box->tensor]);
    int sets = 0;
    for (int64_t i = 0; i < count && sets < MOST_SET; i++)
        if (box_has(&w->mixture.own, box, i))
            set[sets++] =
                (struct set_element){box->tensor, i, mixture_value(&w->mixture, true, box->tensor, i)};
    return sets;
}

/* Moves a box as far as possible along the last dimension that has room: to its begin or, from there, to its
 * end. Returns that dimension; -1: none has room. */
static int move_box(const struct input_ddmin *w, const struct box *box, struct box *moved)
{
    const struct instance_tensor *tensor = &w->mixture.own.tensor[box->tensor];
    int d = tensor->rank - 1;
    while (d >= 0 && box->high[d] - box->low[d] == tensor->dim[d])
        d--;
    *moved = *box;
    if (d >= 0) {
        moved->low[d] = box->low[d] > 0 ? 0 : tensor->dim[d] - (box->high[d] - box->low[d]);
        moved->high[d] = moved->low[d] + (box->high[d] - box->low[d]);
    }
    return d;
}

/* Runs the failing values at another place. A tail is reported only if they pass there: otherwise the place
 * is a coincidence. */
static void try_elsewhere(struct input_ddmin *w, const struct narrow *n, const struct set_element *set,
                          int sets)
{
    struct set_element moved_set[MOST_SET];
    struct box moved;
    char text[120];
    bool passes;
    const int d = move_box(w, n->box, &moved);
    if (d < 0)
        return;
    list_set(w, &moved, moved_set);
    for (int i = 0; i < sets; i++) {
        if (!mixture_is_used(&w->mixture, moved_set[i].tensor, moved_set[i].element))
            return;
        moved_set[i].value = set[i].value;
    }
    const int fails = run_with(w, moved_set, sets, &passes);
    boxes_format(&w->mixture, &moved, 1, text, sizeof text);
    if (passes)
        say_tail(w, n, d);
    if (passes || fails == 1)
        input_ddmin_say(w, "the same value%s at %s %s%s", sets > 1 ? "s" : "", text, passes ? "pass" : "fail",
                        sets > 1 ? (passes ? "" : ", too")
                        : passes ? "es"
                                 : "s, too");
}

static int run_set(struct input_ddmin *w, void *data, double value, bool *passes)
{
    struct set_element *const set = data;
    set->value = value;
    return run_with(w, set, 1, passes);
}

/* Bisects between the passing and the failing value of one element. */
static void try_between(struct input_ddmin *w, struct set_element set, double passes)
{
    double fails = set.value;
    if (isfinite(fails) && isfinite(passes) && !dtype_is_whole(w->task->problem->tensors[set.tensor].dtype) &&
        input_ddmin_bisect(w, run_set, &set, &passes, &fails)) {
        w->between = fails;
        input_ddmin_say(w, "at the failing element the value %.3g still passes, %.3g fails", passes, fails);
    }
}

/* The judge assumes nothing about a blend with set values, and may allow more error. The failing values must
 * still fail in one, or a pass elsewhere would mean nothing. */
static void try_others(struct input_ddmin *w, const struct narrow *n)
{
    struct set_element set[MOST_SET];
    if (n->boxes != 1 || box_count(&w->mixture.own, n->box) > MOST_SET)
        return;
    const int sets = list_set(w, n->box, set);
    for (int i = 0; i < sets; i++)
        if (!mixture_is_used(&w->mixture, set[i].tensor, set[i].element))
            return;
    if (run_with(w, set, sets, NULL) != 1)
        return;
    try_elsewhere(w, n, set, sets);
    if (sets == 1)
        try_between(w, set[0], mixture_value(&w->mixture, false, set[0].tensor, set[0].element));
}

void input_ddmin_special(struct input_ddmin *w, const struct narrow *n)
{
    say_values(w, n);
    try_others(w, n);
}
