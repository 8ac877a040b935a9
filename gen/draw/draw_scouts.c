/* Draws scouts: many small configurations, in addition to a set of few large ones. A kernel may branch on a
 * remainder, a choice, an input class, or two of these. Small tensors show most of that as well as large
 * ones, for a hundredth of the work. */
#include "covering.h"

#include <stdio.h>
#include <stdlib.h>

int effort_scouts(enum effort effort)
{
    static const int count[] = {[EFFORT_QUICK] = DRAW_SCOUTS,
                                [EFFORT_STANDARD] = 750,
                                [EFFORT_DEEP] = 1875,
                                [EFFORT_REWARD] = DRAW_SCOUTS};
    return count[effort];
}

int effort_scouts_few(void)
{
    return 48;
}

int drawn_scouts(const struct drawn_list *list)
{
    int count = 0;
    for (int i = 0; i < list->count; i++)
        count += list->item[i].scout;
    return count;
}

/* The limits of a scout are lower if the machine allows a configuration less than that. */
struct draw_caps draw_scout_caps(const struct draw_caps *caps)
{
    struct draw_caps small = {.bytes = DRAW_SCOUT_BYTES, .flops = DRAW_SCOUT_FLOPS};
    if (caps && caps->bytes > 0 && caps->bytes < small.bytes)
        small.bytes = caps->bytes;
    if (caps && caps->flops > 0 && caps->flops < small.flops)
        small.flops = caps->flops;
    return small;
}

/* Registers the seen configurations and the draws so far, with which new points are compared. */
static int know_others(struct drawing *drawing)
{
    const struct config_list *const seen = drawing->seen;
    const struct drawn_list *const out = drawing->out;
    drawing->novelty = novelty_open(drawing->space, seen->count > 0 ? seen : NULL);
    if (!drawing->novelty ||
        point_set_open(&drawing->used, (size_t)seen->count + (size_t)drawing->count) != 0)
        return -1;
    for (int i = 0; i < seen->count; i++)
        point_set_add(&drawing->used, &seen->item[i]);
    for (int i = 0; i < out->count; i++) {
        point_set_add(&drawing->used, &out->item[i].config);
        novelty_mark(drawing->novelty, &out->item[i].config);
    }
    return 0;
}

/* --- long scouts, and those that resemble a seen configuration --- */

/* One scout in eight has an axis several tiles long; its other axes are as small as that requires. One in
 * sixteen has the shape of a seen configuration except for its greatest axes. Input classes take turns, for
 * the latter the sensitive ones. A mistake in merging the results of tiles shows only beyond one tile, in
 * rows with infinities, NaN or exact sums. A fast path may require the published window, stride and group
 * size together, which random draws hardly ever have. */
enum { ONE_LONG_IN = 8, ONE_ALIKE_IN = 16, LONG = 1024, LONGEST = 8192, ATTEMPTS = 20 };

static int64_t class_in_turn(const struct space *space, int turn)
{
    const struct domain *const domain = &space->domain[problem_input_axis(space->problem)];
    return domain->value[turn % domain->value_count];
}

/* Returns one of the classes that reveal a dropped element at any size, if the contract has one. */
static int64_t sharp_class_in_turn(const struct space *space, int turn)
{
    const struct domain *const domain = &space->domain[problem_input_axis(space->problem)];
    int64_t sharp[SPACE_MAX_VALUES];
    int count = 0;
    for (int i = 0; i < domain->value_count; i++)
        if (space->problem->classes[domain->value[i]].discriminating > 0)
            sharp[count++] = domain->value[i];
    return count > 0 ? sharp[turn % count] : class_in_turn(space, turn);
}

static bool accept_scout(struct drawing *drawing, struct config *config, int kept, struct pcg *stream)
{
    struct cost cost;
    if (draw_repair(drawing->space, config, kept) == REPAIR_FAILED ||
        !draw_shrink_to_fit(drawing, config, kept, kept < 0 ? 0 : 1u << kept, kept >= 0, stream, &cost) ||
        !draw_is_new(drawing, config))
        return false;
    draw_accept(drawing, config, &cost, "random");
    return true;
}

/* Draws a value beyond LONG, up to LONGEST; each octave is half as likely as the one before. Returns 0 if the
 * value is not in the contract. */
static int64_t long_value(const struct domain *domain, struct pcg *stream)
{
    const int64_t most = domain->high > LONGEST ? LONGEST : domain->high;
    int64_t low = LONG;
    while (2 * low < most && pcg_below(stream, 2))
        low *= 2;
    const int64_t high = 2 * low < most ? 2 * low : most;
    const int64_t value = low + 1 + (int64_t)pcg_below(stream, (uint64_t)(high - low));
    return domain_contains(domain, value) ? value : 0;
}

static bool draw_long(struct drawing *drawing, int turn, struct pcg *stream)
{
    const struct space *const space = drawing->space;
    int axes[PROBLEM_MAX_AXES], count = 0;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (domain_is_number(space, i) && space->domain[i].value_count == 0 && space->domain[i].high > LONG)
            axes[count++] = i;
    for (int attempt = 0; count > 0 && attempt < ATTEMPTS; attempt++) {
        struct config config;
        const int axis = axes[(turn + attempt) % count];
        draw_random_values(space, &config, stream);
        config.value[axis] = long_value(&space->domain[axis], stream);
        config.value[problem_input_axis(space->problem)] = class_in_turn(space, turn / count);
        if (config.value[axis] > 0 && accept_scout(drawing, &config, axis, stream))
            return true;
    }
    return false;
}

