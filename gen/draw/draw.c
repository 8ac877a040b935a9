#include "draw_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int effort_count(enum effort effort)
{
    static const int count[] = {
        [EFFORT_QUICK] = 35, [EFFORT_STANDARD] = 300, [EFFORT_DEEP] = 1500, [EFFORT_REWARD] = 2};
    return count[effort];
}

void drawn_list_clear(struct drawn_list *list)
{
    free(list->item);
    *list = (struct drawn_list){0};
}

/* Copies `seen` into *out. Lines without a seed get one from the stream "PROBLEM/WHAT". */
static int give_seeds(struct drawn_list *out, const struct config_list *seen, const char *what,
                      const char *why, uint64_t seed)
{
    char purpose[96];
    *out = (struct drawn_list){0};
    if (seen->count == 0)
        return 0;
    snprintf(purpose, sizeof purpose, "%s/%s", seen->item[0].problem->name, what);
    struct pcg *stream = pcg_new(seed, purpose);
    out->item = calloc((size_t)seen->count, sizeof *out->item);
    if (!stream || !out->item) {
        pcg_free(stream);
        drawn_list_clear(out);
        return -1;
    }
    out->count = out->capacity = seen->count;
    for (int i = 0; i < seen->count; i++) {
        const uint64_t fresh = draw_config_seed(stream);
        out->item[i].config = seen->item[i];
        if (seen->item[i].seed == 0) /* a seed in the line stands for exactly those inputs */
            out->item[i].config.seed = fresh;
        if (seen->note)
            out->item[i].note = seen->note[i];
        snprintf(out->item[i].why, sizeof out->item[i].why, "%s", why);
    }
    pcg_free(stream);
    return 0;
}

int draw_seen(struct drawn_list *out, const struct config_list *seen, uint64_t seed)
{
    return give_seeds(out, seen, "seen", "published", seed);
}

int draw_given(struct drawn_list *out, const struct config_list *given, uint64_t seed)
{
    return give_seeds(out, given, "given", "given", seed);
}

/* --- the unseen set --- */

static double set_caps(int count, int per_hundred)
{
    const double caps = (double)per_hundred * count / 100;
    return caps > DRAW_SET_LEAST_CAPS ? caps : DRAW_SET_LEAST_CAPS;
}

static int start(struct drawing *drawing, const struct draw_caps *caps, int frozen)
{
    const size_t points = (size_t)drawing->count + (size_t)drawing->seen->count + (size_t)frozen;
    drawing->costing = costing_of(drawing->space, caps);
    drawing->total =
        (struct cost){set_caps(drawing->count, DRAW_SET_BYTES_CAPS) * drawing->costing.cap.bytes,
                      set_caps(drawing->count, DRAW_SET_FLOPS_CAPS) * drawing->costing.cap.flops};
    if (point_set_open(&drawing->used, points) != 0)
        return -1;
    for (int i = 0; i < drawing->seen->count; i++)
        point_set_add(&drawing->used, &drawing->seen->item[i]);
    return 0;
}

static bool is_listed(const struct drawn_list *list, const struct config *config)
{
    for (int i = 0; i < list->count; i++)
        if (config_equal(&list->item[i].config, config))
            return true;
    return false;
}

static bool is_seen(const struct drawing *drawing, const struct config *config)
{
    for (int i = 0; i < drawing->seen->count; i++)
        if (config_same_point(&drawing->seen->item[i], config))
            return true;
    return false;
}

/* Adds the frozen failures. A point may be frozen with several seeds: each line is a separate failure. */
static void take_frozen(struct drawing *drawing, const struct config_list *frozen)
{
    for (int i = 0; i < frozen->count; i++) {
        const struct config *config = &frozen->item[i];
        struct cost cost;
        if (is_listed(drawing->out, config))
            continue;
        if (space_contains(drawing->space, config, NULL) && !is_seen(drawing, config) &&
            draw_cost(&drawing->costing, config, &cost))
            draw_accept(drawing, config, &cost, "frozen failure");
        else
            drawing->frozen_dropped++;
    }
}

/* --- contracts of few points --- */

enum { FEW_LOOKED_AT = 65536, FEW_PER_DRAW = 4 };

static bool is_small(const struct space *space)
{
    int64_t points = 1;
    for (int i = 0; space->problem->axes[i].name; i++) {
        const struct domain *domain = &space->domain[i];
        int64_t values = domain->value_count ? domain->value_count : domain->high - domain->low + 1;
        if (values > FEW_LOOKED_AT || (points *= values) > FEW_LOOKED_AT)
            return false;
    }
    return true;
}

