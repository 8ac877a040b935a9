/* Lists the quantities that rules may use: axes, and numbers that kernels compute from them, with the cost of
 * each. */
#include "quantity.h"

#include "gen/contract/constraint.h"
#include "gen/contract/instantiate.h"
#include "gen/draw/move.h"

enum { MOST_TILE_BITS = 10 }; /* tile sizes of 2..1024 */
enum {
    LEAST_TILED = 16,     /* with smaller tiles, the tiled product is nearly the product */
    ROOM_FOR_TILED = 640, /* quantities */
    ROOM_FOR_GRIDS = 400
};

static const double product_cost[] = {0, 0, 3, 4.5, 6}, offset_cost = 4, derived_cost = 1.5,
                    size_order_cost = 2, size_product_cost = 3.5, tiled_cost = 5.5, grid_cost = 6;

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

/* Returns how many factors products may have so that all of them fit: MOST_FACTORS with up to twelve axes,
 * two with 24. */
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

/* Adds quotients of two axes. Axes that a constraint couples (heads, kv_heads) cost less, since any kernel
 * divides them. */
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

/* Adds comparisons of the size with the axes that it depends on. */
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

static void depend_on(struct quantity *quantity, int axis)
{
    for (int i = 0; i < quantity->count; i++)
        if (quantity->axis[i] == axis)
            return;
    if (quantity->count < QUANTITY_AXES)
        quantity->axis[quantity->count++] = axis;
}

/* Adds products of the size with each range. Values of lists are seldom factors. */
static void add_size_products(struct listing *listing, const struct quantity *sizes, double cost)
{
    for (int i = 0; listing->space->problem->axes[i].name; i++) {
        struct quantity quantity = *sizes;
        if (!domain_is_number(listing->space, i) || listing->space->domain[i].value_count > 0)
            continue;
        quantity.kind = QUANTITY_SIZE_PRODUCT;
        quantity.against = i;
        quantity.cost = cost;
        depend_on(&quantity, i);
        add(listing, quantity);
    }
}

/* Adds the comparison and the product of two sizes that no random stream draws, such as the rows and columns
 * of an output. */
static void add_two_sizes(struct listing *listing, const struct quantity *first,
                          const struct quantity *second)
{
    const struct derived *derived = listing->space->problem->derived;
    struct quantity quantity = *first;
    if (!derived[first->derived].of_axes || !derived[second->derived].of_axes)
        return;
    quantity.second = second->derived;
    for (int i = 0; i < second->count; i++)
        depend_on(&quantity, second->axis[i]);
    quantity.kind = QUANTITY_SIZE_ORDER;
    quantity.cost = size_order_cost;
    add(listing, quantity);
    quantity.kind = QUANTITY_SIZE_PRODUCT;
    quantity.cost = size_product_cost;
    add(listing, quantity);
    add_size_products(listing, &quantity, size_product_cost + 1.5);
}

/* Adds the offset of the last row, if rows lie this size apart. */
static void add_size_offsets(struct listing *listing, const struct quantity *derived)
{
    const struct problem *problem = listing->space->problem;
    for (int i = 0; problem->derived[derived->derived].of_axes && problem->axes[i].name; i++) {
        struct quantity quantity = *derived;
        if (!domain_is_number(listing->space, i) || listing->space->domain[i].value_count > 0 ||
            listing->space->domain[i].low < 1)
            continue;
        quantity.kind = QUANTITY_SIZE_OFFSET;
        quantity.against = i;
        quantity.cost = offset_cost;
        depend_on(&quantity, i);
        add(listing, quantity);
    }
}

static void add_derived(struct listing *listing)
{
    const struct problem *problem = listing->space->problem;
    struct quantity size[MOST_DERIVED];
    for (int i = 0; problem->derived && problem->derived[i].name && i < MOST_DERIVED; i++) {
        size[i] = (struct quantity){
            .kind = QUANTITY_DERIVED, .derived = i, .second = -1, .against = -1, .cost = derived_cost};
        for (const char *const *name = problem->derived[i].axes; *name; name++)
            size[i].axis[size[i].count++] = problem_axis_index(problem, *name);
        add(listing, size[i]);
        add_size_orders(listing, &size[i]);
        add_size_products(listing, &size[i], size_product_cost);
        add_size_offsets(listing, &size[i]);
        for (int j = 0; j < i; j++)
            add_two_sizes(listing, &size[j], &size[i]);
    }
}

/* Adds rows * tiles of cols: the number of tiles that are launched or stored if rows are padded. */
static void add_tiled_products(struct listing *listing, const int *axis, int axes)
{
    const int tiles = listing->count;
    for (int t = 0; t < tiles; t++) {
        struct quantity quantity = listing->list[t];
        if (quantity.kind != QUANTITY_TILES || quantity.tile < LEAST_TILED)
            continue;
        quantity.kind = QUANTITY_TILED_PRODUCT;
        quantity.cost += tiled_cost - 4;
        quantity.count = 2;
        for (int i = 0; i < axes && listing->count < tiles + ROOM_FOR_TILED; i++) {
            quantity.axis[1] = axis[i];
            if (axis[i] != quantity.axis[0] && listing->space->domain[axis[i]].value_count == 0)
                add(listing, quantity);
        }
    }
}

/* Adds the tiles of one axis times those of another: the blocks of a grid. The tiles are equal, or one is
 * twice the other. */
static void add_grids(struct listing *listing)
{
    const int tiles = listing->count;
    for (int i = 0; i < tiles; i++)
        for (int j = i + 1; j < tiles && listing->count < tiles + ROOM_FOR_GRIDS; j++) {
            const struct quantity *a = &listing->list[i], *b = &listing->list[j];
            if (a->kind != QUANTITY_TILES || b->kind != QUANTITY_TILES || a->axis[0] == b->axis[0] ||
                a->tile < LEAST_TILED || b->tile < LEAST_TILED ||
                (a->tile != b->tile && a->tile != 2 * b->tile && b->tile != 2 * a->tile))
                continue;
            add(listing, (struct quantity){.kind = QUANTITY_GRID,
                                           .count = 2,
                                           .axis = {a->axis[0], b->axis[0]},
                                           .tile = a->tile,
                                           .other_tile = b->tile,
                                           .cost = grid_cost + (a->tile != b->tile)});
        }
}

void vocabulary_open(struct vocabulary *vocabulary, const struct space *space, const struct config_list *seen)
{
    struct listing listing = {.space = space, .seen = seen, .list = vocabulary->quantity};
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
    add_tiled_products(&listing, axis, axes);
    add_grids(&listing);
    vocabulary->space = space;
    vocabulary->quantities = listing.count;
    vocabulary->coded = NULL;
    vocabulary->codeds = vocabulary->expressions = 0;
}

void vocabulary_values(const struct vocabulary *vocabulary, const struct config *config, bool derived,
                       int64_t *value)
{
    const struct derived *table = vocabulary->space->problem->derived;
    int64_t size[MOST_DERIVED] = {0};
    for (int i = 0; table && table[i].name && i < MOST_DERIVED; i++)
        if (derived || table[i].of_axes)
            size[i] = config_derived(config, i);
    for (int q = 0; q < vocabulary->quantities; q++)
        value[q] = quantity_is_drawn(&vocabulary->quantity[q])
                       ? quantity_value_of_sizes(&vocabulary->quantity[q], config, size)
                       : quantity_value(&vocabulary->quantity[q], config);
}
