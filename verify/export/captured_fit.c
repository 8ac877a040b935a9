/* Axis values from the shapes of tensors. A size is solved where an extent depends on it alone, in steps that
 * are equal; then the next one, with the known ones in their places. */
#include <stdio.h>
#include <string.h>

#include "captured.h"
#include "gen/contract/instantiate.h"
#include "verify/torch/task.h"

enum { COMBINATIONS_MOST = 512 };

/* The extents that a configuration must have: those of `captured`, by the problem's tensors. */
struct wanted {
    const struct space *space;
    const struct captured_tensor *tensor[PROBLEM_MAX_TENSORS]; /* NULL: not captured */
    struct instance measured;
    char outside[128]; /* a size beyond the contract, in words; empty: none */
};

/* Nothing is measured with a size beyond the contract, where products may overflow. */
static bool is_inside(struct wanted *wanted, int axis, int64_t value)
{
    if (domain_contains(&wanted->space->domain[axis], value))
        return true;
    snprintf(wanted->outside, sizeof wanted->outside, "%.60s=%lld lies outside the contract",
             wanted->space->problem->axes[axis].name, (long long)value);
    return false;
}

/* Extent d of tensor t of a captured shape with more dimensions: the leading ones are one. */
static int64_t extent_of(const struct captured_tensor *tensor, int rank, int d)
{
    const int merged = tensor->rank - rank;
    int64_t extent = tensor->dim[d + merged];
    for (int i = 0; d == 0 && i < merged; i++)
        if (__builtin_mul_overflow(extent, tensor->dim[i], &extent))
            return INT64_MAX;
    return extent;
}

static bool dtype_fits(const struct tensor *tensor, const struct captured_tensor *captured)
{
    const char *const name = dtype_row(tensor->dtype)->in_torch;
    return !captured->dtype[0] || !name || strcmp(name, captured->dtype) == 0;
}

/* Pairs tensors by their names. Returns the number of pairs. */
static int pair_names(struct wanted *wanted, const struct captured *captured)
{
    const struct tensor *const tensors = wanted->space->problem->tensors;
    int named = 0;
    for (int t = 0; tensors[t].name; t++)
        for (int k = 0; k < captured->tensors && k < CAPTURED_TENSORS; k++)
            if (strcmp(tensors[t].name, captured->tensor[k].name) == 0) {
                wanted->tensor[t] = &captured->tensor[k];
                named++;
            }
    return named;
}

/* Pairs tensors by their order: inputs, then perhaps outputs. An imported task's packed weights are no
 * argument of a call; an operation has each of them behind the inputs. */
static bool pair_order(struct wanted *wanted, const struct captured *captured, char *why, size_t size)
{
    const struct problem *const problem = wanted->space->problem;
    const int packed = problem->task ? imported_weights(problem->task) : -1;
    int all = 0, inputs = 0;
    for (int t = 0; problem->tensors[t].name; t++) {
        all += t != packed;
        inputs += t != packed && problem->tensors[t].role != TENSOR_OUTPUT;
    }
    const int given = captured->tensors < CAPTURED_TENSORS ? captured->tensors : CAPTURED_TENSORS;
    if (packed >= 0 ? given < inputs : given != inputs && given != all) {
        snprintf(why, size, "it has %d tensors; %d inputs are expected", captured->tensors, inputs);
        return false;
    }
    for (int t = 0, k = 0; problem->tensors[t].name; t++)
        if (t != packed && (problem->tensors[t].role != TENSOR_OUTPUT || (packed < 0 && given == all)))
            wanted->tensor[t] = &captured->tensor[k++];
    return true;
}

static bool pair(struct wanted *wanted, const struct captured *captured, char *why, size_t size)
{
    const struct tensor *const tensors = wanted->space->problem->tensors;
    if (pair_names(wanted, captured) == 0 && !pair_order(wanted, captured, why, size))
        return false;
    for (int t = 0; tensors[t].name; t++)
        if (wanted->tensor[t] && !dtype_fits(&tensors[t], wanted->tensor[t])) {
            snprintf(why, size, "%s is %s; %s is expected", tensors[t].name, wanted->tensor[t]->dtype,
                     dtype_row(tensors[t].dtype)->in_torch);
            return false;
        }
    return true;
}

/* Extent d of tensor t; -1: the configuration has no instance. */
static int64_t measure(struct wanted *wanted, const struct config *config, int t, int d)
{
    if (config_measure(config, &wanted->measured) != 0)
        return -1;
    const struct instance_tensor *const tensor = &wanted->measured.tensor[t];
    const int64_t extent = d < tensor->rank ? tensor->dim[d] : -1;
    instance_clear(&wanted->measured);
    return extent;
}

/* Does the extent stay when the other open axes change? */
static bool is_of_axis_alone(struct wanted *wanted, const struct config *config, const bool *open, int axis,
                             int t, int d)
{
    const int64_t before = measure(wanted, config, t, d);
    for (int other = 0; wanted->space->problem->axes[other].name; other++) {
        struct config changed = *config;
        changed.value[other]++;
        if (open[other] && other != axis && measure(wanted, &changed, t, d) != before)
            return false;
    }
    return true;
}

