/* Draws rows of a covering array over the classes of cover.h, for tuples that earlier draws have not covered.
 * Greedy, after Cohen, Dalal, Fredman and Patton's AETG (1997): a row begins with an open tuple. The other
 * factors follow in random order, each with the level that closes most. */
#include "covering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNSET = -1,
    CANDIDATES = 12,
    CANDIDATES_OF_3 = 4,
    VALUE_TRIES = 48,
    TARGET_TRIES = 16,
    MOST_IN_VAIN = 64
};

/* A row in the making: a level of every factor, and the tuple for which it was begun. */
struct row {
    int level[COVER_MOST_FACTORS];
    int64_t target;
    int64_t closes;
};

/* --- values --- */

static int64_t random_tile(const struct domain *domain, struct pcg *stream)
{
    for (int i = 0; i < VALUE_TRIES && domain->tile_count > 0; i++) {
        const int64_t tile = domain->tile[pcg_below(stream, (uint64_t)domain->tile_count)];
        if (tile > 1)
            return tile;
    }
    return 2;
}

/* Returns some value of a magnitude, or one near it. */
static int64_t of_magnitude(const struct covering *b, int axis, int magnitude)
{
    const struct domain *domain = &b->cover->space->domain[axis];
    const int64_t tile = random_tile(domain, b->stream), most = b->cover->largest[axis];
    const struct config_list *seen = b->cover->seen;
    int64_t value;
    switch (magnitude) {
    case MAGNITUDE_SEEN: return seen->item[pcg_below(b->stream, (uint64_t)seen->count)].value[axis];
    case MAGNITUDE_LEAST: return domain_least(domain);
    case MAGNITUDE_BELOW: return domain_least(domain) + (int64_t)pcg_below(b->stream, (uint64_t)tile);
    case MAGNITUDE_TILE: return tile;
    case MAGNITUDE_TILE_1: return tile + 1;
    case MAGNITUDE_WAVE: return COVER_WAVE * tile;
    case MAGNITUDE_WAVE_1: return COVER_WAVE * tile + 1;
    case MAGNITUDE_LONG: return most - (int64_t)pcg_below(b->stream, (uint64_t)(most - most / 4));
    default: value = domain_random(domain, b->stream); return value <= most ? value : most;
    }
}

static int64_t with_residue(int64_t value, int64_t tile, int residue)
{
    const int64_t base = value - value % tile;
    return residue == RESIDUE_NONE   ? base
           : residue == RESIDUE_ONE  ? base + 1
           : residue == RESIDUE_LAST ? base + tile - 1
                                     : base + tile / 2;
}

/* Finds a value of the axis that belongs to the row's levels of both its factors, as far as they are set. */
static bool find_value(const struct covering *b, const struct row *row, int axis, int64_t *value)
{
    const struct domain *domain = &b->cover->space->domain[axis];
    int magnitude = UNSET, residue = UNSET;
    for (int f = 0; f < b->cover->factors; f++)
        if (b->cover->factor[f].axis == axis && row->level[f] != UNSET) {
            const struct factor *factor = &b->cover->factor[f];
            const int class = factor->level[row->level[f]];
            if (factor->kind == FACTOR_LISTED)
                *value = domain->value[class];
            *(factor->kind == FACTOR_MAGNITUDE ? &magnitude : &residue) = class;
        }
    if (domain->value_count > 0)
        return true;
    if (b->aim == COVER_LISTS && magnitude == UNSET && residue == UNSET) {
        /* it is shrunk later */
        *value = domain_decorate(domain, domain_random(domain, b->stream), b->stream);
        return true;
    }
    for (int i = 0; i < VALUE_TRIES; i++) {
        bool in = true;
        *value = of_magnitude(b, axis, magnitude);
        if (residue != UNSET && i % 4 != 3)
            *value = with_residue(*value, random_tile(domain, b->stream), residue);
        for (int f = 0; in && f < b->cover->factors; f++)
            if (b->cover->factor[f].axis == axis && row->level[f] != UNSET)
                in = cover_in(b->cover, f, row->level[f], *value);
        if (in && *value >= domain_least(domain) && *value <= b->cover->largest[axis])
            return true;
    }
    return false;
}

/* --- a row's levels --- */

/* Returns the weight of a tuple, or 0 if it is not open. The tuple is level `l` of factor `f` and the row's
 * levels of `others` (ascending). */
