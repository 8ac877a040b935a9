/* The quantities that a fault may depend on: axes, products, ratios, remainders, tile counts, and the
 * problem's derived sizes. */
#include "quantity.h"

#include <stdio.h>

#include "gen/contract/constraint.h"
#include "gen/contract/instantiate.h"

bool quantity_is_axis(const struct quantity *quantity)
{
    return quantity->kind == QUANTITY_PRODUCT && quantity->count == 1;
}

bool quantity_is_order(const struct quantity *quantity)
{
    return quantity->kind == QUANTITY_ORDER || quantity->kind == QUANTITY_SIZE_ORDER;
}

bool quantity_is_drawn(const struct quantity *quantity)
{
    return quantity->kind == QUANTITY_DERIVED || quantity->kind == QUANTITY_SIZE_ORDER ||
           quantity->kind == QUANTITY_SIZE_PRODUCT || quantity->kind == QUANTITY_SIZE_OFFSET;
}

bool quantity_is_single(const struct quantity *quantity)
{
    return quantity_is_axis(quantity) || quantity->kind == QUANTITY_DERIVED;
}

/* An axis with two values needs one equality; remainders and powers of two add nothing to it. */
bool quantity_is_flag(const struct quantity *quantity, const struct space *space)
{
    return quantity_is_axis(quantity) && space->domain[quantity->axis[0]].value_count == 2;
}

/* Tile counts have no thresholds of their own, since those of their axis say the same. */
bool quantity_has_thresholds(const struct quantity *quantity)
{
    return quantity->kind != QUANTITY_CHOICE && !quantity_is_order(quantity) &&
           quantity->kind != QUANTITY_TILES;
}

bool quantity_lists(const struct quantity *quantity, int64_t value)
{
    for (int i = 0; i < quantity->listed_count; i++)
        if (quantity->listed[i] == value)
            return true;
    return false;
}

