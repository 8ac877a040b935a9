#include "aim.h"

#include <math.h>
#include <stdlib.h>

#include "feasible.h"
#include "gen/contract/constraint.h"
#include "move.h"

enum { STEPS = 160, WHY_SIZE = 200 };

/* --- opening --- */

static unsigned axes_of(const struct problem *problem, const struct constraint *expression)
{
    unsigned axes = 0;
    for (int i = 0; problem->axes[i].name; i++)
        if (expression_depends_on(expression, problem, i))
            axes |= 1u << i;
    return axes;
}

static bool open_term(struct aim *aim, const struct problem *problem, const struct clue_term *from)
{
    char why[WHY_SIZE];
    struct aim_term *const term = &aim->term[aim->terms++];
    *term = (struct aim_term){.relation = from->relation};
    if (from->relation == CLUE_TILE)
        return false;
    term->left = expression_parse_derived(problem, from->subject, why, sizeof why);
    term->right = expression_parse_derived(problem, from->bound, why, sizeof why);
    if (!term->left || !term->right)
        return false;
    aim->axes |= axes_of(problem, term->left) | axes_of(problem, term->right);
    return true;
}

bool aim_open(struct aim *aim, const struct problem *problem, const struct clue *clue)
{
    *aim = (struct aim){.terms = 0};
    bool known = clue->terms > 0;
    for (int i = 0; known && i < clue->terms; i++)
        known = open_term(aim, problem, &clue->term[i]);
    if (!known || aim->axes == 0)
        aim_close(aim);
    return aim->terms > 0;
}

void aim_close(struct aim *aim)
{
    for (int i = 0; i < aim->terms; i++) {
        constraint_free(aim->term[i].left);
        constraint_free(aim->term[i].right);
    }
    *aim = (struct aim){.terms = 0};
}

/* --- distance --- */

static double apart(int64_t a, int64_t b)
{
    return log1p(fabs((double)a - (double)b));
}

/* Returns how far the term is from holding, on a logarithmic scale; 0: it holds. */
static double distance(const struct aim_term *term, const struct config *config)
{
    enum { UNDEFINED = 64 };
    int64_t a, b;
    if (!expression_value(term->left, config, &a) || !expression_value(term->right, config, &b))
        return UNDEFINED;
    switch (term->relation) {
    case CLUE_LESS: return a < b ? 0 : apart(a + 1, b);
    case CLUE_LESS_EQUAL: return a <= b ? 0 : apart(a, b);
    case CLUE_EQUAL: return apart(a, b);
    case CLUE_NOT_EQUAL: return a == b;
    case CLUE_GREATER_EQUAL: return a >= b ? 0 : apart(a, b);
    default: return a > b ? 0 : apart(a, b + 1);
    }
}

static double whole_distance(const struct aim *aim, const struct config *config)
{
    double sum = 0;
    for (int i = 0; i < aim->terms; i++)
        sum += distance(&aim->term[i], config);
    return sum;
}

bool aim_holds(const struct aim *aim, const struct config *config)
{
    return whole_distance(aim, config) == 0;
}

/* --- moves --- */

static int64_t nearest(const struct domain *domain, int64_t value)
{
    if (domain->value_count == 0)
        return value < domain->low ? domain->low : value > domain->high ? domain->high : value;
    int best = 0;
    for (int i = 1; i < domain->value_count; i++)
        if (llabs(domain->value[i] - value) < llabs(domain->value[best] - value))
            best = i;
    return domain->value[best];
}

/* Returns the value at which a linear expression would close the term's gap. */
static int64_t by_slope(const struct aim_term *term, const struct config *config, int axis)
{
    enum { FAR = 1 << 30 };
    int64_t a, b, next_a, next_b;
    struct config moved = *config;
    moved.value[axis]++;
    if (!expression_value(term->left, config, &a) || !expression_value(term->right, config, &b) ||
        !expression_value(term->left, &moved, &next_a) || !expression_value(term->right, &moved, &next_b))
        return config->value[axis] + 1;
    const double slope = ((double)next_a - (double)next_b) - ((double)a - (double)b);
    const double step = slope != 0 ? ((double)b - (double)a) / slope : 1;
    return config->value[axis] + (int64_t)fmax(-FAR, fmin(FAR, step < 0 ? floor(step) : ceil(step)));
}

