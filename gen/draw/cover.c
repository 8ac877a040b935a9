#include "cover.h"

#include <stdlib.h>
#include <string.h>

/* --- classes --- */

static bool is_tile(const struct domain *domain, int64_t value)
{
    for (int i = 0; i < domain->tile_count; i++)
        if (domain->tile[i] > 1 && domain->tile[i] == value)
            return true;
    return false;
}

/* Finds the least and the greatest tile above 1. If the contract names none, both are 2, whose residues are
 * odd and even. */
static void tile_ends(const struct domain *domain, int64_t *least, int64_t *most)
{
    *least = *most = 0;
    for (int i = 0; i < domain->tile_count; i++) {
        const int64_t tile = domain->tile[i];
        if (tile > 1 && (*least == 0 || tile < *least))
            *least = tile;
        if (tile > *most)
            *most = tile;
    }
    if (*least == 0)
        *least = *most = 2;
}

static enum magnitude magnitude_of(const struct cover *cover, int axis, int64_t value)
{
    const struct domain *domain = &cover->space->domain[axis];
    int64_t least, most;
    tile_ends(domain, &least, &most);
    const int64_t from = cover->largest[axis] / 4 > most + 1 ? cover->largest[axis] / 4 : most + 2;
    if (value <= domain_least(domain))
        return MAGNITUDE_LEAST;
    if (is_tile(domain, value))
        return MAGNITUDE_TILE;
    if (is_tile(domain, value - 1))
        return MAGNITUDE_TILE_1;
    if (value < least)
        return MAGNITUDE_BELOW;
    if (value == COVER_WAVE * least)
        return MAGNITUDE_WAVE;
    if (value == COVER_WAVE * least + 1)
        return MAGNITUDE_WAVE_1;
    return value >= from ? MAGNITUDE_LONG : MAGNITUDE_SEVERAL;
}

static bool leaves(int64_t value, int64_t tile, enum residue residue)
{
    switch (residue) {
    case RESIDUE_NONE: return value % tile == 0;
    case RESIDUE_ONE: return value % tile == 1;
    case RESIDUE_LAST: return value % tile == tile - 1;
    default: return tile >= 4 && value % tile == tile / 2;
    }
}

static bool leaves_any(const struct domain *domain, int64_t value, enum residue residue)
{
    bool tiled = false;
    for (int i = 0; i < domain->tile_count; i++) {
        tiled = tiled || domain->tile[i] > 1;
        if (domain->tile[i] > 1 && leaves(value, domain->tile[i], residue))
            return true;
    }
    return !tiled && leaves(value, 2, residue);
}

bool cover_in(const struct cover *cover, int factor, int level, int64_t value)
{
    const struct factor *f = &cover->factor[factor];
    const struct domain *domain = &cover->space->domain[f->axis];
    const int class = f->level[level];
    if (f->kind == FACTOR_LISTED)
        return domain->value[class] == value;
    if (f->kind == FACTOR_MAGNITUDE && class == MAGNITUDE_SEEN)
        return config_list_has(cover->seen, f->axis, value);
    if (f->kind == FACTOR_MAGNITUDE)
        return (int)magnitude_of(cover, f->axis, value) == class;
    return leaves_any(domain, value, (enum residue) class);
}

