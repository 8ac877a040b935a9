/* Predicates grouped by their truth on the trials: those that agree on all trials share one row of bits. */
#include "search_internal.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CLASSES = 4096, FIRST_PREDICATES = 16384 };
enum {
    /* moduli up to this have sets of any size; larger ones must be powers of two or tiles */
    SMALL_MODULUS = 12,
    LARGEST_SET = 32, /* largest modulus of a set of remainders */
    MOST_MEMBERS = 4, /* most remainders of such a set */
    MOST_SMALL = 8    /* most values of a set of small ones */
};

struct building {
    struct predicate_table *table;
    const struct evidence *evidence;
    uint64_t *bits, *inverse, *all;
    bool all_fail;
};

static uint64_t hash_bits(const uint64_t *bits, int words)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < words; i++) {
        hash = (hash ^ bits[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return hash;
}

static void place(struct predicate_table *table, int index, int words)
{
    size_t mask = (size_t)table->slots - 1, at = hash_bits(table->item[index].bits, words) & mask;
    while (table->slot[at] >= 0)
        at = (at + 1) & mask;
    table->slot[at] = index;
}

/* The rows of bits move when the table grows, so every class gets the new address of its row. */
static int grow_classes(struct predicate_table *table, int words)
{
    const int capacity = table->capacity ? 2 * table->capacity : FIRST_CLASSES;
    struct predicate_class *item = realloc(table->item, (size_t)capacity * sizeof *item);
    if (item)
        table->item = item;
    uint64_t *bits = realloc(table->bits, (size_t)capacity * (size_t)words * sizeof *bits);
    if (bits)
        table->bits = bits;
    int *slot = realloc(table->slot, 2 * (size_t)capacity * sizeof *slot);
    if (slot)
        table->slot = slot;
    if (!item || !bits || !slot)
        return -1;
    table->capacity = capacity;
    table->slots = 2 * capacity;
    memset(slot, -1, 2 * (size_t)capacity * sizeof *slot);
    for (int i = 0; i < table->count; i++) {
        item[i].bits = bits + (size_t)i * (size_t)words;
        place(table, i, words);
    }
    return 0;
}

static struct predicate_class *find_class(struct predicate_table *table, const uint64_t *bits, int words)
{
    const size_t mask = (size_t)table->slots - 1, bytes = (size_t)words * sizeof *bits;
    size_t at = hash_bits(bits, words) & mask;
    for (; table->slot[at] >= 0; at = (at + 1) & mask)
        if (memcmp(table->item[table->slot[at]].bits, bits, bytes) == 0)
            return &table->item[table->slot[at]];
    struct predicate_class *new = &table->item[table->count];
    *new = (struct predicate_class){
        .bits = table->bits + (size_t)table->count * (size_t)words, .first = -1, .cost = HUGE_COST};
    memcpy(new->bits, bits, bytes);
    table->slot[at] = table->count++;
    return new;
}

static int grow_predicates(struct predicate_table *table)
{
    const int capacity = table->predicate_capacity ? 2 * table->predicate_capacity : FIRST_PREDICATES;
    struct predicate *predicate = realloc(table->predicate, (size_t)capacity * sizeof *predicate);
    if (predicate)
        table->predicate = predicate;
    int *link = realloc(table->link, (size_t)capacity * sizeof *link);
    if (link)
        table->link = link;
    table->predicate_capacity = predicate && link ? capacity : table->predicate_capacity;
    return predicate && link ? 0 : -1;
}

/* Inserts the predicate into the chain by its cost. A chain holds the CLASS_PREDICATES cheapest. */
static void chain(struct predicate_table *table, struct predicate_class *class,
                  const struct predicate *predicate)
{
    int *at = &class->first, passed = 0;
    for (; *at >= 0 && table->predicate[*at].cost <= predicate->cost; at = &table->link[*at])
        passed++;
    if (passed >= CLASS_PREDICATES)
        return;
    table->predicate[table->predicates] = *predicate;
    table->link[table->predicates] = *at;
    *at = table->predicates++;
    class->cost = table->predicate[class->first].cost;
}

static void add_row(struct building *building, struct predicate predicate, const uint64_t *bits)
{
    struct predicate_table *table = building->table;
    const struct evidence *evidence = building->evidence;
    table->no_memory = table->no_memory ||
                       (table->count == table->capacity && grow_classes(table, evidence->words)) ||
                       (table->predicates == table->predicate_capacity && grow_predicates(table));
    if (table->no_memory)
        return;
    predicate.cost = vocabulary_cost(evidence->vocabulary, &predicate);
    chain(table, find_class(table, bits, evidence->words), &predicate);
}

/* Adds the predicate whose truth is in building->bits, and its negation. A predicate with the same truth on
 * all trials tells nothing, unless all of them fail: then it may be the cause. That holds for axes and
 * choices only, since too many other quantities are constant. */
static void add_predicate(struct building *building, struct predicate predicate)
{
    const struct evidence *evidence = building->evidence;
    const struct quantity *of = quantity_of(evidence, predicate.quantity);
    const bool constant = building->all_fail && (quantity_is_axis(of) || of->kind == QUANTITY_CHOICE);
    bool some = false, every = true;
    for (int i = 0; i < evidence->words; i++) {
        building->inverse[i] = building->all[i] & ~building->bits[i];
        some = some || building->bits[i];
        every = every && !building->inverse[i];
    }
    if (some && (!every || constant))
        add_row(building, predicate, building->bits);
    predicate.negated = !predicate.negated;
    if (!every && (some || constant))
        add_row(building, predicate, building->inverse);
}

/* `residue` has the value on each trial; NULL: that of the quantity. */
static void add_by_value(struct building *building, struct predicate predicate, const uint16_t *residue)
{
    const struct evidence *evidence = building->evidence;
    const int q = predicate.quantity;
    memset(building->bits, 0, (size_t)evidence->words * sizeof *building->bits);
    for (int t = 0; t < evidence->trials; t++) {
        const int64_t value = residue ? residue[t] : trial_values(evidence, t)[q];
        building->bits[t / 64] |= (uint64_t)predicate_holds(&predicate, quantity_of(evidence, q), value)
                                  << t % 64;
    }
    add_predicate(building, predicate);
}

static void add_question(struct building *building, int q, enum predicate_kind kind, int64_t a)
{
    add_by_value(building, (struct predicate){.quantity = q, .kind = kind, .a = a}, NULL);
}

/* Returns whether all failures have the same value of the axis. A value that no list contains may be the
 * cause. */
static bool fail_alike(const struct evidence *evidence, int q, int64_t *value)
{
    bool found = false;
    for (int t = 0; t < evidence->trials; t++) {
        const int64_t v = trial_values(evidence, t)[q];
        if (!bit_of(evidence->fails, t))
            continue;
        if (found && v != *value)
            return false;
        *value = v;
        found = true;
    }
    return found;
}

/* Adds sets of values of a choice or a list: those of failures, those of failures only, and those of passes
 * only. */
static void add_sets(struct building *building, int q)
{
    const struct evidence *evidence = building->evidence;
    const struct quantity *quantity = quantity_of(evidence, q);
    const struct domain *domain = domain_of(evidence, quantity->axis[0]);
    const bool lists = quantity->kind == QUANTITY_CHOICE || quantity_is_axis(quantity);
    int64_t some = 0, passed = 0;
    const bool published = quantity_is_axis(quantity) && domain->value_count == 0 && quantity->seen_count > 2;
    if (!lists || (!published && (domain->value_count < 3 || domain->value_count > MOST_VALUES)))
        return;
    for (int t = 0; t < evidence->trials; t++)
        for (int i = 0; i < quantity->listed_count; i++)
            if (quantity->listed[i] == trial_values(evidence, t)[q] && !bit_of(evidence->lucky, t))
                *(bit_of(evidence->fails, t) ? &some : &passed) |= (int64_t)1 << i;
    const int64_t set[] = {some, some & ~passed, passed & ~some};
    for (int i = 0; i < 3; i++)
        if (__builtin_popcountll((unsigned long long)set[i]) > 1 && (i == 0 || set[i] != set[i - 1]))
            add_question(building, q, PREDICATE_SET, set[i]);
}

/* Adds "cols in {1, 2, 3, 5}": the small values that fail, and those of them that never pass. */
static void add_small_sets(struct building *building, int q)
{
    const struct evidence *evidence = building->evidence;
    const struct quantity *quantity = quantity_of(evidence, q);
    uint64_t failed = 0, passed = 0;
    if (!quantity_is_single(quantity) ||
        (quantity_is_axis(quantity) && domain_of(evidence, quantity->axis[0])->value_count > 0))
        return;
    for (int t = 0; t < evidence->trials; t++) {
        const int64_t value = trial_values(evidence, t)[q];
        if (value >= 0 && value < 64 && !bit_of(evidence->lucky, t))
            *(bit_of(evidence->fails, t) ? &failed : &passed) |= (uint64_t)1 << value;
    }
    const uint64_t set[] = {failed, failed & ~passed};
    for (int i = 0; i < 2; i++) {
        const int members = __builtin_popcountll(set[i]);
        if (members > 1 && members <= MOST_SMALL && (i == 0 || set[0] != set[1]))
            add_question(building, q, PREDICATE_SMALL, (int64_t)set[i]);
    }
}

static void add_equals(struct building *building, int q)
{
    const struct quantity *quantity = quantity_of(building->evidence, q);
    int64_t value = 0;
    for (int i = 0; i < quantity->listed_count; i++)
        add_question(building, q, PREDICATE_EQUAL, quantity->listed[i]);
    if (quantity_is_flag(quantity, building->evidence->vocabulary->space))
        return;
    if (quantity_is_single(quantity) || quantity->kind == QUANTITY_RATIO || quantity->kind == QUANTITY_TILES)
        add_question(building, q, PREDICATE_POWER, 0);
    add_sets(building, q);
    add_small_sets(building, q);
    if (quantity->seen_count > 1)
        add_question(building, q, PREDICATE_SEEN, 0);
    if (quantity_is_axis(quantity) && fail_alike(building->evidence, q, &value) &&
        !quantity_lists(quantity, value))
        add_question(building, q, PREDICATE_EQUAL, value);
}

/* Returns whether the remainder differs among the values of the axis. For an axis with few values, most
 * moduli tell nothing. */
static bool varies(const struct evidence *evidence, const struct modulus *modulus, int residue)
{
    const struct quantity *quantity = quantity_of(evidence, modulus->quantity);
    const struct domain *domain = domain_of(evidence, quantity->axis[0]);
    int with = 0;
    if (quantity_is_flag(quantity, evidence->vocabulary->space))
        return false;
    if (!quantity_is_axis(quantity) || domain->value_count == 0)
        return true;
    for (int i = 0; i < domain->value_count; i++)
        with += domain->value[i] % modulus->modulus == residue;
    return with > 0 && with < domain->value_count;
}

static void add_remainder(struct building *building, int m, int residue)
{
    const struct evidence *evidence = building->evidence;
    if (!varies(evidence, &evidence->modulus[m], residue))
        return;
    const uint16_t *row = residues_of(evidence, m);
    memset(building->bits, 0, (size_t)evidence->words * sizeof *building->bits);
    for (int t = 0; t < evidence->trials; t++)
        building->bits[t / 64] |= (uint64_t)(row[t] == residue) << t % 64;
    add_predicate(building, (struct predicate){.quantity = evidence->modulus[m].quantity,
                                               .kind = PREDICATE_REMAINDER,
                                               .a = evidence->modulus[m].modulus,
                                               .b = residue});
}

/* Returns whether failures are clearly more frequent, or clearly rarer, with this remainder than by
 * chance. */
static bool tells(int fails_in, int passes_in, int fails, int passes)
{
    const int in = fails_in + passes_in;
    const double expected = (double)in * fails / (fails + passes), excess = fails_in - expected;
    if (fails_in == fails || passes_in == passes)
        return true;
    if ((passes_in == 0 && fails_in * 50 >= fails) || (fails_in == 0 && passes_in * 8 >= passes))
        return true;
    return excess * excess > 6 * (expected + 1) && in > 3;
}

static void add_residue_predicate(struct building *building, int m, enum predicate_kind kind, int64_t b)
{
    const struct modulus *of = &building->evidence->modulus[m];
    const struct predicate predicate = {.quantity = of->quantity, .kind = kind, .a = of->modulus, .b = b};
    add_by_value(building, predicate, residues_of(building->evidence, m));
}

/* Adds ranges such as "cols % 8 >= 5": as tight as the failures permit, as wide as the passes permit, and the
 * reverse. Ranges that begin at 1 or end at the last remainder but one are left out, since a single remainder
 * says the same. */
static void add_ranges(struct building *building, int m, const int *fails, const int *passes)
{
    const int modulus = building->evidence->modulus[m].modulus;
    const int *const side[2] = {fails, passes};
    for (int i = 0; i < 2; i++) {
        int least = 0, most = modulus - 1;
        while (least < modulus && !side[i][least])
            least++;
        while (most >= 0 && !side[i][most])
            most--;
        int wide = least - 1; /* the last remainder of the other side before `least` */
        while (wide >= 0 && !side[1 - i][wide])
            wide--;
        if (least > 1 && least < modulus - 1)
            add_residue_predicate(building, m, PREDICATE_RESIDUE_ABOVE, least - 1);
        if (wide > 0 && wide < least - 1 && wide < modulus - 2)
            add_residue_predicate(building, m, PREDICATE_RESIDUE_ABOVE, wide);
        if (most > 0 && most < modulus - 2)
            add_residue_predicate(building, m, PREDICATE_RESIDUE_ABOVE, most);
    }
}

/* Adds sets such as "cols % 8 in {3, 5}": the remainders of failures, and those of failures only. */
static void add_residue_sets(struct building *building, int m, const int *fails, const int *passes)
{
    const int modulus = building->evidence->modulus[m].modulus;
    uint64_t failed = 0, alone = 0;
    if (modulus > LARGEST_SET)
        return;
    for (int r = 0; r < modulus; r++) {
        failed |= (uint64_t)(fails[r] > 0) << r;
        alone |= (uint64_t)(fails[r] > 0 && !passes[r]) << r;
    }
    const uint64_t set[] = {failed, alone};
    for (int i = 0; i < 2; i++) {
        const int members = __builtin_popcountll(set[i]);
        if (members > 1 && members <= MOST_MEMBERS && 2 * members <= modulus && (i == 0 || alone != failed))
            add_residue_predicate(building, m, PREDICATE_RESIDUE_SET, (int64_t)set[i]);
    }
}

static bool has_residues(const struct evidence *evidence, int m)
{
    const struct quantity *quantity = quantity_of(evidence, evidence->modulus[m].quantity);
    const struct space *space = evidence->vocabulary->space;
    const int modulus = evidence->modulus[m].modulus;
    return quantity_is_single(quantity) && !quantity_is_flag(quantity, space) && modulus > 3 &&
           (is_power_of_two(modulus) || quantity_has_tile(quantity, space, modulus) ||
            modulus <= SMALL_MODULUS) &&
           (quantity->kind == QUANTITY_DERIVED || domain_of(evidence, quantity->axis[0])->value_count == 0);
}

static void add_remainders(struct building *building, int m)
{
    const struct evidence *evidence = building->evidence;
    const uint16_t *row = residues_of(evidence, m);
    int fails[LARGEST_MODULUS] = {0}, passes[LARGEST_MODULUS] = {0}, all_fails = 0;
    add_remainder(building, m, 0);
    if (evidence->modulus[m].modulus > LARGEST_MODULUS)
        return;
    for (int t = 0; t < evidence->trials; t++)
        if (bit_of(evidence->fails, t)) {
            fails[row[t]]++;
            all_fails++;
        } else if (bit_of(evidence->passes, t)) {
            passes[row[t]]++;
        }
    for (int r = 1; r < evidence->modulus[m].modulus && evidence->modulus[m].modulus > 2; r++)
        if (fails[r] + passes[r] > 0 && tells(fails[r], passes[r], all_fails, evidence->trials - all_fails))
            add_remainder(building, m, r);
    if (has_residues(evidence, m)) {
        add_ranges(building, m, fails, passes);
        add_residue_sets(building, m, fails, passes);
    }
}

int predicate_table_open(struct predicate_table *table, const struct evidence *evidence)
{
    const size_t words = (size_t)evidence->words;
    uint64_t *bits = calloc(3 * words, sizeof *bits);
    struct building building = {table, evidence, bits, bits + words, bits + 2 * words, false};
    building.all_fail = bits_count(evidence->passes, evidence->words) == 0;
    *table = (struct predicate_table){.no_memory = !bits};
    for (int t = 0; bits && t < evidence->trials; t++)
        bit_set(building.all, t);
    for (int q = 0; bits && q < evidence->vocabulary->quantities; q++)
        add_equals(&building, q);
    for (int m = 0; bits && m < evidence->moduli; m++)
        add_remainders(&building, m);
    for (int i = 0; bits && i < evidence->vocabulary->codeds; i++)
        add_by_value(&building, evidence->vocabulary->coded[i].predicate, NULL);
    free(bits);
    return table->no_memory ? -1 : 0;
}

void predicate_table_close(struct predicate_table *table)
{
    free(table->item);
    free(table->predicate);
    free(table->link);
    free(table->bits);
    free(table->slot);
    *table = (struct predicate_table){0};
}