static void first_point(const struct space *space, struct config *config)
{
    *config = (struct config){.problem = space->problem};
    for (int i = 0; space->problem->axes[i].name; i++)
        config->value[i] = space->domain[i].value_count ? space->domain[i].value[0] : space->domain[i].low;
}

/* Advances to the next point of the space in the order of an odometer, regardless of constraints. Returns
 * false after the last. */
static bool next_point(const struct space *space, struct config *config, int position[])
{
    for (int i = 0; space->problem->axes[i].name; i++) {
        const struct domain *domain = &space->domain[i];
        const int64_t last = domain->value_count ? domain->value_count - 1 : domain->high - domain->low;
        const bool turns = position[i] == last;
        position[i] = turns ? 0 : position[i] + 1;
        config->value[i] = domain->value_count ? domain->value[position[i]] : domain->low + position[i];
        if (!turns)
            return true;
    }
    return false;
}

/* Lists every point that can be drawn if there are not many more of them than draws: random tries would miss
 * some. *unseen says whether the contract has any point outside the seen set. */
static int find_few(struct drawing *drawing, bool *unseen)
{
    int position[PROBLEM_MAX_AXES] = {0};
    struct config config;
    struct cost cost;
    *unseen = !is_small(drawing->space);
    if (*unseen)
        return 0;
    first_point(drawing->space, &config);
    do {
        if (!draw_in_constraints(drawing->space, &config) || is_seen(drawing, &config))
            continue;
        *unseen = true;
        if (!draw_cost(&drawing->costing, &config, &cost))
            continue;
        if (drawing->few.count == FEW_PER_DRAW * (int64_t)drawing->count) {
            config_list_clear(&drawing->few);
            return 0;
        }
        if (config_list_add(&drawing->few, &config))
            return -1;
    } while (next_point(drawing->space, &config, position));
    return 0;
}

/* --- the order --- */

const struct draw_mix draw_usual = {
    .percent = {[DRAW_NEIGHBOURS] = 25, [DRAW_CORNERS] = 30, [DRAW_COVER] = 25},
};

static const struct budget budgets[DRAW_PARTS] = {
    [DRAW_NEIGHBOURS] = {0.35, 1},
    [DRAW_CORNERS] = {0.65, 0.2},
    [DRAW_COVER] = {0.8, 0.2},
    [DRAW_RANDOM] = {1, 0.25},
};

/* Interleaves the parts, so that a run that is cut short has configurations of every part. Part i of the list
 * ends at `end[i]`; the first part begins at `from`. */
static int take_turns(struct drawn_list *list, int from, const int *end)
{
    struct drawn *mixed = malloc(((size_t)list->count + 1) * sizeof *mixed);
    int at[DRAW_PARTS], n = from;
    if (!mixed)
        return -1;
    for (int part = 0; part < DRAW_PARTS; part++)
        at[part] = part ? end[part - 1] : from;
    while (n < list->count)
        for (int part = 0; part < DRAW_PARTS; part++)
            if (at[part] < end[part])
                mixed[n++] = list->item[at[part]++];
    if (list->count > from)
        memcpy(list->item + from, mixed + from, (size_t)(list->count - from) * sizeof *mixed);
    free(mixed);
    return 0;
}

/* --- all together --- */

int draw_strength(int count)
{
    return count >= effort_count(EFFORT_DEEP) ? 3 : 2;
}

/* Finds the largest value that the machine allows each number axis; 0 for choices. */
static void find_largest(struct drawing *drawing, int64_t *largest)
{
    for (int i = 0; drawing->space->problem->axes[i].name; i++)
        largest[i] = domain_is_number(drawing->space, i) ? draw_axis_largest(drawing, i) : 0;
}

static int share(const struct drawing *drawing, int percent)
{
    const int wanted = (int)((int64_t)drawing->count * percent / 100);
    const int left = drawing->count - drawing->out->count;
    return wanted < left ? wanted : left > 0 ? left : 0;
}

static int draw_part(struct drawing *drawing, enum draw_part part, struct tuples *tuples)
{
    const int most = part == DRAW_RANDOM ? 0 : share(drawing, drawing->mix->percent[part]);
    drawing->budget = budgets[part];
    switch (part) {
    case DRAW_NEIGHBOURS: return draw_neighbours(drawing, most);
    case DRAW_CORNERS: return draw_corners(drawing, most);
    case DRAW_COVER: return draw_cover(drawing, tuples, most);
    default: return draw_random(drawing);
    }
}

