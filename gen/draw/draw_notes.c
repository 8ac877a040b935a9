/* Finds by trial what the caps cut off a contract, and writes notes about it. */
#include "draw_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Raises one other axis until the constraints hold. Limits such as k <= n require another axis to be about as
 * large. It is multiplied by the least sufficient power of two, or set to its greatest value. */
static bool raise_another(const struct space *space, struct config *config, int axis)
{
    for (int i = 0; space->problem->axes[i].name; i++) {
        const struct domain *domain = &space->domain[i];
        struct config raised = *config;
        if (i == axis || !domain_is_number(space, i) || domain->value_count > 0)
            continue;
        while (raised.value[i] < domain->high) {
            raised.value[i] = raised.value[i] > domain->high / 2 ? domain->high : 2 * raised.value[i];
            if (draw_in_constraints(space, &raised)) {
                *config = raised;
                return true;
            }
        }
    }
    return false;
}

/* Makes the configuration with every axis except one at its least, as far as the constraints permit. Returns
 * false if no such configuration was found. */
static bool least_but(const struct space *space, int axis, int64_t value, struct config *config)
{
    draw_least(space, config);
    config->value[axis] = value;
    return domain_contains(&space->domain[axis], value) &&
           (draw_repair(space, config, axis) != REPAIR_FAILED || raise_another(space, config, axis));
}

/* Returns the largest value in [low, value] that runs, searching a few steps below `value`; -1 if there is
 * none. Constraints such as heads % kv_heads == 0 leave gaps. Apart from those, a value one step below one
 * above the caps exceeds them, too. */
static int64_t runs_at_or_below(struct drawing *drawing, int axis, int64_t value, int64_t low)
{
    enum { HOLE = 64, LEGAL_TRIED = 3 };
    int tried = 0;
    for (int64_t v = value; v >= low && v > value - HOLE && tried < LEGAL_TRIED; v--) {
        struct config config;
        struct cost cost;
        if (!least_but(drawing->space, axis, v, &config))
            continue;
        if (draw_cost(&drawing->costing, &config, &cost))
            return v;
        tried++;
    }
    return -1;
}

static int64_t largest_listed(struct drawing *drawing, int axis)
{
    const struct domain *domain = &drawing->space->domain[axis];
    for (int i = domain->value_count - 1; i >= 0; i--)
        if (runs_at_or_below(drawing, axis, domain->value[i], domain->value[i]) >= 0)
            return domain->value[i];
    return -1;
}

static int64_t largest_in_range(struct drawing *drawing, int axis)
{
    const struct domain *domain = &drawing->space->domain[axis];
    int64_t good = domain->low - 1, bad = domain->high;
    int64_t top = runs_at_or_below(drawing, axis, bad, domain->low);
    if (top >= 0)
        return top;
    while (bad - good > 1) { /* bisection: cost grows with every axis */
        int64_t middle = good + (bad - good) / 2;
        int64_t found = runs_at_or_below(drawing, axis, middle, good + 1);
        if (found < 0)
            bad = middle;
        else
            good = found;
    }
    return good >= domain->low ? good : -1;
}

int64_t draw_axis_largest(struct drawing *drawing, int axis)
{
    if (!drawing->largest_known[axis]) {
        drawing->largest[axis] = drawing->space->domain[axis].value_count > 0
                                     ? largest_listed(drawing, axis)
                                     : largest_in_range(drawing, axis);
        drawing->largest_known[axis] = true;
    }
    return drawing->largest[axis];
}

/* --- text --- */

__attribute__((format(printf, 2, 3))) static void say(struct draw_notes *notes, const char *format, ...)
{
    const size_t used = strlen(notes->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(notes->text + used, sizeof notes->text - used, format, arguments);
    va_end(arguments);
}

static void say_quantity(struct draw_notes *notes, double quantity, const char *unit)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P"};
    int i = 0;
    if (quantity >= HUGE_COST) {
        say(notes, "any number of %ss", unit);
        return;
    }
    for (; quantity >= 1000 && i < 5; i++)
        quantity /= 1000;
    say(notes, "%.4g %s%s", quantity, prefix[i], unit);
}