static void seen_range(const struct config_list *seen, int axis, int64_t *low, int64_t *high)
{
    *low = INT64_MAX;
    *high = INT64_MIN;
    for (int i = 0; i < seen->count; i++) {
        const int64_t value = seen->item[i].value[axis];
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
}

void cover_range(const struct cover *cover, int factor, int level, int64_t *low, int64_t *high)
{
    const struct factor *f = &cover->factor[factor];
    const struct domain *domain = &cover->space->domain[f->axis];
    const int class = f->level[level];
    int64_t least, most;
    tile_ends(domain, &least, &most);
    *low = domain->low;
    *high = domain->high;
    if (f->kind == FACTOR_LISTED) {
        *low = *high = domain->value[class];
        return;
    }
    switch (f->kind == FACTOR_MAGNITUDE ? class : MAGNITUDES) {
    case MAGNITUDE_LEAST: *high = domain_least(domain); break;
    case MAGNITUDE_BELOW: *high = least - 1; break;
    case MAGNITUDE_TILE: *low = least, *high = most; break;
    case MAGNITUDE_TILE_1: *low = least + 1, *high = most + 1; break;
    case MAGNITUDE_SEVERAL: *low = domain_least(domain) + 1; break;
    case MAGNITUDE_WAVE: *low = *high = COVER_WAVE * least; break;
    case MAGNITUDE_WAVE_1: *low = *high = COVER_WAVE * least + 1; break;
    case MAGNITUDE_LONG:
        *low = cover->largest[f->axis] / 4 > most + 1 ? cover->largest[f->axis] / 4 : most + 2;
        break;
    case MAGNITUDE_SEEN: seen_range(cover->seen, f->axis, low, high); break;
    default: break;
    }
}

/* --- factors --- */

static struct factor *add_factor(struct cover *cover, int axis, enum factor_kind kind)
{
    struct factor *f = &cover->factor[cover->factors++];
    *f = (struct factor){.axis = axis, .kind = kind};
    return f;
}

/* Returns whether some value of the range has the magnitude. Only then is it a level of the factor. */
static bool magnitude_exists(const struct cover *cover, int axis, enum magnitude magnitude)
{
    const struct domain *domain = &cover->space->domain[axis];
    int64_t least, most, try[SPACE_MAX_TILES * 2 + 8];
    int tries = 0;
    for (int i = 0; magnitude == MAGNITUDE_SEEN && i < cover->seen->count; i++)
        if (domain_contains(domain, cover->seen->item[i].value[axis]) &&
            cover->seen->item[i].value[axis] <= cover->largest[axis])
            return true;
    tile_ends(domain, &least, &most);
    for (int i = 0; i < domain->tile_count; i++) {
        try[tries++] = domain->tile[i];
        try[tries++] = domain->tile[i] + 1;
    }
    const int64_t more[] = {domain_least(domain), domain_least(domain) + 1, least + 2,           most + 2,
                            COVER_WAVE * least,   COVER_WAVE * least + 1,   cover->largest[axis]};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        try[tries++] = more[i];
    for (int i = 0; i < tries; i++)
        if (try[i] >= domain_least(domain) && try[i] <= cover->largest[axis] &&
            magnitude_of(cover, axis, try[i]) == magnitude)
            return true;
    return false;
}

static void add_range(struct cover *cover, int axis)
{
    struct factor *f = add_factor(cover, axis, FACTOR_MAGNITUDE);
    for (int i = 0; i < MAGNITUDES; i++)
        if (magnitude_exists(cover, axis, (enum magnitude)i))
            f->level[f->levels++] = i;
    f = add_factor(cover, axis, FACTOR_RESIDUE);
    const struct domain *domain = &cover->space->domain[axis];
    for (int i = 0; i < RESIDUES; i++)
        for (int64_t v = domain_least(domain); v <= cover->largest[axis] && v < domain_least(domain) + 65536;
             v++)
            if (leaves_any(domain, v, (enum residue)i)) {
                f->level[f->levels++] = i;
                break;
            }
}

void cover_open(struct cover *cover, const struct space *space, const struct config_list *seen,
                const int64_t *largest)
{
    *cover = (struct cover){.space = space, .seen = seen};
    memcpy(cover->largest, largest, sizeof cover->largest);
    for (int i = 0; space->problem->axes[i].name; i++) {
        const struct domain *domain = &space->domain[i];
        if (domain->value_count > 1) {
            struct factor *f = add_factor(cover, i, FACTOR_LISTED);
            for (int v = 0; v < domain->value_count; v++)
                f->level[f->levels++] = v;
        } else if (domain->value_count == 0 && largest[i] > domain_least(domain)) {
            add_range(cover, i);
        }
    }
}

/* --- tuples --- */

/* Returns one number for a set of two or three ascending factors. */
static int64_t combination(const int *factor, int strength)
{
    const int64_t third = strength == 3 ? factor[2] : 0;
    return ((int64_t)factor[0] * COVER_MOST_FACTORS + factor[1]) * COVER_MOST_FACTORS + third;
}

enum { COMBINATIONS = COVER_MOST_FACTORS * COVER_MOST_FACTORS * COVER_MOST_FACTORS };

/* Advances to the next ascending choice of `strength` factors; returns false after the last. Begin with
 * {-1}. */
static bool next_factors(int *factor, int strength, int factors)
{
    int i = strength - 1;
    if (factor[0] < 0) {
        for (int k = 0; k < strength; k++)
            factor[k] = k;
        return strength <= factors;
    }
    while (i >= 0 && factor[i] == factors - strength + i)
        i--;
    if (i < 0)
        return false;
    factor[i]++;
    for (int k = i + 1; k < strength; k++)
        factor[k] = factor[k - 1] + 1;
    return true;
}

int tuples_open(struct tuples *tuples, const struct cover *cover, int strength)
{
    int factor[3] = {-1};
    *tuples = (struct tuples){.cover = cover, .strength = strength};
    tuples->base = malloc(COMBINATIONS * sizeof *tuples->base);
    if (!tuples->base)
        return -1;
    while (next_factors(factor, strength, cover->factors)) {
        int64_t size = 1;
        for (int i = 0; i < strength; i++)
            size *= cover->factor[factor[i]].levels;
        tuples->base[combination(factor, strength)] = tuples->count;
        tuples->count += size;
    }
    tuples->state = calloc((size_t)tuples->count + 1, 1);
    if (!tuples->state)
        tuples_close(tuples);
    return tuples->state ? 0 : -1;
}

void tuples_close(struct tuples *tuples)
{
    free(tuples->base);
    free(tuples->state);
    tuples->base = NULL;
    tuples->state = NULL;
}

int64_t tuples_at(const struct tuples *tuples, const int *factor, const int *level)
{
    int64_t at = 0;
    for (int i = 0; i < tuples->strength; i++)
        at = at * tuples->cover->factor[factor[i]].levels + level[i];
    return tuples->base[combination(factor, tuples->strength)] + at;
}

void tuples_of(const struct tuples *tuples, int64_t at, int *factor, int *level)
{
    int next[3] = {-1};
    while (next_factors(next, tuples->strength, tuples->cover->factors) &&
           tuples->base[combination(next, tuples->strength)] <= at)
        memcpy(factor, next, sizeof next);
    at -= tuples->base[combination(factor, tuples->strength)];
    for (int i = tuples->strength - 1; i >= 0; i--) {
        const int levels = tuples->cover->factor[factor[i]].levels;
        level[i] = (int)(at % levels);
        at /= levels;
    }
}

/* Finds the levels that a configuration belongs to, for every factor. It may have several residues, since a
 * contract has several tiles. */
static void levels_of(const struct cover *cover, const struct config *config, bool in[][COVER_MOST_LEVELS])
{
    for (int f = 0; f < cover->factors; f++)
        for (int l = 0; l < cover->factor[f].levels; l++)
            in[f][l] = cover_in(cover, f, l, config->value[cover->factor[f].axis]);
}

static int64_t mark_levels(struct tuples *tuples, const int *factor, int depth, int *level,
                           bool in[][COVER_MOST_LEVELS])
{
    int64_t fresh = 0;
    if (depth == tuples->strength) {
        unsigned char *state = &tuples->state[tuples_at(tuples, factor, level)];
        if (*state == TUPLE_ASIDE)
            return 0;
        fresh = *state != TUPLE_COVERED;
        *state = TUPLE_COVERED;
        return fresh;
    }
    for (int l = 0; l < tuples->cover->factor[factor[depth]].levels; l++)
        if (in[factor[depth]][l]) {
            level[depth] = l;
            fresh += mark_levels(tuples, factor, depth + 1, level, in);
        }
    return fresh;
}

int64_t tuples_mark(struct tuples *tuples, const struct config *config)
{
    bool in[COVER_MOST_FACTORS][COVER_MOST_LEVELS];
    int factor[3] = {-1}, level[3];
    int64_t fresh = 0;
    levels_of(tuples->cover, config, in);
    while (next_factors(factor, tuples->strength, tuples->cover->factors))
        fresh += mark_levels(tuples, factor, 0, level, in);
    return fresh;
}

struct coverage tuples_coverage(const struct tuples *tuples)
{
    struct coverage c = {.strength = tuples->strength};
    int64_t aside = 0;
    for (int64_t i = 0; i < tuples->count; i++) {
        c.covered += tuples->state[i] == TUPLE_COVERED;
        c.caps += tuples->state[i] == TUPLE_CAPS;
        c.contract += tuples->state[i] == TUPLE_CONTRACT;
        aside += tuples->state[i] == TUPLE_ASIDE;
    }
    c.possible = tuples->count - c.caps - c.contract - aside;
    return c;
}