/* Draws neighbours, corners, rows for the pairs that are not covered yet, and random points. Some random
 * points get the input classes that no draw has. Then the order is set: the parts are interleaved, and likely
 * failures move to the front. */
static int draw_all(struct drawing *drawing)
{
    const int from = drawing->out->count;
    int64_t largest[PROBLEM_MAX_AXES] = {0};
    struct cover cover;
    struct tuples tuples;
    int end[DRAW_PARTS], failed = 0;
    find_largest(drawing, largest);
    cover_open(&cover, drawing->space, drawing->seen, largest);
    if (tuples_open(&tuples, &cover, draw_strength(drawing->count)))
        return -1;
    for (int part = 0; part < DRAW_PARTS; part++) {
        failed = failed || draw_part(drawing, (enum draw_part)part, &tuples);
        end[part] = drawing->out->count;
    }
    if (!drawing->mix->no_classes)
        draw_missing_classes(drawing, from, end[DRAW_COVER]);
    for (int i = end[DRAW_COVER]; i < end[DRAW_RANDOM]; i++)
        tuples_mark(&tuples, &drawing->out->item[i].config);
    drawing->coverage = tuples_coverage(&tuples);
    failed = failed || take_turns(drawing->out, from, end) ||
             (!drawing->mix->no_order && draw_order(drawing, from));
    tuples_close(&tuples);
    return failed ? -1 : 0;
}

static int no_memory(struct space_error *error, const char *name)
{
    space_fail(error, "unseen set of %s: out of memory\n---> free some, or draw fewer (--unseen N)", name);
    if (error)
        error->environment = true;
    return -1;
}

/* Returns whether memory ran out. The set is then discarded: less memory must not lead to a different set. */
static bool draw_lacks_memory(const struct drawing *drawing)
{
    return drawing->no_memory || drawing->costing.no_memory;
}

static int draw_parts(struct drawing *drawing, const struct config_list *frozen, struct space_error *error)
{
    const char *name = drawing->space->problem->name;
    bool unseen;
    if (frozen)
        take_frozen(drawing, frozen);
    if (find_few(drawing, &unseen) || draw_lacks_memory(drawing))
        return no_memory(error, name);
    if (drawing->count > 0 && !unseen)
        return space_fail(error,
                          "unseen set of %s: every point of the contract is in the seen set; "
                          "at least one other was expected\n---> widen the .space file, or "
                          "shorten the .seen file",
                          name);
    if (draw_all(drawing) || draw_lacks_memory(drawing))
        return no_memory(error, name);
    if (drawing->count == 0 || drawing->out->count > 0)
        return 0;
    space_fail(error,
               "unseen set of %s: no point of the contract outside the seen set "
               "was found within %.4g bytes and %.4g flops; at least one was "
               "expected\n---> widen the .space file, or run where there is more "
               "memory",
               name, drawing->costing.cap.bytes, drawing->costing.cap.flops);
    if (error)
        error->caps = true;
    return -1;
}

int draw_unseen(struct drawn_list *out, const struct space *space, const struct config_list *seen,
                const struct config_list *frozen, int count, uint64_t seed, const struct draw_caps *caps,
                struct draw_notes *notes, struct space_error *error)
{
    return draw_unseen_as(&draw_usual, out, space, seen, frozen, count, seed, caps, notes, error);
}

int draw_unseen_as(const struct draw_mix *mix, struct drawn_list *out, const struct space *space,
                   const struct config_list *seen, const struct config_list *frozen, int count, uint64_t seed,
                   const struct draw_caps *caps, struct draw_notes *notes, struct space_error *error)
{
    struct drawing drawing = {.mix = mix,
                              .space = space,
                              .seen = seen,
                              .out = out,
                              .seed = seed,
                              .count = count > 0 ? count : 0,
                              .tries = 2000};
    int result;
    *out = (struct drawn_list){0};
    if (start(&drawing, caps, frozen ? frozen->count : 0))
        result = no_memory(error, space->problem->name);
    else
        result = draw_parts(&drawing, frozen, error);
    if (result == 0 && notes)
        draw_note(&drawing, notes);
    if (result)
        drawn_list_clear(out);
    config_list_clear(&drawing.few);
    point_set_close(&drawing.used);
    return result;
}
