/* Draws the rest of the unseen set: log-uniform random points or, if the contract has few points, all of
 * them. */
#include "draw_internal.h"

enum { SHRINK_STEPS = 256, TRIES_WHEN_SPARSE = 20 };

void draw_random_values(const struct space *space, struct config *config, struct pcg *stream)
{
    const int input = problem_input_axis(space->problem);
    *config = (struct config){.problem = space->problem, .seed = draw_config_seed(stream)};
    for (int i = 0; space->problem->axes[i].name; i++) {
        const struct domain *domain = &space->domain[i];
        const uint64_t values = (uint64_t)domain->value_count;
        if (space->problem->axes[i].kind == AXIS_NUMBER)
            config->value[i] = domain_decorate(domain, domain_random(domain, stream), stream);
        else if (i == input)
            config->value[i] = draw_input(space, i, domain->value[0], stream);
        /* the first choice, the published one, is likelier, since some faults show only if all axes have
         * it */
        else
            config->value[i] = domain->value[pcg_below(stream, 4) ? pcg_below(stream, values) : 0];
    }
}

void draw_small_values(const struct space *space, struct config *config, struct pcg *stream)
{
    enum { FEW = 12 };
    for (int i = 0; space->problem->axes[i].name; i++) {
        const struct domain *const domain = &space->domain[i];
        const int64_t room = domain->high - domain_least(domain), most = room < FEW ? room : FEW;
        if (domain_is_number(space, i))
            config->value[i] = domain->value_count > 0
                                   ? domain_random(domain, stream)
                                   : domain_least(domain) + (int64_t)pcg_below(stream, (uint64_t)most + 1);
    }
}

/* --- into the caps --- */

/* `skipped` has one bit for each axis. */
static int largest_axis(const struct space *space, const struct config *config, unsigned skipped)
{
    int largest = -1;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (!(skipped >> i & 1) && domain_is_number(space, i) &&
            config->value[i] > domain_least(&space->domain[i]) &&
            (largest < 0 || config->value[i] > config->value[largest]))
            largest = i;
    return largest;
}

/* Shrinks the axis. Returns false, with *config unchanged, if the constraints do not permit that. */
static bool shrink_axis(const struct space *space, struct config *config, int axis, unsigned held,
                        struct pcg *stream)
{
    const struct domain *domain = &space->domain[axis];
    const int64_t smaller = domain_shrink(domain, config->value[axis], stream);
    const int64_t decorated = domain_decorate(domain, smaller, stream);
    const struct config before = *config;
    config->value[axis] = decorated < config->value[axis] ? decorated : smaller;
    if (draw_repair_beside(space, config, held) != REPAIR_FAILED && !config_same_point(config, &before))
        return true;
    *config = before;
    return false;
}

bool draw_shrink_to_fit(struct drawing *drawing, struct config *config, int kept, unsigned spared, bool fixed,
                        struct pcg *stream, struct cost *cost)
{
    const struct cost allowed = draw_allowance(drawing);
    const unsigned held = drawing->held | (kept < 0 ? 0 : 1u << kept);
    unsigned stuck = drawing->held;
    for (int i = 0; i < SHRINK_STEPS; i++) {
        if (draw_cost_within(&drawing->costing, config, &allowed, cost))
            return true;
        int axis = largest_axis(drawing->space, config, stuck | spared);
        if (axis < 0 && !fixed)
            axis = largest_axis(drawing->space, config, stuck);
        if (axis < 0)
            return draw_cost(&drawing->costing, config, cost);
        if (!shrink_axis(drawing->space, config, axis, held & ~(1u << axis), stream))
            stuck |= 1u << axis;
    }
    return false;
}

bool draw_is_new(const struct drawing *drawing, const struct config *config)
{
    return space_contains(drawing->space, config, NULL) && !point_set_has(&drawing->used, config);
}

/* --- one draw --- */

static int any_axis(const struct space *space, struct pcg *stream)
{
    int axes[PROBLEM_MAX_AXES];
    uint64_t count = 0;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (domain_is_number(space, i))
            axes[count++] = i;
    return count > 0 ? axes[pcg_below(stream, count)] : -1;
}

/* Half of the draws spare a random axis from shrinking. */
static int spared_axis(const struct space *space, struct pcg *stream)
{
    return pcg_below(stream, 2) ? any_axis(space, stream) : -1;
}

/* --- the newest of some --- */

