#include <math.h>
#include <stdlib.h>

#include "task_internal.h"

/* Returns an extent. One that cannot be computed (a division by 0) lies outside of the contract, and nothing
 * runs it: it counts as 0. */
static int64_t value_of(const struct constraint *expression, const struct config *config)
{
    int64_t value = 0;
    return expression_value(expression, config, &value) && value > 0 ? value : 0;
}

static void set_shape(const struct task_shape *shape, const struct config *config,
                      struct instance_tensor *out)
{
    out->rank = shape->rank;
    for (int i = 0; i < shape->rank; i++)
        out->dim[i] = value_of(shape->dim[i], config);
}

static int64_t weights_of(const struct imported *task, const struct config *config)
{
    int64_t total = 0;
    for (int i = 0; i < task->weight_count; i++) {
        int64_t count = 1;
        for (int d = 0; d < task->weight[i].rank; d++)
            if (__builtin_mul_overflow(count, value_of(task->weight[i].dim[d], config), &count))
                return INT64_MAX / 16;
        if (__builtin_add_overflow(total, count, &total))
            return INT64_MAX / 16;
    }
    return total;
}

static double work_of(const struct imported *task, const struct config *config)
{
    const struct task_work *flops = &task->flops;
    double work = flops->coefficient;
    for (int i = 0; task->axes[i].name; i++) {
        const double value = config->value[i] > 0 ? (double)config->value[i] : 1; /* a count may be 0 */
        if (flops->power[i] != 0)
            work *= pow(value, flops->power[i]);
        if (value < flops->base[i])
            work *= pow(value / flops->base[i], flops->below[i] - flops->power[i]);
    }
    return work;
}

int imported_measure(const struct config *config, struct random *shape_random, struct instance *out)
{
    const struct imported *task = config->problem->task;
    (void)shape_random;
    *out = (struct instance){0};
    for (int i = 0, n = 0; task->axes[i].name; i++)
        if (task->axes[i].kind == AXIS_NUMBER)
            out->extent[n++] = config->value[i];
    for (int t = 0; task->tensors[t].name; t++) {
        if (t != task->weights) {
            set_shape(&task->shape[t], config, &out->tensor[t]);
            continue;
        }
        out->tensor[t].rank = 1;
        out->tensor[t].dim[0] = weights_of(task, config);
    }
    out->flops = work_of(task, config);
    for (int t = 0; task->tensors[t].name; t++)
        out->bytes += (double)dtype_bytes(task->tensors[t].dtype, instance_tensor_count(&out->tensor[t]));
    return 0;
}

int imported_instantiate(const struct config *config, struct random *shape_random,
                         struct random *content_random, struct instance *out)
{
    (void)content_random;
    return imported_measure(config, shape_random, out);
}

/* --- values --- */

/* Draws a matrix of multiples of 2^-23, in [-1, 1) or [0, 1). Fills have no triangular or symmetric
 * matrices. */
static int draw_matrix(const struct task_fill *drawn, struct random *random, struct instance_tensor *out)
{
    enum { BITS = 23 };
    const int64_t count = instance_tensor_count(out);
    const int64_t n = out->rank ? out->dim[out->rank - 1] : 1;
    const bool is_signed = drawn->fill.a < 0;
    int32_t *given = malloc((size_t)(count ? count : 1) * sizeof *given);
    if (!given)
        return -1;
    for (int64_t i = 0; i < count; i++) {
        const int64_t column = i % n, row = i / n % n;
        const int64_t drawn_bits = (int64_t)random_below(random, (uint64_t)1 << (BITS + is_signed));
        given[i] = (int32_t)(drawn_bits - (is_signed ? (int64_t)1 << BITS : 0));
        if ((drawn->drawn == TASK_TRIU && column < row) || (drawn->drawn == TASK_TRIL && column > row))
            given[i] = 0;
        if (drawn->drawn == TASK_SYMMETRIC && column < row)
            given[i] = given[i - row * n - column + column * n + row];
    }
    out->fill = (struct fill){.kind = FILL_GIVEN, .given = given, .b = 0x1p-23f};
    return 0;
}

/* Draws parts of different magnitude along one dimension, or along the first few together: samples, channels,
 * rows, columns. Each draw chooses again, so that whichever part a kernel reduces over is sometimes all 0. */
static struct fill uneven(const struct task_fill *drawn, struct random *random,
                          const struct instance_tensor *tensor)
{
    struct fill fill = drawn->fill;
    const int last = tensor->rank > 0 ? tensor->rank - 1 : 0;
    const int at = (int)random_below(random, (uint64_t)last + 1);
    const bool alone = random_below(random, 2) == 0;
    if (fill.density < 1 && random_below(random, 2) == 0)
        fill.density = 0.5f; /* so that one of a few parts is 0 */
    fill.step = fill.inner = 1;
    for (int d = at + 1; d < tensor->rank; d++)
        fill.step *= tensor->dim[d];
    for (int d = alone ? at : 0; d <= at && d < tensor->rank; d++)
        fill.inner *= tensor->dim[d];
    return fill;
}

/* Draws indices. If the class asks for it, all are the greatest in one of four draws, and all the least in
 * another. Fills draw in fp32, which holds whole numbers up to 2^24: a wider range is drawn up to there. */
