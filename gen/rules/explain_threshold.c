/* Chooses thresholds: the runs leave a gap in which a threshold may lie, and some values in it are likelier
 * than others. */
#include "explain_internal.h"

enum { MOST_CANDIDATES = 8 + SPACE_MAX_TILES + MOST_VALUES };

struct gap {
    int64_t low, high; /* every threshold in low..high fits all trials */
};

/* Finds the gap. A rule's truth is monotone in the truth of each predicate, so a trial restricts the
 * threshold if its outcome depends on this predicate. Returns false if no trial needs the predicate to be
 * false, or none needs it to be true. */
static bool find_gap(const struct explainer *ex, const struct guess *guess, int at, bool forgive,
                     struct gap *gap)
{
    const struct atom *atom = &guess->atom[at];
    *gap = (struct gap){INT64_MIN, INT64_MAX};
    for (int t = 0; t < ex->trials; t++) {
        const int64_t *value = trial_values(ex, t), v = value[atom->quantity];
        const bool fails = bit_of(ex->fails, t);
        if ((forgive && !bit_of(ex->unpublished, t)) || bit_of(ex->lucky, t) ||
            !guess_holds_if(ex, guess, value, at, true) || guess_holds_if(ex, guess, value, at, false))
            continue;
        if (fails != atom->negated) { /* v > threshold must hold */
            if (v - 1 < gap->high)
                gap->high = v - 1;
        } else if (v > gap->low) {
            gap->low = v;
        }
    }
    return gap->low != INT64_MIN && gap->high != INT64_MAX && gap->low <= gap->high;
}

static void add(int64_t *list, int *count, const struct gap *gap, int64_t value)
{
    if (value < gap->low || value > gap->high || *count == MOST_CANDIDATES)
        return;
    for (int i = 0; i < *count; i++)
        if (list[i] == value)
            return;
    list[(*count)++] = value;
}

/* Returns the middle of the gap: the geometric mean in a wide gap, since sizes are spread over powers of
 * two. */
static int64_t middle(const struct gap *gap)
{
    int64_t low = gap->low > 0 ? gap->low : 1, high = gap->high;
    if (high / 4 <= low)
        return gap->low + (gap->high - gap->low) / 2;
    while (high / 4 > low) {
        low *= 2;
        high /= 2;
    }
    return low + (high - low) / 2;
}

static int list_candidates(const struct explainer *ex, const struct atom *atom, const struct gap *gap,
                           int64_t *list)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    const struct domain *domain = &ex->space->domain[quantity->axis[0]];
    int count = 0;
    add(list, &count, gap, roundest(gap->low, gap->high));
    add(list, &count, gap, roundest(gap->low + 1, gap->high + 1) - 1);
    for (int i = 0; quantity_is_axis(quantity) && i < domain->tile_count; i++) {
        add(list, &count, gap, domain->tile[i]);
        add(list, &count, gap, domain->tile[i] - 1);
    }
    for (int i = 0; i < quantity->seen_count; i++)
        add(list, &count, gap, quantity->seen[i]);
    add(list, &count, gap, gap->low);
    add(list, &count, gap, gap->high);
    add(list, &count, gap, middle(gap));
    return count;
}

static void set_threshold(const struct explainer *ex, struct guess *guess, int at, int64_t threshold)
{
    struct atom *atom = &guess->atom[at];
    guess->cost -= atom->cost;
    atom->a = threshold;
    atom->cost = atom_cost(atom, &ex->quantity[atom->quantity], ex->space);
    guess->cost += atom->cost;
}

/* Sets the likeliest threshold in the gap. Returns false if the predicate has no effect. */
static bool settle(const struct explainer *ex, struct guess *guess, int at, bool forgive)
{
    int64_t list[MOST_CANDIDATES];
    struct guess best = *guess;
    struct gap gap;
    if (!find_gap(ex, guess, at, forgive, &gap))
        return false;
    best.cost = HUGE_COST;
    for (int i = 0, count = list_candidates(ex, &guess->atom[at], &gap, list); i < count; i++) {
        struct guess varied = *guess;
        set_threshold(ex, &varied, at, list[i]);
        if (varied.cost < best.cost)
            best = varied;
    }
    *guess = best;
    return true;
}

void vary_thresholds(const struct explainer *ex, const struct guess *guess, bool forgive, struct guesses *out)
{
    struct guess settled = *guess;
    for (int at = 0; at < guess->count; at++)
        if (guess->atom[at].kind == ATOM_ABOVE && !settle(ex, &settled, at, forgive))
            return;
    guesses_add(out, &settled);
    for (int at = 0; at < guess->count; at++) {
        int64_t list[MOST_CANDIDATES];
        struct gap gap;
        if (guess->atom[at].kind != ATOM_ABOVE || !find_gap(ex, &settled, at, forgive, &gap))
            continue;
        for (int i = 0, count = list_candidates(ex, &guess->atom[at], &gap, list); i < count; i++) {
            struct guess varied = settled;
            set_threshold(ex, &varied, at, list[i]);
            guesses_add(out, &varied);
        }
    }
}
