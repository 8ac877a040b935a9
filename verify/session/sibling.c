/* Kinds of siblings are tried in random order until one has candidates. Candidates are collected, a random
 * sample of them is kept, and one of these is chosen. */
#include "sibling.h"

#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/draw/move.h"
#include "gen/random/pcg.h"
#include "session_internal.h"
#include "verify/torch/task.h"

const struct sibling_wish sibling_any = {-1, {-1, -1}};

enum { MOST_KEPT = 32, MOST_MOVES = 64, NEAR = 4 };

struct choosing {
    const struct session_options *options;
    const struct problem *problem;
    const struct config *config;
    struct instance instance; /* of `config` */
    struct pcg *random;
    enum sibling_kind kind;
    bool kin;
    struct config kept[MOST_KEPT]; /* random sample of `count` candidates */
    int count;
    struct {
        int axis;
        int64_t value;
    } move
        /* moves of one axis with the same inputs, or out of the contract: two moves may compensate for each
         * other */
        [MOST_MOVES];
    int moves;
};

bool sibling_is_kin(const struct problem *problem, const struct config *a, const struct config *b)
{
    bool same = problem->task != NULL;
    for (int axis = 0; problem->axes[axis].name && same; axis++)
        same = a->value[axis] == b->value[axis] || imported_ring(problem->task, axis) == 1;
    return same;
}

/* --- common properties of two instances --- */

/* Compares the shapes of the first tensors. */
static bool same_shapes(const struct choosing *c, const struct instance *other, int tensors)
{
    for (int t = 0; t < tensors; t++) {
        const struct instance_tensor *a = &c->instance.tensor[t], *b = &other->tensor[t];
        if (a->rank != b->rank || memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) != 0)
            return false;
    }
    return true;
}

static bool same_strides(const struct choosing *c, const struct instance *other)
{
    for (int t = 0; c->problem->tensors[t].name; t++)
        if (instance_tensor_pitch(&c->instance.tensor[t]) != instance_tensor_pitch(&other->tensor[t]))
            return false;
    return true;
}

static bool same_arguments(const struct choosing *c, const struct instance *other)
{
    struct call mine = {0}, others = {0};
    call_arguments(c->problem, &c->instance, &mine);
    call_arguments(c->problem, other, &others);
    return memcmp(mine.argument, others.argument, sizeof mine.argument) == 0;
}

/* A sibling must not take much longer than the configuration. */
static bool is_affordable(const struct choosing *c, const struct instance *other)
{
    static const double times = 2, spare = 1 << 20;
    return instance_total_bytes(c->problem, other) <=
               times * instance_total_bytes(c->problem, &c->instance) + spare &&
           other->flops <= times * c->instance.flops + spare;
}

/* Checks the kind by shapes and arguments; pairs of extents are constructed for their kind. */
static bool is_of_kind(const struct choosing *c, const struct instance *other)
{
    const bool shapes = same_shapes(c, other, problem_tensor_count(c->problem));
    switch (c->kind) {
    case SIBLING_ARGUMENT: return shapes && same_strides(c, other) && !same_arguments(c, other);
    case SIBLING_CONTENT: return shapes && same_strides(c, other) && same_arguments(c, other);
    case SIBLING_STRIDE: return shapes && !same_strides(c, other);
    default: return true;
    }
}

/* --- candidates --- */

static void keep(struct choosing *c, const struct config *config)
{
    const int at = c->count < MOST_KEPT ? c->count : (int)pcg_below(c->random, (uint64_t)c->count + 1);
    c->count++;
    if (at < MOST_KEPT)
        c->kept[at] = *config;
}

/* False: outside of the contract, or out of memory; otherwise the caller clears *instance. */
static bool measure(const struct choosing *c, const struct config *config, struct instance *instance)
{
    return space_contains(c->options->space, config, NULL) && config_measure(config, instance) == 0;
}

static void consider(struct choosing *c, const struct config *config)
{
    struct instance instance;
    if (config_same_point(config, c->config) || (c->kin && !sibling_is_kin(c->problem, c->config, config)) ||
        !measure(c, config, &instance))
        return;
    if (is_of_kind(c, &instance) && is_affordable(c, &instance))
        keep(c, config);
    instance_clear(&instance);
}

