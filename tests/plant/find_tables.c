/* Kernels that take other sizes for published ones. They dispatch on the number of tiles of a published size
 * and then compute with that size. They are right there and wrong beside it: (k + 127) / 128 == 32 and k !=
 * 4096. */
#include <stdio.h>

#include "gen/draw/move.h"
#include "find.h"

static int add_table(struct find *find, const struct plant_field *field, int axis, int64_t tile,
                     int64_t value)
{
    struct find_fault *fault = &find->fault[find->faults];
    if (find->of_family[FIND_TABLE] == FIND_MOST_TABLES) {
        fprintf(stderr, "find: more than %d kernels that know published sizes\n", FIND_MOST_TABLES);
        return -1;
    }
    const char *const name = field->problem->axes[axis].name;
    char why[512];
    *fault = (struct find_fault){.family = FIND_TABLE, .field = field};
    snprintf(fault->text, sizeof fault->text, "(%s + %lld) / %lld == %lld and %s != %lld", name,
             (long long)tile - 1, (long long)tile, (long long)((value + tile - 1) / tile), name,
             (long long)value);
    fault->when = condition_parse(field->problem, fault->text, why, sizeof why);
    if (!fault->when) {
        fprintf(stderr, "find: '%s': %s\n", fault->text, why);
        return -1;
    }
    if (find_is_on_seen(fault)) { /* two published sizes of one number of tiles: no such kernel passes */
        condition_free(fault->when);
        return 0;
    }
    find->faults++;
    find->of_family[FIND_TABLE]++;
    return 0;
}

/* The condition can be met: some other size beside the published one has the same number of tiles. */
static bool has_room(const struct domain *domain, int64_t tile, int64_t value)
{
    const int64_t last = (value + tile - 1) / tile * tile, first = last - tile + 1;
    return tile > 1 && value <= domain->high &&
           ((first >= domain->low ? first : domain->low) < value || (last > value && value < domain->high));
}

static int add_tables_of(struct find *find, const struct plant_field *field, int axis)
{
    const struct domain *domain = &field->space.domain[axis];
    for (int i = 0; i < field->seen.count; i++) {
        const int64_t value = field->seen.item[i].value[axis];
        bool known = false;
        for (int j = 0; j < i; j++)
            known = known || field->seen.item[j].value[axis] == value;
        for (int t = 0; t < domain->tile_count && !known; t++)
            if (has_room(domain, domain->tile[t], value) &&
                add_table(find, field, axis, domain->tile[t], value))
                return -1;
    }
    return 0;
}

int find_add_tables(struct find *find)
{
    for (int f = 0; f < find->fields; f++)
        for (int i = 0; find->field[f].problem->axes[i].name; i++)
            if (domain_is_number(&find->field[f].space, i) &&
                find->field[f].space.domain[i].value_count == 0 && add_tables_of(find, &find->field[f], i))
                return -1;
    return 0;
}