/* Solves an open axis by one extent. */
static bool solve(struct wanted *wanted, struct config *config, const bool *open, int axis, int t, int d,
                  int rank)
{
    struct config moved = *config;
    int64_t extent[3];
    for (int i = 0; i < 3; i++, moved.value[axis]++)
        extent[i] = measure(wanted, &moved, t, d);
    const int64_t step = extent[1] - extent[0], rest = extent_of(wanted->tensor[t], rank, d) - extent[0];
    if (step == 0 || extent[2] - extent[1] != step || rest % step != 0 ||
        !is_of_axis_alone(wanted, config, open, axis, t, d) ||
        !is_inside(wanted, axis, config->value[axis] + rest / step))
        return false;
    config->value[axis] += rest / step;
    return true;
}

static bool solve_any(struct wanted *wanted, struct config *config, bool *open, int axis)
{
    for (int t = 0; wanted->space->problem->tensors[t].name; t++) {
        if (!wanted->tensor[t] || config_measure(config, &wanted->measured) != 0)
            continue;
        const int rank = wanted->measured.tensor[t].rank;
        instance_clear(&wanted->measured);
        for (int d = 0; d < rank && rank <= wanted->tensor[t]->rank; d++)
            if (solve(wanted, config, open, axis, t, d, rank)) {
                open[axis] = false;
                return true;
            }
    }
    return false;
}

/* The axis that stays open; -1: none. */
static int solve_all(struct wanted *wanted, struct config *config, bool *open)
{
    int left = -1;
    for (bool again = true; again;) {
        again = false;
        left = -1;
        for (int i = 0; wanted->space->problem->axes[i].name; i++) {
            again = (open[i] && solve_any(wanted, config, open, i)) || again;
            left = open[i] ? i : left;
        }
    }
    return left;
}

/* Has the configuration every captured extent? */
static bool has_shapes(struct wanted *wanted, const struct config *config, char *why, size_t size)
{
    const struct tensor *const tensors = wanted->space->problem->tensors;
    bool same = config_measure(config, &wanted->measured) == 0;
    if (!same)
        return false;
    for (int t = 0; tensors[t].name && same; t++) {
        const struct captured_tensor *const tensor = wanted->tensor[t];
        const int rank = wanted->measured.tensor[t].rank;
        same = !tensor || tensor->rank >= rank;
        for (int d = 0; tensor && d < rank && same; d++)
            same = extent_of(tensor, rank, d) == wanted->measured.tensor[t].dim[d];
        if (!same)
            snprintf(why, size, "the shape of %s does not go with the others", tensors[t].name);
    }
    instance_clear(&wanted->measured);
    return same;
}

/* Number of values of an axis that is tried value by value: a list, or choices without the input class. */
static int listed(const struct space *space, int axis)
{
    const bool input = axis == problem_input_axis(space->problem);
    return input ? 1 : space->domain[axis].value_count;
}

static bool try_one(struct wanted *wanted, struct config *config, const bool *given, char *why, size_t size)
{
    const struct space *const space = wanted->space;
    struct space_error error;
    bool open[PROBLEM_MAX_AXES] = {false};
    for (int i = 0; space->problem->axes[i].name; i++) {
        open[i] = listed(space, i) == 0 && !given[i];
        if (open[i])
            config->value[i] = 8 + 2 * i; /* anything: not yet known */
    }
    const int left = solve_all(wanted, config, open);
    if (left >= 0 && wanted->outside[0])
        snprintf(why, size, "%s", wanted->outside);
    else if (left >= 0)
        snprintf(why, size, "its shapes do not say %s", space->problem->axes[left].name);
    else if (has_shapes(wanted, config, why, size)) {
        if (space_contains(space, config, &error))
            return true;
        snprintf(why, size, "%.*s", (int)strcspn(error.text, "\n"), error.text);
    }
    return false;
}

/* Axes of a workload, by name. */
static bool take_axes(struct wanted *wanted, const struct captured *captured, struct config *config,
                      bool *given, char *why, size_t size)
{
    const struct space *const space = wanted->space;
    for (int i = 0; i < captured->axes; i++) {
        const int axis = problem_axis_index(space->problem, captured->axis[i].name);
        if (axis < 0 || space->problem->axes[axis].kind != AXIS_NUMBER) {
            snprintf(why, size, "%s is no size of %s", captured->axis[i].name, space->problem->name);
            return false;
        }
        if (!is_inside(wanted, axis, captured->axis[i].value)) {
            snprintf(why, size, "%s", wanted->outside);
            return false;
        }
        given[axis] = true;
        config->value[axis] = captured->axis[i].value;
    }
    return true;
}

bool captured_fit(const struct space *space, const struct captured *captured, struct config *config,
                  char *why, size_t size)
{
    struct wanted wanted = {.space = space};
    bool given[PROBLEM_MAX_AXES] = {false};
    int64_t all = 1;
    *config = (struct config){.problem = space->problem};
    snprintf(why, size, "out of memory");
    if (!take_axes(&wanted, captured, config, given, why, size) ||
        (captured->axes == 0 && !pair(&wanted, captured, why, size)))
        return false;
    const struct config start = *config;
    for (int i = 0; space->problem->axes[i].name; i++)
        all *= listed(space, i) > 0 && !given[i] ? listed(space, i) : 1;
    for (int64_t n = 0; n < all && n < COMBINATIONS_MOST; n++) {
        int64_t rest = n;
        *config = start;
        for (int i = 0; space->problem->axes[i].name; i++) {
            const int count = listed(space, i);
            if (count > 0 && !given[i]) {
                config->value[i] =
                    space->domain[i].value_count > 0 ? space->domain[i].value[rest % count] : 0;
                rest /= count;
            }
        }
        if (try_one(&wanted, config, given, why, size))
            return true;
    }
    return false;
}