static void say_axis(struct drawing *drawing, int axis, struct draw_notes *notes)
{
    struct drawing uncapped = *drawing;
    uncapped.costing.cap = (struct cost){HUGE_COST, HUGE_COST};
    uncapped.largest_known[axis] = false;
    const int64_t legal = draw_axis_largest(&uncapped, axis);
    const int64_t runs = draw_axis_largest(drawing, axis);
    const char *name = drawing->space->problem->axes[axis].name;
    if (runs >= legal)
        return; /* a constraint may keep an axis below its greatest value: the caps cut nothing */
    if (runs < 0)
        say(notes, "\n%s: no value runs, even with every other axis at its least", name);
    else
        say(notes, "\n%s: cut at %lld of %lld, with every other axis at its least", name, (long long)runs,
            (long long)legal);
}

/* Names the tensors whose state is `big`, if there are any. */
static void say_big(const struct drawing *drawing, struct draw_notes *notes, enum big big, const char *what)
{
    const struct tensor *tensors = drawing->space->problem->tensors;
    bool some = false;
    for (int t = 0; tensors[t].name; t++)
        if (drawing->big[t] == big) {
            say(notes, "%s%s", some ? ", " : "\ntensors: ", tensors[t].name);
            some = true;
        }
    if (some)
        say(notes, " %s", what);
}

static void say_coverage(const struct coverage *coverage, struct draw_notes *notes)
{
    const char *const tuples = coverage->strength == 3 ? "triples" : "pairs";
    say(notes, "\n%s covered by the unseen set: %lld of %lld %s of values or size classes of axes", tuples,
        (long long)coverage->covered, (long long)coverage->possible, tuples);
    if (coverage->caps)
        say(notes, ", %lld need more memory or work", (long long)coverage->caps);
    if (coverage->contract)
        say(notes, ", %lld lie outside the contract", (long long)coverage->contract);
}

static void say_lists(struct draw_notes *notes, const struct coverage *c, const char *what, bool scouts)
{
    const int64_t all = c->possible + c->caps + c->contract;
    if (all == 0)
        return;
    say(notes, "\n%s: %lld of %lld possible pairs occur in the unseen set", what, (long long)c->covered,
        (long long)c->possible);
    if (c->contract)
        say(notes, "; %lld more contradict the contract", (long long)c->contract);
    if (c->caps)
        say(notes, "; %lld more need %s", (long long)c->caps,
            scouts ? "more than a scout's size" : "more memory or work than a configuration may take");
}

void draw_note_lists(const struct lists_coverage *lists, struct draw_notes *notes)
{
    notes->lists = *lists;
    say_lists(notes, &lists->pairs, "choices and list values", lists->scouts);
    say_lists(notes, &lists->classes, "a choice or list value with a tile class of an extent", lists->scouts);
}

void draw_note(struct drawing *drawing, struct draw_notes *notes)
{
    notes->text[0] = '\0';
    notes->coverage = drawing->coverage;
    say(notes, "one configuration may have at most ");
    say_quantity(notes, drawing->costing.cap.bytes, "byte");
    say(notes, " of tensors and ");
    say_quantity(notes, drawing->costing.cap.flops, "flop");
    for (int i = 0; drawing->space->problem->axes[i].name; i++)
        if (domain_is_number(drawing->space, i))
            say_axis(drawing, i, notes);
    say_big(drawing, notes, BIG_ELEMENTS, "beyond 2^31 elements");
    say_big(drawing, notes, BIG_BYTES, "beyond 2^31 bytes");
    say_big(drawing, notes, BIG_EXCLUDED, "never beyond 2^31 bytes, for the caps");
    say_coverage(&drawing->coverage, notes);
    if (drawing->dear > 0)
        say(notes, "\n%d of %d tried neighbours of the seen set were above the caps and replaced",
            drawing->dear, drawing->neighbours);
    if (drawing->frozen_dropped > 0)
        say(notes, "\n%d frozen failures left out: above the caps, outside the contract or seen",
            drawing->frozen_dropped);
}