static void consider_value(struct choosing *c, int axis, int64_t value)
{
    struct config config = *c->config;
    if (value == config.value[axis] || !domain_contains(&c->options->space->domain[axis], value))
        return;
    config.value[axis] = value;
    consider(c, &config);
    if (c->kind == SIBLING_ARGUMENT && c->moves < MOST_MOVES) {
        c->move[c->moves].axis = axis;
        c->move[c->moves++].value = value;
    }
}

/* Considers values near the current one, its half and its double; neighbours in a list; all choices. */
static void consider_axis(struct choosing *c, int axis)
{
    const struct domain *const domain = &c->options->space->domain[axis];
    const int64_t at = c->config->value[axis];
    if (domain->value_count > 0) {
        for (int i = 0; i < domain->value_count; i++)
            consider_value(c, axis, domain->value[i]);
        return;
    }
    for (int64_t d = -NEAR; d <= NEAR; d++)
        consider_value(c, axis, at + d);
    if (at / 2 < at - NEAR)
        consider_value(c, axis, at / 2);
    if (2 * at > at + NEAR)
        consider_value(c, axis, 2 * at);
}

/* Considers compensating moves, such as padding and dilation of a convolution: all tensors keep their
 * shapes. */
static void consider_moves(struct choosing *c)
{
    for (int i = 0; i < c->moves; i++)
        for (int j = i + 1; j < c->moves; j++) {
            struct config config = *c->config;
            config.value[c->move[i].axis] = c->move[i].value;
            config.value[c->move[j].axis] = c->move[j].value;
            if (c->move[i].axis != c->move[j].axis)
                consider(c, &config);
        }
}

static void collect_axes(struct choosing *c, const struct sibling_wish *wish)
{
    for (int axis = 0; c->problem->axes[axis].name; axis++) /* another input class makes no sibling */
        if (axis != problem_input_axis(c->problem) && (wish->axis[0] < 0 || wish->axis[0] == axis))
            consider_axis(c, axis);
    if (c->kind == SIBLING_ARGUMENT && c->count == 0)
        consider_moves(c);
}

/* --- pairs of extents --- */

static void consider_two(struct choosing *c, int i, int64_t a, int j, int64_t b)
{
    struct config config = *c->config;
    config.value[i] = a;
    config.value[j] = b;
    if (a > 0 && b > 0 && domain_contains(&c->options->space->domain[i], a) &&
        domain_contains(&c->options->space->domain[j], b))
        consider(c, &config);
}

/* Considers divisors of the product near either extent, and both ends. */
static void consider_products(struct choosing *c, int i, int j)
{
    enum { FACTORS = 16 };
    const int64_t a = c->config->value[i], b = c->config->value[j];
    if (a <= 0 || b <= 0 || a > INT64_MAX / b)
        return;
    const int64_t product = a * b;
    for (int64_t f = 2; f <= FACTORS; f++) {
        if (b % f == 0)
            consider_two(c, i, a * f, j, b / f);
        if (a % f == 0)
            consider_two(c, i, a / f, j, b * f);
    }
    consider_two(c, i, 1, j, product);
    consider_two(c, i, product, j, 1);
    consider_two(c, i, b, j, a);
    const struct domain *const list = &c->options->space->domain[i];
    for (int k = 0; k < list->value_count; k++)
        if (list->value[k] > 0 && product % list->value[k] == 0)
            consider_two(c, i, list->value[k], j, product / list->value[k]);
}

static void consider_sums(struct choosing *c, int i, int j)
{
    enum { STEPS = 8 };
    const int64_t a = c->config->value[i], b = c->config->value[j];
    for (int64_t d = -STEPS; d <= STEPS; d++)
        consider_two(c, i, a + d, j, b - d);
    consider_two(c, i, a + b / 2, j, b - b / 2);
    consider_two(c, i, a - a / 2, j, b + a / 2);
    const struct domain *const list = &c->options->space->domain[i];
    for (int k = 0; k < list->value_count; k++)
        consider_two(c, i, list->value[k], j, a + b - list->value[k]);
}

static void consider_pair(struct choosing *c, int i, int j)
{
    if (c->kind == SIBLING_SWAP)
        consider_two(c, i, c->config->value[j], j, c->config->value[i]);
    else if (c->kind == SIBLING_PRODUCT)
        consider_products(c, i, j);
    else
        consider_sums(c, i, j);
}

