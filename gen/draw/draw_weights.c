/* Weights of tuples: which ones the rows of a covering array are drawn for first. */
#include "covering.h"

/* Returns whether the class is the size of a tail. A dropped tail shows only with inputs in which its
 * elements matter, and sizes drawn for their remainder have such inputs only by chance. So pairs of a tail
 * and such an input class have a higher weight. */
static bool is_tail(const struct factor *factor, int level)
{
    const int class = factor->level[level];
    if (factor->kind == FACTOR_RESIDUE)
        return class != RESIDUE_NONE;
    return factor->kind == FACTOR_MAGNITUDE &&
           (class == MAGNITUDE_BELOW || class == MAGNITUDE_TILE_1 || class == MAGNITUDE_WAVE_1);
}

static bool is_telling(const struct space *space, const struct factor *factor, int level)
{
    const int64_t class = space->domain[factor->axis].value[factor->level[level]];
    return factor->kind == FACTOR_LISTED && factor->axis == problem_input_axis(space->problem) &&
           space->problem->classes[class].discriminating > 0;
}

bool factor_is_listed(const struct cover *cover, int factor)
{
    return cover->factor[factor].kind == FACTOR_LISTED;
}

static int weigh(const struct covering *c, const int *factor, const int *level)
{
    bool tail = false, telling = false;
    int listed = 0;
    for (int i = 0; i < c->tuples->strength; i++) {
        const struct factor *f = &c->cover->factor[factor[i]];
        tail = tail || is_tail(f, level[i]);
        telling = telling || is_telling(c->cover->space, f, level[i]);
        listed += factor_is_listed(c->cover, factor[i]);
    }
    if (c->aim == COVER_LISTS && listed == 0)
        return 0;
    if (c->aim == COVER_LISTS && listed == c->tuples->strength)
        return WEIGHT_LISTED;
    return tail && telling && !c->drawing->mix->no_teeth ? WEIGHT_TEETH : WEIGHT_OTHER;
}

void covering_again(struct covering *c)
{
    c->rounds++;
    for (int64_t at = 0; at < c->tuples->count; at++)
        if (c->weight[at] == WEIGHT_LISTED && c->tuples->state[at] == TUPLE_COVERED)
            c->tuples->state[at] = TUPLE_OPEN;
}

bool covering_has_lists(const struct covering *c)
{
    for (int64_t at = 0; at < c->tuples->count; at++)
        if (c->weight[at] == WEIGHT_LISTED && c->tuples->state[at] == TUPLE_OPEN && !c->vain[at])
            return true;
    return false;
}

void covering_weigh(struct covering *c)
{
    int factor[3], level[3];
    for (int64_t at = 0; at < c->tuples->count; at++) {
        tuples_of(c->tuples, at, factor, level);
        c->weight[at] = (unsigned char)weigh(c, factor, level);
        if (c->weight[at] == 0)
            c->tuples->state[at] = TUPLE_ASIDE;
    }
}
