/* Inputs that a task computes: tables, band masks, permutations, sorted indices. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "task_internal.h"

void task_table_free(struct task_table *table)
{
    if (!table)
        return;
    constraint_free(table->start);
    constraint_free(table->low);
    constraint_free(table->high);
    for (int d = 0; d < PROBLEM_MAX_RANK; d++)
        constraint_free(table->step[d]);
    free(table);
}

/* Returns an expression's value, which may be negative; `otherwise` if it has none. */
static int64_t term(const struct constraint *expression, const struct config *config, int64_t otherwise)
{
    int64_t value;
    return expression && expression_value(expression, config, &value) ? value : otherwise;
}

static int32_t narrowed(int64_t value)
{
    return (int32_t)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

/* start + sum over dimensions of step * place */
static void fill_affine(const struct task_table *table, const struct config *config, int64_t count,
                        const struct instance_tensor *out, int32_t *given)
{
    const int64_t start = term(table->start, config, 0);
    int64_t step[PROBLEM_MAX_RANK];
    for (int d = 0; d < out->rank; d++)
        step[d] = term(table->step[d], config, 0);
    for (int64_t i = 0; i < count; i++) {
        int64_t value = start, rest = i;
        for (int d = out->rank - 1; d >= 0; d--) {
            value += step[d] * (rest % out->dim[d]);
            rest /= out->dim[d];
        }
        given[i] = narrowed(value);
    }
}

/* `inside` where low <= column - row <= high. */
static void fill_band(const struct task_table *table, const struct config *config, int64_t count,
                      const struct instance_tensor *out, int32_t inside, int32_t *given)
{
    const int64_t columns = out->rank ? out->dim[out->rank - 1] : 1;
    const int64_t rows = out->rank > 1 ? out->dim[out->rank - 2] : 1;
    const int64_t low = term(table->low, config, -rows), high = term(table->high, config, columns);
    for (int64_t i = 0; i < count; i++) {
        const int64_t place = i % columns - i / columns % rows;
        given[i] = place >= low && place <= high ? inside : 0;
    }
}

/* Returns the scale of the given numbers if the value is no small whole number, else 0. A value beyond floats
 * overflows. */
static float factor_of(double value)
{
    const bool whole = fabs(value) < 0x1p24 && value == floor(value);
    return whole ? 0 : fabs(value) > FLT_MAX ? (value > 0 ? FLT_MAX : -FLT_MAX) : (float)value;
}

static int32_t inside_of(double value)
{
    return factor_of(value) == 0 ? (int32_t)value : fabs(value) > FLT_MAX ? INT32_MAX : 1;
}

static int compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void fill_rows(enum task_drawn drawn, int64_t low, int64_t levels, int64_t count,
                      const struct instance_tensor *out, struct random *random, int32_t *given)
{
    const int64_t row = out->rank ? out->dim[out->rank - 1] : 1;
    for (int64_t start = 0; start < count; start += row) {
        int32_t *const at = given + start;
        for (int64_t i = 0; i < row; i++) {
            if (drawn == TASK_ASCENDING) {
                at[i] = narrowed(low + (int64_t)random_below(random, (uint64_t)levels));
                continue;
            }
            const int64_t other = (int64_t)random_below(random, (uint64_t)i + 1);
            at[i] = at[other];
            at[other] = narrowed(i);
        }
        if (drawn == TASK_ASCENDING)
            qsort(at, (size_t)row, sizeof *at, compare);
    }
}

/* Draws the first elements of a partly shuffled pool: each is one of those that are left. */
static void draw_row(int32_t *pool, int64_t count, int64_t row, int64_t step, struct random *random,
                     int32_t *given)
{
    for (int64_t i = 0; i < row; i++) {
        const int64_t at = i % count;
        const int64_t other = at + (int64_t)random_below(random, (uint64_t)(count - at));
        const int32_t drawn = pool[other];
        pool[other] = pool[at];
        pool[at] = drawn;
        given[i * step] = drawn;
    }
}

int task_table_distinct(int along, int64_t low, int64_t count, struct random *random,
                        struct instance_tensor *out)
{
    const int64_t elements = instance_tensor_count(out);
    const bool whole = along < 0 || along >= out->rank;
    const int64_t row = whole ? elements : out->dim[along];
    int64_t step = 1;
    for (int d = along + 1; !whole && d < out->rank; d++)
        step *= out->dim[d];
    int32_t *const given = calloc((size_t)(elements ? elements : 1), sizeof *given);
    int32_t *const pool = malloc((size_t)count * sizeof *pool);
    if (!given || !pool) {
        free(given);
        free(pool);
        return -1;
    }
    for (int64_t i = 0; i < count; i++)
        pool[i] = narrowed(low + i);
    for (int64_t start = 0; start < elements; start += row * step)
        for (int64_t inner = 0; inner < step; inner++)
            draw_row(pool, count, row, step, random, given + start + inner);
    free(pool);
    out->fill = (struct fill){.kind = FILL_GIVEN, .given = given};
    return 0;
}

int task_table_draw(const struct task_fill *drawn, int64_t low, int64_t count, const struct config *config,
                    struct random *random, struct instance_tensor *out)
{
    const int64_t elements = instance_tensor_count(out);
    int32_t *const given = calloc((size_t)(elements ? elements : 1), sizeof *given);
    if (!given)
        return -1;
    out->fill = (struct fill){.kind = FILL_GIVEN, .given = given};
    if (drawn->drawn == TASK_AFFINE) {
        fill_affine(drawn->table, config, elements, out, given);
    } else if (drawn->drawn == TASK_BAND) {
        out->fill.b = factor_of(drawn->table->value);
        fill_band(drawn->table, config, elements, out, inside_of(drawn->table->value), given);
    } else {
        fill_rows(drawn->drawn, low, count, elements, out, random, given);
    }
    return 0;
}