/* Returns the value at which a proportional expression would close the term's gap. */
static int64_t by_ratio(const struct aim_term *term, const struct config *config, int axis)
{
    enum { FAR = 1 << 30 };
    int64_t a, b;
    if (!expression_value(term->left, config, &a) || !expression_value(term->right, config, &b) || a <= 0 ||
        b <= 0)
        return config->value[axis];
    return (int64_t)fmin(FAR, ceil((double)config->value[axis] * (double)b / (double)a));
}

static int64_t propose(const struct aim_term *term, const struct space *space, const struct config *config,
                       int axis, struct pcg *stream)
{
    const struct domain *const domain = &space->domain[axis];
    const int64_t value = config->value[axis];
    switch (pcg_below(stream, 8)) {
    case 0: return domain_next(domain, value, pcg_below(stream, 2) ? 1 : -1);
    case 1: return nearest(domain, by_ratio(term, config, axis) - (int64_t)pcg_below(stream, 2));
    case 2: return domain_random(domain, stream);
    case 3: return nearest(domain, value + (int64_t)pcg_below(stream, 257) - 128);
    default: return nearest(domain, by_slope(term, config, axis) + (int64_t)pcg_below(stream, 3) - 1);
    }
}

/* Picks one of the set bits. */
static int pick_axis(const struct space *space, unsigned axes, struct pcg *stream)
{
    int axis[PROBLEM_MAX_AXES], count = 0;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (axes >> i & 1 && (domain_is_number(space, i) || space->domain[i].value_count > 1))
            axis[count++] = i;
    return count > 0 ? axis[pcg_below(stream, (uint64_t)count)] : -1;
}

/* Moves one axis. A derived size that is drawn also depends on the seed. */
static void move_once(const struct aim *aim, const struct aim_term *term, const struct space *space,
                      struct config *config, struct pcg *stream)
{
    const int axis = pick_axis(space, aim->axes, stream);
    if (axis < 0 || pcg_below(stream, 16) == 0)
        config->seed = pcg_below(stream, (uint64_t)1 << 31);
    else if (space->problem->axes[axis].kind != AXIS_NUMBER)
        config->value[axis] =
            space->domain[axis].value[pcg_below(stream, (uint64_t)space->domain[axis].value_count)];
    else
        config->value[axis] = propose(term, space, config, axis, stream);
}

static const struct aim_term *pick_failing(const struct aim *aim, const struct config *config,
                                           struct pcg *stream)
{
    const struct aim_term *failing[CLUE_MOST_TERMS];
    int count = 0;
    for (int i = 0; i < aim->terms; i++)
        if (distance(&aim->term[i], config) > 0)
            failing[count++] = &aim->term[i];
    return failing[pcg_below(stream, (uint64_t)count)];
}

/* Finds other axes, however far, with which the axes of the aim lie in the contract. */
static bool find_others(const struct aim *aim, const struct space *space, struct config *config)
{
    int64_t low[PROBLEM_MAX_AXES] = {0}, high[PROBLEM_MAX_AXES] = {0};
    for (int i = 0; space->problem->axes[i].name; i++) {
        const struct domain *const domain = &space->domain[i];
        const bool held = aim->axes >> i & 1, list = domain->value_count > 0;
        low[i] = held ? config->value[i] : list ? domain->value[0] : domain->low;
        high[i] = held ? config->value[i] : list ? domain->value[domain->value_count - 1] : domain->high;
    }
    return feasible_find(space, low, high, config) == FEASIBLE;
}

/* Satisfies the contract, preferably by axes that no term names. */
static bool enter_contract(const struct aim *aim, const struct space *space, struct config *config)
{
    const struct config from = *config;
    if (draw_mend(space, config, aim->axes))
        return true;
    *config = from;
    if (find_others(aim, space, config))
        return true;
    *config = from;
    return draw_mend(space, config, 0);
}

bool aim_reach(const struct aim *aim, const struct space *space, struct config *config, struct pcg *stream)
{
    double now = whole_distance(aim, config);
    for (int step = 0; step < STEPS; step++) {
        if (now == 0) {
            if (!enter_contract(aim, space, config))
                return false;
            now = whole_distance(aim, config);
            if (now == 0)
                return true;
        }
        struct config moved = *config;
        move_once(aim, pick_failing(aim, config, stream), space, &moved, stream);
        const double then = whole_distance(aim, &moved);
        if (then <= now || pcg_below(stream, 16) == 0) {
            *config = moved;
            now = then;
        }
    }
    return false;
}