static struct fill levels(const struct task_fill *drawn, int64_t low, int64_t count, struct random *random)
{
    const int64_t most = (int64_t)1 << 24, end = low + count;
    const int64_t least = low < -most && end > -most ? -most : low;
    const int64_t beyond = end > most && least < most ? most : end;
    struct fill fill = {
        .kind = FILL_LEVELS, .a = (float)least, .b = (float)(beyond - least), .density = drawn->fill.density};
    const uint64_t turn = fill.density > 0 ? random_below(random, 4) : 4;
    if (turn > 1)
        return fill;
    fill.a = turn == 0 ? fill.a + fill.b - 1 : fill.a;
    fill.b = 1;
    return fill;
}

/* Keeps only the levels in the range of indices, since others would be read out of bounds. Other elements are
 * as published; all of them are if no level is in the range. */
static struct fill decision(const struct task_fill *drawn, int64_t low, int64_t count)
{
    struct fill fill = drawn->fill;
    if (fill.step != -1)
        return fill;
    fill.level_count = 0;
    fill.a = (float)low;
    fill.b = (float)count;
    for (int i = 0; i < drawn->fill.level_count; i++)
        if (drawn->fill.level[i] >= (float)low && drawn->fill.level[i] < (float)(low + count))
            fill.level[fill.level_count++] = drawn->fill.level[i];
    return fill;
}

/* Returns the least index of an input. */
static int64_t least_of(const struct imported *task, int t, const struct config *config)
{
    int64_t value;
    const struct constraint *const least = task->least[t];
    return least && expression_value(least, config, &value) ? value : task->low[t];
}

static int draw_input(const struct imported *task, int t, const struct task_fill *drawn,
                      const struct config *config, struct random *random, struct instance_tensor *out)
{
    const int64_t row = out->rank ? out->dim[out->rank - 1] : 1;
    const int64_t low = least_of(task, t, config);
    const int64_t below = value_of(task->bound[t], config) - low, count = below > 1 ? below : 1;
    switch (drawn->drawn) {
    case TASK_DECISION: out->fill = decision(drawn, low, count); return 0;
    case TASK_INDEX: out->fill = levels(drawn, low, count, random); return 0;
    case TASK_UNEVEN: out->fill = uneven(drawn, random, out); return 0;
    case TASK_SIMPLEX: {
        const float mean = 1.0f / (float)(row > 0 ? row : 1);
        out->fill = (struct fill){.kind = FILL_UNIFORM, .a = 0.5f * mean, .b = 1.5f * mean};
        return 0;
    }
    case TASK_TRIU:
    case TASK_TRIL:
    case TASK_SYMMETRIC: return draw_matrix(drawn, random, out);
    case TASK_ASCENDING:
        if (drawn->fill.b > 0) /* floats, which have no bound */
            return task_table_draw(drawn, (int64_t)drawn->fill.a, (int64_t)drawn->fill.b, config, random,
                                   out);
        return task_table_draw(drawn, low, count, config, random, out);
    case TASK_DISTINCT: return task_table_distinct(drawn->along, low, count, random, out);
    case TASK_PERMUTATION:
    case TASK_AFFINE:
    case TASK_BAND: return task_table_draw(drawn, low, count, config, random, out);
    default: out->fill = drawn->fill; return 0;
    }
}

/* Draws the inputs that get_inputs computes from others, by a single call of it. */
static int draw_computed(const struct imported *task, int64_t class, struct random *random,
                         struct instance *out)
{
    const struct task_fill *const drawn = task->fill[class];
    bool wanted[PROBLEM_MAX_TENSORS] = {false}, any = false;
    int32_t *given[PROBLEM_MAX_TENSORS] = {NULL};
    for (int t = 0; task->tensors[t].name; t++) {
        wanted[t] = drawn[t].drawn == TASK_COMPUTED;
        any = any || wanted[t];
    }
    if (!any)
        return 0;
    const struct imported_wish wish = {.seed = random_below(random, (uint64_t)1 << 53),
                                       .class = task->classes[class].name,
                                       .wanted = wanted};
    const int status = imported_make(&task->problem, out, &wish, given);
    for (int t = 0; task->tensors[t].name && status == 0; t++)
        if (wanted[t])
            out->tensor[t].fill = (struct fill){
                .kind = FILL_GIVEN, .given = given[t], .floats = dtype_is_float(task->tensors[t].dtype)};
    return status;
}

int imported_draw(const struct config *config, struct random *content_random, struct instance *out)
{
    const struct imported *task = config->problem->task;
    const int64_t class = config->value[problem_input_axis(config->problem)];
    for (int t = 0; task->tensors[t].name; t++) {
        if (task->tensors[t].role == TENSOR_OUTPUT)
            continue;
        if (t == task->weights) {
            out->tensor[t].fill = task->fill[class][t].fill;
            out->tensor[t].fill.steady = true;
        } else if (task->fill[class][t].drawn != TASK_COMPUTED &&
                   draw_input(task, t, &task->fill[class][t], config, content_random, &out->tensor[t]))
            return -1;
    }
    return draw_computed(task, class, content_random, out);
}
