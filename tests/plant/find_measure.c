/* Part 1: faults and drawings, by truth alone. */
#include <stdlib.h>

#include "find.h"

int find_plant(struct find *find, int faults)
{
    int failed = 0;
    find->fault = calloc((size_t)faults, sizeof *find->fault);
    if (!find->fault)
        return -1;
    find->faults = faults;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int i = 0; i < faults; i++) {
        find->fault[i].field = &find->field[i % find->fields];
        failed |= plant_draw(&find->fault[i].plant, find->fault[i].field, find->seed, i / find->fields);
    }
    return failed ? -1 : 0;
}

static int first_shown(const struct plant *plant, const struct config_list *set)
{
    for (int i = 0; i < set->count; i++)
        if (plant_must_show(plant, &set->item[i]))
            return i + 1;
    return 0;
}

/* All faults of one problem against one drawing. */
static int measure_one(struct find *find, int field, enum find_way way, int number)
{
    struct config_list set;
    const int status = find_draw(&set, way, &find->field[field], find->seed + (uint64_t)number);
    for (int i = field; status == 0 && i < find->faults; i += find->fields)
        find->fault[i].first[way][number] = first_shown(&find->fault[i].plant, &set);
    config_list_clear(&set);
    return status;
}

int find_measure(struct find *find)
{
    const int each = FIND_WAYS * find->seeds;
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int job = 0; job < find->fields * each; job++)
        failed |= measure_one(find, job / each, (enum find_way)(job % FIND_WAYS), job % each / FIND_WAYS);
    return failed ? -1 : 0;
}