/* Lowers extents a little, one after another, to values with the highest novelty. The cost does not grow. */
static void settle(const struct drawing *drawing, struct config *config, struct pcg *stream)
{
    enum { STEPS = 12, NEAR = 128 };
    for (int i = 0; config->problem->axes[i].name; i++) {
        const struct domain *domain = &drawing->space->domain[i];
        if (config->problem->axes[i].kind != AXIS_NUMBER || domain->value_count > 0)
            continue;
        double best = novelty_of_axis(drawing->novelty, config, i);
        for (int step = 0; step < STEPS; step++) {
            const int64_t room = config->value[i] - domain->low, quarter = config->value[i] / 4;
            const int64_t reach = quarter < NEAR ? quarter : NEAR, down = reach < room ? reach : room;
            struct config tried = *config;
            tried.value[i] -= (int64_t)pcg_below(stream, (uint64_t)down + 1);
            const double novelty = novelty_of_axis(drawing->novelty, &tried, i);
            if (novelty > best && draw_is_new(drawing, &tried)) {
                best = novelty;
                *config = tried;
            }
        }
    }
}

static bool draw_candidate(struct drawing *drawing, struct pcg *stream, struct config *config)
{
    struct cost cost;
    draw_random_values(drawing->space, config, stream);
    if (drawing->square && pcg_below(stream, 2))
        draw_square(drawing->space, config, 0);
    const int kept = spared_axis(drawing->space, stream);
    return draw_repair(drawing->space, config, kept) != REPAIR_FAILED &&
           draw_shrink_to_fit(drawing, config, kept, kept < 0 ? 0 : 1u << kept, false, stream, &cost) &&
           draw_is_new(drawing, config);
}

/* Takes the newest of a few points that the budget allows. */
bool draw_new_random(struct drawing *drawing, struct pcg *stream)
{
    enum { CANDIDATES = 8 };
    const int candidates = drawing->mix->no_novelty ? 1 : CANDIDATES;
    struct config best;
    struct cost cost;
    double most = -1;
    int found = 0;
    for (int i = 0; i < drawing->tries && found < candidates; i++) {
        struct config config;
        if (!draw_candidate(drawing, stream, &config))
            continue;
        const double novelty = novelty_of(drawing->novelty, &config);
        found++;
        if (novelty > most) {
            best = config;
            most = novelty;
        }
    }
    if (found == 0)
        return false;
    if (candidates > 1)
        settle(drawing, &best, stream);
    if (!draw_cost(&drawing->costing, &best, &cost))
        return false;
    draw_accept(drawing, &best, &cost, "random");
    return true;
}

/* Draws the point of an earlier draw with other inputs, when no new point is left. */
static bool draw_again(struct drawing *drawing, struct pcg *stream)
{
    for (int i = 0; i < drawing->out->count; i++) {
        uint64_t pick = pcg_below(stream, (uint64_t)drawing->out->count);
        struct config config = drawing->out->item[pick].config;
        struct cost cost;
        config.seed = draw_config_seed(stream);
        if (draw_cost(&drawing->costing, &config, &cost)) {
            draw_accept(drawing, &config, &cost, "an earlier point with other contents");
            return true;
        }
    }
    return false;
}

/* --- few points --- */

static void shuffle(struct config_list *list, struct pcg *stream)
{
    for (int i = list->count - 1; i > 0; i--) {
        int j = (int)pcg_below(stream, (uint64_t)i + 1);
        struct config swapped = list->item[i];
        list->item[i] = list->item[j];
        list->item[j] = swapped;
    }
}

static void draw_few(struct drawing *drawing, struct pcg *stream)
{
    shuffle(&drawing->few, stream);
    for (int i = 0; i < drawing->few.count && drawing->out->count < drawing->count; i++) {
        struct config config = drawing->few.item[i];
        struct cost cost;
        config.seed = draw_config_seed(stream);
        if (draw_is_new(drawing, &config) && draw_cost(&drawing->costing, &config, &cost))
            draw_accept(drawing, &config, &cost, "one of the contract's few points");
    }
}

/* The novelty compares with this part alone. So one more seen configuration, frozen failure or neighbour
 * changes none of its draws, unless a cap binds. */
int draw_random(struct drawing *drawing)
{
    struct pcg *stream = draw_stream(drawing, "random");
    drawing->novelty = novelty_open(drawing->space, NULL);
    bool more = stream && drawing->novelty;
    const bool made = more;

    if (made && drawing->few.count > 0)
        draw_few(drawing, stream);
    while (drawing->out->count < drawing->count && more && !drawing->no_memory) {
        more = drawing->few.count == 0 && draw_new_random(drawing, stream);
        if (!more) {
            drawing->tries = TRIES_WHEN_SPARSE; /* later points are no easier to find */
            more = draw_again(drawing, stream);
        }
    }
    pcg_free(stream);
    novelty_close(drawing->novelty);
    drawing->novelty = NULL;
    return drawing->no_memory || !made ? -1 : 0;
}