/* Saturates on overflow, as a constraint does (constraint.h). */
static int64_t product(const struct quantity *quantity, const struct config *config)
{
    int64_t value = 1;
    for (int i = 0; i < quantity->count; i++)
        if (__builtin_mul_overflow(value, config->value[quantity->axis[i]], &value))
            return INT64_MAX;
    return value;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int64_t least_common_multiple(int64_t a, int64_t b)
{
    return a / gcd(a, b) * b;
}

/* Saturates on overflow, as a constraint does. */
static int64_t offset(int64_t rows, int64_t pitch)
{
    int64_t value;
    return __builtin_mul_overflow(rows - 1, pitch, &value) ? INT64_MAX : value;
}

static int64_t order_of(int64_t a, int64_t b)
{
    return a < b ? ORDER_LESS : a == b ? ORDER_SAME : ORDER_MORE;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t value;
    return __builtin_mul_overflow(a, b, &value) ? INT64_MAX : value;
}

int64_t quantity_value_of_sizes(const struct quantity *quantity, const struct config *config,
                                const int64_t *size)
{
    const int64_t first = size[quantity->derived];
    const int64_t second = quantity->second >= 0 ? size[quantity->second] : 1;
    const int64_t axis = quantity->against >= 0 ? config->value[quantity->against] : 1;
    switch (quantity->kind) {
    case QUANTITY_DERIVED: return first;
    case QUANTITY_SIZE_ORDER: return order_of(first, quantity->second >= 0 ? second : axis);
    case QUANTITY_SIZE_PRODUCT: return times(times(first, second), axis);
    case QUANTITY_SIZE_OFFSET: return offset(axis, first);
    default: return quantity_value(quantity, config);
    }
}

static int64_t value_of_drawn(const struct quantity *quantity, const struct config *config)
{
    int64_t size[MOST_DERIVED];
    size[quantity->derived] = config_derived(config, quantity->derived);
    if (quantity->second >= 0)
        size[quantity->second] = config_derived(config, quantity->second);
    return quantity_value_of_sizes(quantity, config, size);
}

static int64_t tiles_of(int64_t extent, int64_t tile)
{
    return tile > 0 ? (extent + tile - 1) / tile : 0;
}

static int64_t value_of_expression(const struct quantity *quantity, const struct config *config)
{
    int64_t value;
    return expression_value(quantity->expression, config, &value) ? value : 0;
}

/* No quotient has an axis whose list holds 0: such an axis is a flag. */
int64_t quantity_value(const struct quantity *quantity, const struct config *config)
{
    const int64_t a = config->value[quantity->axis[0]];
    const int64_t b = quantity->count > 1 ? config->value[quantity->axis[1]] : quantity->tile;
    switch (quantity->kind) {
    case QUANTITY_PRODUCT: return product(quantity, config);
    case QUANTITY_RATIO: return b > 0 ? a / b : 0;
    case QUANTITY_REMAINDER: return b > 0 ? a % b : 0;
    case QUANTITY_CEILING:
    case QUANTITY_TILES: return tiles_of(a, b);
    case QUANTITY_OFFSET: return offset(a, b);
    case QUANTITY_ORDER: return order_of(a, b);
    case QUANTITY_GCD: return gcd(a, b);
    case QUANTITY_DERIVED:
    case QUANTITY_SIZE_ORDER:
    case QUANTITY_SIZE_PRODUCT:
    case QUANTITY_SIZE_OFFSET: return value_of_drawn(quantity, config);
    case QUANTITY_TILED_PRODUCT: return times(b, tiles_of(a, quantity->tile));
    case QUANTITY_EXPRESSION: return value_of_expression(quantity, config);
    case QUANTITY_GRID: return times(tiles_of(a, quantity->tile), tiles_of(b, quantity->other_tile));
    default: return a;
    }
}

/* Writes a product of sizes, such as "oh*ow*n". */
static int format_sizes(const struct quantity *quantity, const struct problem *problem, char *text,
                        size_t size)
{
    const bool two = quantity->second >= 0, axis = quantity->against >= 0;
    return snprintf(text, size, "%s%s%s%s%s", problem->derived[quantity->derived].name, two ? "*" : "",
                    two ? problem->derived[quantity->second].name : "", axis ? "*" : "",
                    axis ? problem->axes[quantity->against].name : "");
}

static int format_product(const struct quantity *quantity, const struct axis *axes, char *text, size_t size)
{
    size_t length = 0;
    for (int i = 0; i < quantity->count; i++) {
        int wrote =
            snprintf(text + length, size - length, "%s%s", i ? "*" : "", axes[quantity->axis[i]].name);
        if (wrote < 0 || (size_t)wrote >= size - length)
            return -1;
        length += (size_t)wrote;
    }
    return (int)length;
}

int quantity_format(const struct quantity *quantity, const struct problem *problem, char *text, size_t size)
{
    const struct axis *axes = problem->axes;
    const char *a = axes[quantity->axis[0]].name;
    const char *b = quantity->count > 1 ? axes[quantity->axis[1]].name : "";
    int length;
    switch (quantity->kind) {
    case QUANTITY_PRODUCT: return format_product(quantity, axes, text, size);
    case QUANTITY_RATIO: length = snprintf(text, size, "%s / %s", a, b); break;
    case QUANTITY_REMAINDER: length = snprintf(text, size, "%s %% %s", a, b); break;
    case QUANTITY_CEILING: length = snprintf(text, size, "(%s + %s - 1) / %s", a, b, b); break;
    case QUANTITY_GCD: length = snprintf(text, size, "gcd(%s, %s)", a, b); break;
    case QUANTITY_OFFSET: length = snprintf(text, size, "(%s - 1) * %s", a, b); break;
    case QUANTITY_TILES:
        length = snprintf(text, size, "(%s + %lld) / %lld", a, (long long)quantity->tile - 1,
                          (long long)quantity->tile);
        break;
    case QUANTITY_TILED_PRODUCT:
        length = snprintf(text, size, "%s*((%s + %lld) / %lld)", b, a, (long long)quantity->tile - 1,
                          (long long)quantity->tile);
        break;
    case QUANTITY_GRID:
        length = snprintf(text, size, "(%s + %lld) / %lld * ((%s + %lld) / %lld)", a,
                          (long long)quantity->tile - 1, (long long)quantity->tile, b,
                          (long long)quantity->other_tile - 1, (long long)quantity->other_tile);
        break;
    case QUANTITY_EXPRESSION:
        length = snprintf(text, size, "%s", constraint_text(quantity->expression));
        break;
    case QUANTITY_SIZE_PRODUCT: length = format_sizes(quantity, problem, text, size); break;
    case QUANTITY_SIZE_OFFSET:
        length = snprintf(text, size, "(%s - 1) * %s", axes[quantity->against].name,
                          problem->derived[quantity->derived].name);
        break;
    case QUANTITY_SIZE_ORDER:
    case QUANTITY_DERIVED:
        length = snprintf(text, size, "%s", problem->derived[quantity->derived].name);
        break;
    default: length = snprintf(text, size, "%s", a);
    }
    return length < 0 || (size_t)length >= size ? -1 : length;
}
