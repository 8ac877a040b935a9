/* Describes what two configurations share. */
#include <stdarg.h>
#include <stdio.h>

#include "sibling.h"

__attribute__((format(printf, 4, 5))) static size_t add(char *text, size_t size, size_t length,
                                                        const char *format, ...)
{
    va_list arguments;
    if (length >= size)
        return length;
    va_start(arguments, format);
    length += (size_t)vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
    return length;
}

void sibling_axes(const struct problem *problem, const struct config *config, const struct config *other,
                  char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (int axis = 0; problem->axes[axis].name; axis++) {
        const char *const gap = length > 0 ? " " : "", *const name = problem->axes[axis].name;
        if (config->value[axis] == other->value[axis])
            continue;
        if (problem->axes[axis].kind == AXIS_CHOICE)
            length = add(text, size, length, "%s%s=%s", gap, name,
                         problem_choice(problem, axis, config->value[axis]));
        else
            length = add(text, size, length, "%s%s=%lld", gap, name, (long long)config->value[axis]);
    }
}

struct difference {
    int axis[PROBLEM_MAX_AXES], count;
    bool choices; /* some of them are choices */
};

static struct difference find_difference(const struct problem *problem, const struct config *a,
                                         const struct config *b)
{
    struct difference d = {.count = 0};
    for (int axis = 0; problem->axes[axis].name; axis++)
        if (a->value[axis] != b->value[axis] && axis != problem_input_axis(problem)) {
            d.axis[d.count++] = axis;
            d.choices = d.choices || problem->axes[axis].kind == AXIS_CHOICE;
        }
    return d;
}

static bool has_numbers(const struct problem *problem, const struct difference *d)
{
    int numbers = 0;
    for (int i = 0; i < d->count; i++)
        numbers += problem->axes[d->axis[i]].kind == AXIS_NUMBER;
    return numbers >= 2;
}

static void drop_choices(const struct problem *problem, struct difference *d)
{
    int kept = 0;
    for (int i = 0; i < d->count; i++)
        if (problem->axes[d->axis[i]].kind == AXIS_NUMBER)
            d->axis[kept++] = d->axis[i];
    d->count = kept;
}

static bool is_equal_product(const struct difference *d, const struct config *a, const struct config *b)
{
    double x = 1, y = 1;
    for (int i = 0; i < d->count; i++) {
        x *= (double)a->value[d->axis[i]];
        y *= (double)b->value[d->axis[i]];
    }
    return x == y;
}

static bool is_equal_sum(const struct difference *d, const struct config *a, const struct config *b)
{
    int64_t sum = 0;
    for (int i = 0; i < d->count; i++)
        sum += a->value[d->axis[i]] - b->value[d->axis[i]];
    return sum == 0;
}

static bool is_swap(const struct difference *d, const struct config *a, const struct config *b)
{
    return d->count == 2 && a->value[d->axis[0]] == b->value[d->axis[1]] &&
           a->value[d->axis[1]] == b->value[d->axis[0]];
}

bool sibling_kind_of(const struct problem *problem, const struct config *a, const struct config *b,
                     struct sibling_wish *wish)
{
    const struct difference d = find_difference(problem, a, b);
    *wish = sibling_any;
    if (d.count < 1 || d.count > 2 || (d.count == 2 && d.choices))
        return false;
    wish->axis[0] = d.axis[0];
    wish->axis[1] = d.count == 2 ? d.axis[1] : -1;
    wish->kind = d.count == 1                 ? SIBLING_AXIS
                 : is_swap(&d, a, b)          ? SIBLING_SWAP
                 : is_equal_product(&d, a, b) ? SIBLING_PRODUCT
                 : is_equal_sum(&d, a, b)     ? SIBLING_SUM
                                              : -1;
    return wish->kind >= 0;
}

bool sibling_may_collide(const struct problem *problem, const struct config *a, const struct config *b)
{
    struct difference d = {.count = 0};
    for (int axis = 0; problem->axes[axis].name; axis++)
        if (problem->axes[axis].kind == AXIS_NUMBER && a->value[axis] != b->value[axis])
            d.axis[d.count++] = axis;
    return d.count < 2 || is_equal_product(&d, a, b) || is_equal_sum(&d, a, b);
}

static void join(const struct problem *problem, const struct difference *d, const char *begin,
                 const char *between, char text[SIBLING_TEXT])
{
    size_t length = add(text, SIBLING_TEXT, 0, "%s", begin);
    for (int i = 0; i < d->count; i++)
        length =
            add(text, SIBLING_TEXT, length, "%s%s", i > 0 ? between : "", problem->axes[d->axis[i]].name);
}

void sibling_relation(const struct problem *problem, const struct config *a, const struct config *b,
                      char text[SIBLING_TEXT])
{
    struct difference d = find_difference(problem, a, b);
    if (d.choices && has_numbers(problem, &d))
        drop_choices(problem, &d); /* keys consist of extents */
    text[0] = '\0';
    if (d.count == 0)
        snprintf(text, SIBLING_TEXT, "equal except for the contents");
    else if (d.count == 1)
        join(problem, &d, "equal except for ", ", ", text);
    else if (is_swap(&d, a, b))
        snprintf(text, SIBLING_TEXT, "%s and %s swapped", problem->axes[d.axis[0]].name,
                 problem->axes[d.axis[1]].name);
    else if (is_equal_product(&d, a, b))
        join(problem, &d, "equal ", "*", text);
    else if (is_equal_sum(&d, a, b))
        join(problem, &d, "equal ", "+", text);
    else
        join(problem, &d, "equal except for ", " and ", text);
}
