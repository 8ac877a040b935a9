/* The numbers that a kernel's faults may hang on: axes, products, ratios, remainders, tile counts, and the
 * problem's derived sizes. */
#include "explain_internal.h"

#include <stdio.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/constraint.h"

enum { MOST_TILE_BITS = 10 }; /* tile counts of 2..1024 */

static const double product_cost[] = {0, 0, 3, 4.5, 6}, offset_cost = 4, derived_cost = 1.5,
                    size_order_cost = 2;

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
    return quantity->kind == QUANTITY_DERIVED || quantity->kind == QUANTITY_SIZE_ORDER;
}

bool quantity_is_single(const struct quantity *quantity)
{
    return quantity_is_axis(quantity) || quantity->kind == QUANTITY_DERIVED;
}

/* Of two values one is asked for, and nothing else says more: no remainder, no power of two. */
bool quantity_is_flag(const struct quantity *quantity, const struct space *space)
{
    return quantity_is_axis(quantity) && space->domain[quantity->axis[0]].value_count == 2;
}

/* Tile counts have those of their axis. */
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

/* As a constraint computes it: saturating (constraint.h). */
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

/* As a constraint computes it: saturating. */
static int64_t offset(int64_t rows, int64_t pitch)
{
    int64_t value;
    return __builtin_mul_overflow(rows - 1, pitch, &value) ? INT64_MAX : value;
}

static int64_t order_of(int64_t a, int64_t b)
{
    return a < b ? ORDER_LESS : a == b ? ORDER_SAME : ORDER_MORE;
}

int64_t quantity_size_order(const struct quantity *quantity, const struct config *config, int64_t size)
{
    return order_of(size, config->value[quantity->against]);
}

/* An axis whose list holds 0 is a flag, of which no quotient is made. */
int64_t quantity_value(const struct quantity *quantity, const struct config *config)
{
    const int64_t a = config->value[quantity->axis[0]];
    const int64_t b = quantity->count > 1 ? config->value[quantity->axis[1]] : quantity->tile;
    switch (quantity->kind) {
    case QUANTITY_PRODUCT: return product(quantity, config);
    case QUANTITY_RATIO: return b > 0 ? a / b : 0;
    case QUANTITY_REMAINDER: return b > 0 ? a % b : 0;
    case QUANTITY_CEILING:
    case QUANTITY_TILES: return b > 0 ? (a + b - 1) / b : 0;
    case QUANTITY_OFFSET: return offset(a, b);
    case QUANTITY_ORDER: return order_of(a, b);
    case QUANTITY_GCD: return gcd(a, b);
    case QUANTITY_DERIVED: return config_derived(config, quantity->derived);
    case QUANTITY_SIZE_ORDER:
        return quantity_size_order(quantity, config, config_derived(config, quantity->derived));
    default: return a;
    }
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
    case QUANTITY_SIZE_ORDER:
    case QUANTITY_DERIVED:
        length = snprintf(text, size, "%s", problem->derived[quantity->derived].name);
        break;
    default: length = snprintf(text, size, "%s", a);
    }
    return length < 0 || (size_t)length >= size ? -1 : length;
}

/* --- the list --- */

static void insert_value(int64_t *list, int *count, int64_t value)
{
    int at = 0;
    while (at < *count && list[at] < value)
        at++;
    if (*count == MOST_VALUES || (at < *count && list[at] == value))
        return;
    for (int i = (*count)++; i > at; i--)
        list[i] = list[i - 1];
    list[at] = value;
}

static bool may_equal(const struct quantity *quantity)
{
    return quantity_is_single(quantity) || quantity->kind == QUANTITY_RATIO ||
           quantity->kind == QUANTITY_REMAINDER || quantity->kind == QUANTITY_CHOICE;
}

static void list_values(const struct space *space, const struct config_list *seen, struct quantity *quantity)
{
    const struct domain *domain = &space->domain[quantity->axis[0]];
    for (int64_t order = ORDER_LESS; quantity_is_order(quantity) && order <= ORDER_MORE; order++)
        insert_value(quantity->listed, &quantity->listed_count, order);
    if (quantity->kind == QUANTITY_GCD)
        insert_value(quantity->listed, &quantity->listed_count, 1);
    if (!may_equal(quantity))
        return;
    for (int i = 0; quantity->kind != QUANTITY_CHOICE && seen && i < seen->count; i++) {
        const int64_t value = quantity_value(quantity, &seen->item[i]);
        insert_value(quantity->listed, &quantity->listed_count, value);
        if (quantity_is_single(quantity))
            insert_value(quantity->seen, &quantity->seen_count, value);
    }
    if (quantity->kind == QUANTITY_RATIO || quantity->kind == QUANTITY_REMAINDER ||
        quantity->kind == QUANTITY_DERIVED)
        for (int64_t v = quantity->kind == QUANTITY_RATIO; v < 2; v++)
            insert_value(quantity->listed, &quantity->listed_count, v);
    else
        for (int i = 0; i < domain->value_count; i++)
            insert_value(quantity->listed, &quantity->listed_count, domain->value[i]);
}

struct listing {
    const struct space *space;
    const struct config_list *seen;
    struct quantity *list;
    int count;
};

static void add(struct listing *listing, struct quantity quantity)
{
    if (listing->count == MOST_QUANTITIES)
        return;
    list_values(listing->space, listing->seen, &quantity);
    listing->list[listing->count++] = quantity;
}