static int worth(const struct covering *b, const struct row *row, int f, int l, const int *others)
{
    int factor[3], level[3], n = 0;
    for (int i = 0, placed = 0; n < b->tuples->strength;) {
        const bool own = !placed && (i == b->tuples->strength - 1 || others[i] > f);
        factor[n] = own ? f : others[i];
        level[n++] = own ? l : row->level[others[i]];
        placed |= own;
        i += !own;
    }
    const int64_t at = tuples_at(b->tuples, factor, level);
    return b->tuples->state[at] != TUPLE_OPEN ? 0 : b->weight[at];
}

/* Returns the weight of the open tuples that level `l` of factor `f` would close, given the row's other
 * levels. */
static int64_t gain(const struct covering *b, const struct row *row, int f, int l)
{
    int set[COVER_MOST_FACTORS], sets = 0;
    int64_t open = 0;
    for (int g = 0; g < b->cover->factors; g++)
        if (g != f && row->level[g] != UNSET)
            set[sets++] = g;
    for (int i = 0; i < sets; i++)
        for (int j = i + 1; b->tuples->strength == 3 && j < sets; j++)
            open += worth(b, row, f, l, (const int[]){set[i], set[j]});
    for (int i = 0; b->tuples->strength == 2 && i < sets; i++)
        open += worth(b, row, f, l, &set[i]);
    return open;
}

/* Returns whether the axis has a value in this level and in the row's level of its other factor. */
static bool agrees(const struct covering *b, const struct row *row, int f, int l)
{
    struct row tried = *row;
    int64_t value;
    tried.level[f] = l;
    return find_value(b, &tried, b->cover->factor[f].axis, &value);
}

static void choose_level(const struct covering *b, struct row *row, int f)
{
    const int levels = b->cover->factor[f].levels;
    const int start = (int)pcg_below(b->stream, (uint64_t)levels);
    int64_t best = -1;
    int chosen = UNSET;
    for (int i = 0; i < levels; i++) {
        const int l = (start + i) % levels;
        const int64_t closes = gain(b, row, f, l);
        if (closes > best && agrees(b, row, f, l)) {
            best = closes;
            chosen = l;
        }
    }
    /* if no class closes anything, the extent is drawn at random */
    row->level[f] = best == 0 && b->aim == COVER_LISTS && !factor_is_listed(b->cover, f) ? UNSET : chosen;
    row->closes += best > 0 ? best : 0;
}

static void begin_row(const struct covering *b, struct row *row, int64_t target)
{
    int factor[3], level[3];
    *row = (struct row){.target = target, .closes = 1};
    for (int f = 0; f < COVER_MOST_FACTORS; f++)
        row->level[f] = UNSET;
    tuples_of(b->tuples, target, factor, level);
    for (int i = 0; i < b->tuples->strength; i++)
        row->level[factor[i]] = level[i];
}

