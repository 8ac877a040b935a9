#include "branch.h"

#include "draw_internal.h"

enum { TRIES = 100 };

struct branching {
    const struct space *space;
    const struct config_list *seen;
    struct pcg *stream;
    int number[PROBLEM_MAX_AXES], numbers; /* axes that can vary */
    int choice[PROBLEM_MAX_AXES], choices;
};

static uint64_t below(const struct branching *b, uint64_t bound)
{
    return pcg_below(b->stream, bound);
}

static int64_t power_of_two(const struct branching *b, int least, int most)
{
    return (int64_t)1 << (least + (int)below(b, (uint64_t)(most - least + 1)));
}

static void list_axes(struct branching *b)
{
    for (int i = 0; b->space->problem->axes[i].name; i++)
        if (domain_is_number(b->space, i))
            b->number[b->numbers++] = i;
        else if (b->space->problem->axes[i].kind != AXIS_NUMBER && b->space->domain[i].value_count > 1)
            b->choice[b->choices++] = i;
}

/* So many different number axes; false when there are fewer. */
static bool pick_axes(const struct branching *b, struct branch_term *term, int count)
{
    term->axes = 0;
    for (int tries = 0; tries < TRIES && term->axes < count && b->numbers >= count; tries++) {
        const int axis = b->number[below(b, (uint64_t)b->numbers)];
        bool picked = false;
        for (int i = 0; i < term->axes; i++)
            picked = picked || term->axis[i] == axis;
        if (!picked)
            term->axis[term->axes++] = axis;
    }
    return term->axes == count;
}

/* --- numbers that kernels know --- */

static int64_t known_tile(const struct branching *b, const struct domain *domain)
{
    if (domain->tile_count > 0 && below(b, 2))
        return domain->tile[below(b, (uint64_t)domain->tile_count)];
    return power_of_two(b, 1, 8);
}

static int64_t seen_value(const struct branching *b, int axis)
{
    return b->seen->item[below(b, (uint64_t)b->seen->count)].value[axis];
}

/* The greatest published value, a power of two, anything. */
static int64_t known_threshold(const struct branching *b, int axis)
{
    const int64_t any = domain_random(&b->space->domain[axis], b->stream);
    int64_t power = 1, largest = 0;
    for (int i = 0; i < b->seen->count; i++)
        if (b->seen->item[i].value[axis] > largest)
            largest = b->seen->item[i].value[axis];
    while (power < any)
        power *= 2;
    switch (below(b, 3)) {
    case 0: return largest > 0 ? largest : any;
    case 1: return power;
    default: return any;
    }
}

static int64_t known_residue(const struct branching *b, int64_t modulus)
{
    switch (below(b, 5)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return modulus - 1;
    case 3: return modulus / 2;
    default: return (int64_t)below(b, (uint64_t)modulus);
    }
}

/* --- one term --- */

static bool draw_term(const struct branching *b, struct branch_term *term)
{
    *term = (struct branch_term){.kind = (enum branch_kind)below(b, BRANCH_KINDS)};
    const int axes = term->kind == BRANCH_PRODUCT                                   ? 2 + (below(b, 4) == 0)
                     : term->kind == BRANCH_UNDIVIDED || term->kind == BRANCH_RATIO ? 2
                                                                                    : 1;
    if (term->kind == BRANCH_CHOICE) {
        if (b->choices == 0)
            return false;
        term->axis[0] = b->choice[below(b, (uint64_t)b->choices)];
        const struct domain *domain = &b->space->domain[term->axis[0]];
        term->a = domain->value[below(b, (uint64_t)domain->value_count)];
        return true;
    }
    if (!pick_axes(b, term, axes))
        return false;
    const int axis = term->axis[0];
    switch (term->kind) {
    case BRANCH_NOT_MULTIPLE: term->a = known_tile(b, &b->space->domain[axis]); break;
    case BRANCH_RESIDUE:
        term->a = below(b, 3) ? power_of_two(b, 1, 7) : 3 + (int64_t)below(b, 7);
        term->b = known_residue(b, term->a);
        break;
    case BRANCH_ABOVE: term->a = known_threshold(b, axis); break;
    case BRANCH_BELOW: term->a = known_tile(b, &b->space->domain[axis]); break;
    case BRANCH_SEEN:
        if (b->seen->count > 0)
            term->a = seen_value(b, axis);
        return b->seen->count > 0;
    case BRANCH_PRODUCT: term->a = power_of_two(b, 10, 31); break;
    case BRANCH_RATIO: term->a = 1 + (int64_t)below(b, 8); break;
    default: break;
    }
    return true;
}

bool branch_draw(struct branch *branch, const struct space *space, const struct config_list *seen,
                 struct pcg *stream)
{
    struct branching b = {.space = space, .seen = seen, .stream = stream};
    list_axes(&b);
    *branch = (struct branch){.terms = 1 + (below(&b, 3) == 0), .either = below(&b, 2)};
    for (int i = 0; i < branch->terms; i++) {
        int tries = 0;
        while (!draw_term(&b, &branch->term[i]))
            if (++tries == TRIES)
                return false;
    }
    return true;
}

/* --- taken or not --- */

static bool exceeds(const struct branch_term *term, const struct config *config)
{
    double product = 1;
    for (int i = 0; i < term->axes; i++)
        product *= (double)config->value[term->axis[i]];
    return product > (double)term->a;
}

static bool holds(const struct branch_term *term, const struct config_list *seen, const struct config *config)
{
    const int64_t value = config->value[term->axis[0]], other = config->value[term->axis[1]];
    switch (term->kind) {
    case BRANCH_NOT_MULTIPLE: return value % term->a != 0;
    case BRANCH_RESIDUE: return value % term->a == term->b;
    case BRANCH_ABOVE: return value > term->a;
    case BRANCH_BELOW: return value < term->a;
    case BRANCH_OTHER: return !config_list_has(seen, term->axis[0], value);
    case BRANCH_PRODUCT: return exceeds(term, config);
    case BRANCH_UNDIVIDED: return other > 0 && value % other != 0;
    case BRANCH_RATIO: return (double)value > (double)term->a * (double)other;
    default: return value == term->a;
    }
}

bool branch_taken(const struct branch *branch, const struct config_list *seen, const struct config *config)
{
    const bool first = holds(&branch->term[0], seen, config);
    if (branch->terms == 1 || first == branch->either)
        return first;
    return holds(&branch->term[1], seen, config);
}

bool branch_is_seen(const struct branch *branch, const struct config_list *seen)
{
    for (int i = 0; i < seen->count; i++)
        if (branch_taken(branch, seen, &seen->item[i]))
            return true;
    return false;
}