/* Products of how many factors there is room for: of all up to MOST_FACTORS among twelve axes, of pairs among 24. */
static int most_factors(int axes)
{
    enum { ROOM = 1536 };
    int64_t sets = 1, products = 0;
    for (int factors = 1; factors <= MOST_FACTORS && factors <= axes; factors++) {
        sets = sets * (axes - factors + 1) / factors;
        products += sets;
        if (products > ROOM)
            return factors - 1;
    }
    return MOST_FACTORS;
}

static void add_products(struct listing *listing, const int *axis, int axes)
{
    const int most = most_factors(axes);
    for (int factors = 1; factors <= most; factors++)
        for (unsigned set = 1; set < 1u << axes; set++) {
            struct quantity quantity = {.kind = QUANTITY_PRODUCT, .cost = product_cost[factors]};
            if (__builtin_popcount(set) != factors)
                continue;
            for (int i = 0; i < axes; i++)
                if (set >> i & 1)
                    quantity.axis[quantity.count++] = axis[i];
            add(listing, quantity);
        }
}

static bool is_coupled_pair(const struct space *space, int a, int b)
{
    for (int i = 0; i < space->constraint_count; i++)
        if (constraint_mentions(space->constraint[i], a) && constraint_mentions(space->constraint[i], b))
            return true;
    return false;
}

/* Axes that a constraint couples (heads, kv_heads) are divided by each other in any kernel. */
static void add_quotients(struct listing *listing, const int *axis, int axes)
{
    for (int i = 0; i < axes; i++)
        for (int j = 0; j < axes; j++) {
            const bool related = is_coupled_pair(listing->space, axis[i], axis[j]);
            struct quantity quantity = {.count = 2, .axis = {axis[i], axis[j]}};
            if (i == j)
                continue;
            quantity.kind = QUANTITY_RATIO;
            quantity.cost = related ? 1.5 : 3;
            add(listing, quantity);
            quantity.kind = QUANTITY_REMAINDER;
            quantity.cost = 3;
            add(listing, quantity);
            quantity.kind = QUANTITY_CEILING;
            quantity.cost = 5;
            add(listing, quantity);
            if (listing->space->domain[axis[i]].low > 0) {
                quantity.kind = QUANTITY_OFFSET;
                quantity.cost = offset_cost;
                add(listing, quantity);
            }
            if (i > j)
                continue;
            quantity.kind = QUANTITY_ORDER;
            quantity.cost = related ? 1 : 1.5;
            add(listing, quantity);
            quantity.kind = QUANTITY_GCD;
            quantity.cost = 3.5;
            add(listing, quantity);
        }
}

static void add_tiles(struct listing *listing, int axis)
{
    const struct domain *domain = &listing->space->domain[axis];
    struct quantity quantity = {.kind = QUANTITY_TILES, .count = 1, .axis = {axis}};
    int64_t tile[SPACE_MAX_TILES + MOST_TILE_BITS];
    int tiles = 0;
    for (int i = 0; i < domain->tile_count; i++)
        if (domain->tile[i] & (domain->tile[i] - 1))
            tile[tiles++] = domain->tile[i];
    for (int bit = 1; bit <= MOST_TILE_BITS; bit++)
        tile[tiles++] = (int64_t)1 << bit;
    for (int i = 0; i < tiles; i++)
        if (2 * tile[i] <= domain->high) {
            quantity.tile = tile[i];
            quantity.cost = 4;
            for (int t = 0; t < domain->tile_count; t++)
                if (domain->tile[t] == tile[i])
                    quantity.cost = 3;
            add(listing, quantity);
        }
}

/* With the axes that the size hangs on. */
static void add_size_orders(struct listing *listing, const struct quantity *derived)
{
    for (int i = 0; i < derived->count; i++) {
        struct quantity quantity = *derived;
        quantity.kind = QUANTITY_SIZE_ORDER;
        quantity.against = derived->axis[i];
        quantity.cost = size_order_cost;
        if (domain_is_number(listing->space, quantity.against))
            add(listing, quantity);
    }
}

static void add_derived(struct listing *listing)
{
    const struct problem *problem = listing->space->problem;
    for (int i = 0; problem->derived && problem->derived[i].name; i++) {
        struct quantity quantity = {.kind = QUANTITY_DERIVED, .derived = i, .cost = derived_cost};
        for (const char *const *name = problem->derived[i].axes; *name; name++)
            quantity.axis[quantity.count++] = problem_axis_index(problem, *name);
        add(listing, quantity);
        add_size_orders(listing, &quantity);
    }
}

int quantity_list(const struct space *space, const struct config_list *seen, struct quantity *list)
{
    struct listing listing = {.space = space, .seen = seen, .list = list};
    int axis[PROBLEM_MAX_AXES], axes = 0;
    for (int i = 0; space->problem->axes[i].name; i++)
        if (domain_is_number(space, i) && (space->domain[i].low > 0 || space->problem->axes[i].empty))
            axis[axes++] = i;
        else if (domain_is_number(space, i)) /* a flag */
            add(&listing, (struct quantity){.kind = QUANTITY_PRODUCT, .count = 1, .axis = {i}});
        else if (space->problem->axes[i].kind == AXIS_CHOICE && space->domain[i].value_count > 1)
            add(&listing, (struct quantity){.kind = QUANTITY_CHOICE, .count = 1, .axis = {i}});
    add_products(&listing, axis, axes);
    add_quotients(&listing, axis, axes);
    for (int i = 0; i < axes; i++)
        if (space->domain[axis[i]].value_count == 0)
            add_tiles(&listing, axis[i]);
    add_derived(&listing);
    return listing.count;
}