static bool draw_alike(struct drawing *drawing, int turn, struct pcg *stream)
{
    const struct space *const space = drawing->space;
    for (int attempt = 0; drawing->seen->count > 0 && attempt < ATTEMPTS; attempt++) {
        struct config config = drawing->seen->item[(turn + attempt) % drawing->seen->count];
        config.seed = draw_config_seed(stream);
        config.value[problem_input_axis(space->problem)] =
            sharp_class_in_turn(space, turn / drawing->seen->count);
        if (accept_scout(drawing, &config, -1, stream))
            return true;
    }
    return false;
}

/* --- pairs of listed values, and listed values with classes of extents --- */

/* Each pair of listed values is drawn this often: in a single point, something else may hide what the pair
 * would show. */
enum { ROUNDS = 2 };

/* Draws every pair of choices or list values that fits a scout. After that, two kinds take turns: the pairs
 * once more, and each listed value with every tile class of every extent. One in four of these scouts is
 * random, since kernels branch on more than classes. If the pairs were drawn twice first, contracts with many
 * lists would have hardly a scout left for the classes. */
static bool draw_listed(struct covering *covering, int number)
{
    if (!covering_has_lists(covering) && covering->rounds < ROUNDS)
        covering_again(covering);
    bool done = covering->rounds > 1 && number % 4 == 2;
    covering->classes = covering->rounds > 1 && (number % 4 == 1 || !covering_has_lists(covering));
    while (!done && !covering->drawing->no_memory)
        if (covering_draw(covering, &done))
            return true;
    return false;
}

/* Opens a cover whose tile classes are those of extents that scouts can have. */
static void open_cover(struct drawing *drawing, struct cover *cover)
{
    int64_t largest[PROBLEM_MAX_AXES] = {0};
    for (int i = 0; drawing->space->problem->axes[i].name; i++)
        largest[i] = domain_is_number(drawing->space, i) ? draw_axis_largest(drawing, i) : 0;
    cover_open(cover, drawing->space, drawing->seen, largest);
}

/* --- all of them --- */

struct scouting {
    struct drawing drawing;
    struct covering covering;
    struct tuples tuples;
    struct cover cover;
    struct pcg *random, *of_long, *alike;
    int first; /* input class of the first long scout */
};

/* Draws a random scout with its lists unchanged. Shrinking takes the greatest axis first, so that a padding
 * of 12 would hardly be left beside small extents. */
static bool draw_unshrunk(struct scouting *s)
{
    s->drawing.held = covering_listed(&s->covering);
    const bool drawn = draw_new_random(&s->drawing, s->random);
    s->drawing.held = 0;
    return drawn || draw_new_random(&s->drawing, s->random);
}

/* Draws the kind of scout that its number determines or, if there is none, a random one. */
static bool draw_scout(struct scouting *s, int number)
{
    const struct drawn_list *const out = s->drawing.out;
    const bool drawn =
        (number % ONE_LONG_IN == 0 && draw_long(&s->drawing, s->first + number / ONE_LONG_IN, s->of_long)) ||
        (number % ONE_ALIKE_IN == 3 && draw_alike(&s->drawing, s->first + number / ONE_ALIKE_IN, s->alike)) ||
        draw_listed(&s->covering, number) || draw_unshrunk(s);
    if (drawn)
        tuples_mark(&s->tuples, &out->item[out->count - 1].config);
    return drawn;
}

static bool start(struct scouting *s)
{
    struct drawing *const drawing = &s->drawing;
    s->random = draw_stream(drawing, "scouts");
    s->of_long = draw_stream(drawing, "long scouts");
    s->alike = draw_stream(drawing, "scouts like seen ones");
    if (!s->random || !s->of_long || !s->alike || know_others(drawing) != 0)
        return false;
    s->first = (int)pcg_below(s->of_long, 1000);
    open_cover(drawing, &s->cover);
    return tuples_open(&s->tuples, &s->cover, 2) == 0 &&
           covering_open(&s->covering, drawing, &s->tuples, COVER_LISTS, "scouts of pairs") == 0;
}

int draw_scouts(struct drawn_list *list, const struct space *space, const struct config_list *seen, int count,
                uint64_t seed, const struct draw_caps *caps)
{
    /* small points may be rare, so that a single failed try says little */
    enum { TRIES = 500, MOST_IN_VAIN = 8 };
    const struct draw_caps small = draw_scout_caps(caps);
    struct scouting *const s = calloc(1, sizeof *s);
    if (!s)
        return -1;
    s->drawing = (struct drawing){.mix = &draw_usual,
                                  .space = space,
                                  .seen = seen,
                                  .out = list,
                                  .seed = seed,
                                  .count = list->count + count,
                                  .tries = TRIES,
                                  .square = draw_has_squares(space),
                                  .costing = costing_of(space, &small),
                                  .total = {HUGE_COST, HUGE_COST},
                                  .budget = {1, 1}};
    const int before = list->count;
    const bool made = count <= 0 || start(s);
    for (int in_vain = 0; made && list->count < s->drawing.count && !s->drawing.no_memory;) {
        if (!draw_scout(s, list->count - before)) {
            if (++in_vain == MOST_IN_VAIN)
                break;
            continue;
        }
        struct drawn *const drawn = &list->item[list->count - 1];
        drawn->scout = true;
        snprintf(drawn->why, sizeof drawn->why, "scout");
    }
    const bool whole = made && !s->drawing.no_memory && !s->drawing.costing.no_memory;
    pcg_free(s->random), pcg_free(s->of_long), pcg_free(s->alike);
    covering_close(&s->covering);
    tuples_close(&s->tuples);
    novelty_close(s->drawing.novelty);
    point_set_close(&s->drawing.used);
    free(s);
    return whole ? 0 : -1;
}