/* Bit mask of the tensors whose shapes depend on an axis; all of them if a step leaves the contract. */
static unsigned tensors_of(const struct choosing *c, int axis)
{
    const struct domain *const domain = &c->options->space->domain[axis];
    for (int sign = 1; sign >= -1; sign -= 2) {
        struct config config = *c->config;
        struct instance instance;
        unsigned tensors = 0;
        config.value[axis] = domain_next(domain, config.value[axis], sign);
        if (config.value[axis] == c->config->value[axis] || !measure(c, &config, &instance))
            continue;
        for (int t = 0; c->problem->tensors[t].name; t++)
            tensors |= memcmp(c->instance.tensor[t].dim, instance.tensor[t].dim,
                              (size_t)c->instance.tensor[t].rank * sizeof *instance.tensor[t].dim)
                           ? 1u << t
                           : 0;
        instance_clear(&instance);
        return tensors;
    }
    return ~0u;
}

/* Collects from pairs of axes in random order, pairs of the same tensor first, until one has siblings. */
static void collect_pairs(struct choosing *c, const struct sibling_wish *wish)
{
    int axes[PROBLEM_MAX_AXES], count = 0, pairs = 0;
    unsigned tensors[PROBLEM_MAX_AXES];
    unsigned char pair[PROBLEM_MAX_AXES * PROBLEM_MAX_AXES][2];
    for (int axis = 0; c->problem->axes[axis].name; axis++)
        if (domain_is_number(c->options->space, axis)) {
            tensors[count] = tensors_of(c, axis);
            axes[count++] = axis;
        }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (i != j && (wish->axis[0] < 0 || (wish->axis[0] == axes[i] && wish->axis[1] == axes[j]))) {
                pair[pairs][0] = (unsigned char)i;
                pair[pairs++][1] = (unsigned char)j;
            }
    for (int apart = 0; apart < 2; apart++)
        for (int left = pairs; left > 0 && c->count == 0; left--) {
            const int at = (int)pcg_below(c->random, (uint64_t)left), i = pair[at][0], j = pair[at][1];
            pair[at][0] = pair[left - 1][0], pair[at][1] = pair[left - 1][1];
            pair[left - 1][0] = (unsigned char)i, pair[left - 1][1] = (unsigned char)j;
            if (apart || (tensors[i] & tensors[j]) != 0)
                consider_pair(c, axes[i], axes[j]);
        }
}

static bool collect(struct choosing *c, enum sibling_kind kind, const struct sibling_wish *wish)
{
    c->kind = kind;
    c->count = c->moves = 0;
    if (kind == SIBLING_SWAP || kind == SIBLING_PRODUCT || kind == SIBLING_SUM)
        collect_pairs(c, wish);
    else
        collect_axes(c, wish);
    return c->count > 0;
}

static bool collect_any(struct choosing *c, const struct sibling_wish *wish)
{
    int kinds[SIBLING_KINDS];
    for (int i = 0; i < SIBLING_KINDS; i++)
        kinds[i] = i;
    if (wish->kind >= 0)
        return collect(c, (enum sibling_kind)wish->kind, wish);
    for (int left = SIBLING_KINDS; left > 0; left--) {
        const int at = (int)pcg_below(c->random, (uint64_t)left), kind = kinds[at];
        kinds[at] = kinds[left - 1];
        if (collect(c, (enum sibling_kind)kind, wish))
            return true;
    }
    return false;
}

bool sibling_choose(const struct session_options *options, const struct config *config,
                    const struct sibling_wish *wish, bool kin, unsigned salt, struct config *sibling)
{
    struct choosing *const c = calloc(1, sizeof *c);
    struct pcg *const random = pcg_new(config->seed + ((uint64_t)salt << 40), "twin");
    bool found = false;
    if (c && random && config_measure(config, &c->instance) == 0) {
        c->options = options;
        c->problem = options->problem;
        c->config = config;
        c->random = random;
        c->kin = kin;
        found = collect_any(c, wish);
        if (found)
            *sibling = c->kept[pcg_below(random, (uint64_t)(c->count < MOST_KEPT ? c->count : MOST_KEPT))];
        instance_clear(&c->instance);
    }
    pcg_free(random);
    free(c);
    return found;
}