static void complete_row(const struct covering *b, struct row *row)
{
    int order[COVER_MOST_FACTORS];
    for (int i = 0; i < b->cover->factors; i++)
        order[i] = i;
    for (int i = b->cover->factors - 1; i > 0; i--) {
        const int j = (int)pcg_below(b->stream, (uint64_t)i + 1), swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
    for (int i = 0; i < b->cover->factors; i++)
        if (row->level[order[i]] == UNSET)
            choose_level(b, row, order[i]);
}

/* --- from levels to a configuration --- */

static bool has_target(const struct covering *b, const struct row *row, const struct config *config)
{
    int factor[3], level[3];
    tuples_of(b->tuples, row->target, factor, level);
    for (int i = 0; i < b->tuples->strength; i++)
        if (!cover_in(b->cover, factor[i], level[i], config->value[b->cover->factor[factor[i]].axis]))
            return false;
    return true;
}

/* Returns the axis of the target that is a range, which repairs and shrinking spare first; -1: none. */
static int target_axis(const struct covering *b, const struct row *row)
{
    int factor[3], level[3], axis = -1;
    tuples_of(b->tuples, row->target, factor, level);
    for (int i = 0; i < b->tuples->strength; i++)
        if (b->cover->factor[factor[i]].kind != FACTOR_LISTED)
            axis = b->cover->factor[factor[i]].axis;
    return axis;
}

/* Returns the axes of the target, one bit each. */
static unsigned target_axes(const struct covering *b, const struct row *row)
{
    int factor[3], level[3];
    unsigned axes = 0;
    tuples_of(b->tuples, row->target, factor, level);
    for (int i = 0; i < b->tuples->strength; i++)
        axes |= 1u << b->cover->factor[factor[i]].axis;
    return axes;
}

/* Returns whether axes with the same list get the same value: in three of four rows for classes of extents.
 * Fast paths require square windows, but two independent lists of seven values agree only once in seven
 * draws. */
static bool wants_square(const struct covering *b, const struct row *row)
{
    return b->square && b->weight[row->target] != WEIGHT_LISTED && pcg_below(b->stream, 4) > 0;
}

/* Makes the configuration of a row. `held`: axes that repairs do not move, one bit each. */
static bool make_config(const struct covering *b, const struct row *row, unsigned held, struct config *config)
{
    const struct space *space = b->cover->space;
    draw_least(space, config);
    config->seed = draw_config_seed(b->stream);
    for (int i = 0; space->problem->axes[i].name; i++)
        if (!find_value(b, row, i, &config->value[i]) ||
            !domain_contains(&space->domain[i], config->value[i]))
            return false;
    if (wants_square(b, row))
        draw_square(space, config, target_axes(b, row));
    return draw_mend(space, config, held);
}

/* Keeps the levels of the target only, and makes every number as small as they permit. */
static void strip_row(const struct covering *b, const struct row *row, struct row *bare)
{
    begin_row(b, bare, row->target);
    for (int f = 0; f < b->cover->factors; f++) {
        const struct factor *factor = &b->cover->factor[f];
        if (bare->level[f] != UNSET || factor->kind == FACTOR_RESIDUE)
            continue;
        if (factor->kind == FACTOR_LISTED) /* the least number of a list */
            bare->level[f] = domain_is_number(b->cover->space, factor->axis) ? 0 : row->level[f];
        for (int l = 0; factor->kind == FACTOR_MAGNITUDE && l < factor->levels; l++)
            if (agrees(b, bare, f, l)) {
                bare->level[f] = l;
                break;
            }
    }
}

static void say_target(const struct covering *b, const struct row *row, char *why, size_t size)
{
    static const char *const magnitude[] = {"least", "below a tile", "tile", "tile+1", "between",
                                            "wave",  "wave+1",       "long", "as seen"};
    static const char *const residue[] = {"on tile", "1 over tile", "1 short", "half tile"};
    int factor[3], level[3];
    size_t used = (size_t)snprintf(why, size, "covering the combination:");
    tuples_of(b->tuples, row->target, factor, level);
    for (int i = 0; i < b->tuples->strength && used < size; i++) {
        const struct factor *f = &b->cover->factor[factor[i]];
        const struct problem *problem = b->cover->space->problem;
        const struct axis *axis = &problem->axes[f->axis];
        const int class = f->level[level[i]];
        const int64_t value = b->cover->space->domain[f->axis].value[class];
        used += (size_t)snprintf(why + used, size - used, "%s %s ", i ? "," : "", axis->name);
        if (used < size && f->kind == FACTOR_LISTED && axis->kind == AXIS_NUMBER)
            used += (size_t)snprintf(why + used, size - used, "%lld", (long long)value);
        else if (used < size)
            used += (size_t)snprintf(why + used, size - used, "%s",
                                     f->kind == FACTOR_LISTED      ? problem_choice(problem, f->axis, value)
                                     : f->kind == FACTOR_MAGNITUDE ? magnitude[class]
                                                                   : residue[class]);
    }
}

static bool take_config(const struct covering *b, const struct row *row, const struct config *config,
                        const struct cost *cost)
{
    char why[96];
    if (!space_contains(b->drawing->space, config, NULL) || point_set_has(&b->drawing->used, config))
        return false;
    say_target(b, row, why, sizeof why);
    draw_accept(b->drawing, config, cost, why);
    tuples_mark(b->tuples, config);
    return true;
}

/* Returns the axes with listed values, one bit each. A row of scouts is drawn for their pairs, which ranges
 * can serve at any size. */
unsigned covering_listed(const struct covering *b)
{
    unsigned axes = 0;
    for (int f = 0; f < b->cover->factors; f++)
        if (factor_is_listed(b->cover, f))
            axes |= 1u << b->cover->factor[f].axis;
    return axes;
}

/* Draws the whole row, shrunk if it is too expensive, provided that it keeps its target. `held` as in
 * make_config. */
static bool draw_full(const struct covering *b, const struct row *row, unsigned held)
{
    const int axis = target_axis(b, row);
    struct config config;
    struct cost cost;
    if (!make_config(b, row, held, &config))
        return false;
    b->drawing->held = held & ~(axis < 0 ? 0 : 1u << axis);
    const bool fits =
        draw_shrink_to_fit(b->drawing, &config, axis, axis < 0 ? 0 : 1u << axis, true, b->stream, &cost);
    b->drawing->held = 0;
    return fits && has_target(b, row, &config) && take_config(b, row, &config, &cost);
}

/* Draws the target with everything else at its least. If that always exceeds the caps, a search decides
 * whether the contract or the caps exclude the target. If only this set's budget is too small, the target
 * remains open. */
static bool draw_bare(const struct covering *b, const struct row *row)
{
    const struct cost allowed = draw_allowance(b->drawing);
    bool affordable = false;
    struct config config;
    struct cost cost;
    struct row bare;
    strip_row(b, row, &bare);
    for (int i = 0; i < TARGET_TRIES; i++) {
        if (!make_config(b, &bare, target_axes(b, row), &config) || !has_target(b, row, &config) ||
            !draw_cost(&b->drawing->costing, &config, &cost))
            continue;
        affordable = true;
        if (cost_fits(&cost, &allowed) && take_config(b, row, &config, &cost))
            return true;
    }
    if (affordable)
        return false;
    config.seed = draw_config_seed(b->stream);
    const enum tuple_state state = covering_decide(b->tuples, row->target, &b->drawing->costing, &config);
    if (state == TUPLE_COVERED)
        return draw_cost(&b->drawing->costing, &config, &cost) && cost_fits(&cost, &allowed) &&
               take_config(b, row, &config, &cost);
    b->tuples->state[row->target] = (unsigned char)state;
    return false;
}

/* --- all rows --- */

static bool is_asked_for(const struct covering *b, int64_t at)
{
    return b->tuples->state[at] == TUPLE_OPEN && !b->vain[at] &&
           !(b->classes && b->weight[at] == WEIGHT_LISTED);
}

/* Returns one of the heaviest open tuples that was not tried in vain, since less can be spent later; -1:
 * none. */
static int64_t next_open(const struct covering *b, int64_t from)
{
    const struct tuples *tuples = b->tuples;
    int64_t best = -1;
    for (int64_t i = 0; i < tuples->count; i++) {
        const int64_t at = (from + i) % tuples->count;
        if (is_asked_for(b, at) && (best < 0 || b->weight[at] > b->weight[best]))
            best = at;
    }
    return best;
}

static bool draw_row(const struct covering *b, int64_t target)
{
    const int candidates = b->tuples->strength == 3 ? CANDIDATES_OF_3 : CANDIDATES;
    struct row best = {.closes = -1};
    for (int i = 0; i < candidates; i++) {
        struct row row;
        begin_row(b, &row, target);
        complete_row(b, &row);
        if (row.closes > best.closes)
            best = row;
    }
    const unsigned held = target_axes(b, &best);
    const unsigned lists = b->aim == COVER_LISTS ? covering_listed(b) : 0;
    return draw_full(b, &best, held | lists) || draw_full(b, &best, held) || draw_bare(b, &best);
}

bool covering_draw(struct covering *b, bool *done)
{
    const int64_t target =
        b->tuples->count > 0 ? next_open(b, (int64_t)pcg_below(b->stream, (uint64_t)b->tuples->count)) : -1;
    *done = target < 0;
    if (*done)
        return false;
    b->vain[target] = !draw_row(b, target);
    return !b->vain[target];
}

int covering_open(struct covering *b, struct drawing *drawing, struct tuples *tuples, enum covering_aim aim,
                  const char *purpose)
{
    *b = (struct covering){.drawing = drawing,
                           .tuples = tuples,
                           .aim = aim,
                           .rounds = 1,
                           .square = aim == COVER_LISTS && draw_has_squares(drawing->space),
                           .cover = tuples->cover,
                           .stream = draw_stream(drawing, purpose),
                           .weight = calloc((size_t)tuples->count + 1, 1),
                           .vain = calloc((size_t)tuples->count + 1, sizeof *b->vain)};
    if (!b->stream || !b->weight || !b->vain)
        return -1;
    covering_weigh(b);
    for (int i = 0; i < drawing->out->count; i++)
        tuples_mark(tuples, &drawing->out->item[i].config);
    for (int64_t at = 0; at < tuples->count; at++)
        if (tuples->state[at] == TUPLE_OPEN && covering_contradicts(tuples, at))
            tuples->state[at] = TUPLE_CONTRACT;
    return 0;
}

void covering_close(struct covering *b)
{
    pcg_free(b->stream);
    free(b->weight);
    free(b->vain);
}

int draw_cover(struct drawing *drawing, struct tuples *tuples, int rows)
{
    const int end = drawing->out->count + rows;
    struct covering covering;
    const bool made = covering_open(&covering, drawing, tuples, COVER_TEETH, "covering") == 0;
    bool done = !made;
    for (int in_vain = 0; drawing->out->count < end && in_vain < MOST_IN_VAIN && !done;)
        in_vain = covering_draw(&covering, &done) ? 0 : in_vain + 1;
    covering_close(&covering);
    return drawing->no_memory || !made ? -1 : 0;
}
