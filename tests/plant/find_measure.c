/* Part 1: faults and drawings, by truth alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"

enum { MOST_BUGS = 256 };

bool find_is_reachable(const struct find_fault *fault)
{
    return fault->family != FIND_PLANT || fault->plant.reachable;
}

bool find_is_met(const struct find_fault *fault, const struct config *config)
{
    return fault->family == FIND_PLANT ? plant_must_show(&fault->plant, config)
                                       : condition_holds(fault->when, config);
}

bool find_is_on_seen(const struct find_fault *fault)
{
    return fault->family == FIND_PLANT ? plant_on_seen(&fault->plant, fault->field)
                                       : find_first(fault, &fault->field->seen) > 0;
}

int find_first(const struct find_fault *fault, const struct config_list *set)
{
    for (int i = 0; i < set->count; i++)
        if (find_is_met(fault, &set->item[i]))
            return i + 1;
    return 0;
}

static int add_bug(struct find *find, const struct bug *bug)
{
    struct find_fault *fault = &find->fault[find->faults];
    char why[512];
    *fault = (struct find_fault){.family = FIND_BUG, .bug = bug};
    for (int f = 0; f < find->fields; f++)
        if (strcmp(find->field[f].problem->name, bug->problem) == 0)
            fault->field = &find->field[f];
    if (!fault->field) {
        fprintf(stderr, "find: %s: there is no problem %s\n", bug->name, bug->problem);
        return -1;
    }
    fault->when = condition_parse(fault->field->problem, bug->when, why, sizeof why);
    if (!fault->when) {
        fprintf(stderr, "find: %s: '%s': %s\n", bug->name, bug->when, why);
        return -1;
    }
    find->faults++;
    find->of_family[FIND_BUG]++;
    return 0;
}

static int add_bugs(struct find *find, int faults, bool held_out)
{
    find->bug = calloc(MOST_BUGS, sizeof *find->bug);
    find->fault = calloc((size_t)(MOST_BUGS + FIND_MOST_TABLES + faults), sizeof *find->fault);
    const int bugs = find->bug && find->fault ? bug_list(find->bug, MOST_BUGS) : -1;
    int failed = bugs < 0 ? -1 : 0;
    for (int i = 0; i < bugs && !failed; i++)
        if (find->bug[i].held_out == held_out)
            failed = add_bug(find, &find->bug[i]);
    return failed;
}

int find_plant(struct find *find, int faults, bool held_out)
{
    int failed = 0;
    if (add_bugs(find, faults, held_out) || find_add_tables(find))
        return -1;
    const int first = find->faults;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int i = 0; i < faults; i++) {
        struct find_fault *fault = &find->fault[first + i];
        fault->family = FIND_PLANT;
        fault->field = &find->field[i % find->fields];
        failed |= plant_draw(&fault->plant, fault->field, find->seed, i / find->fields);
    }
    find->faults += faults;
    find->of_family[FIND_PLANT] = faults;
    return failed ? -1 : 0;
}

void find_clear(struct find *find)
{
    for (int i = 0; i < find->faults; i++)
        if (find->fault[i].family == FIND_PLANT)
            plant_clear(&find->fault[i].plant);
        else
            condition_free(find->fault[i].when);
    for (int i = 0; find->field && i < find->fields; i++)
        plant_field_clear(&find->field[i]);
    free(find->fault);
    free(find->bug);
    free(find->field);
}

/* All faults of one problem against one drawing. */
static int measure_one(struct find *find, const struct plant_field *field, enum find_way way, int number)
{
    struct config_list set;
    const int status = find_draw(&set, way, field, find->seed + (uint64_t)number);
    for (int i = 0; status == 0 && i < find->faults; i++)
        if (find->fault[i].field == field)
            find->fault[i].first[way][number] = find_first(&find->fault[i], &set);
    config_list_clear(&set);
    return status;
}

int find_measure(struct find *find)
{
    const int each = FIND_WAYS * find->seeds;
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int job = 0; job < find->fields * each; job++)
        failed |= measure_one(find, &find->field[job / each], (enum find_way)(job % FIND_WAYS),
                              job % each / FIND_WAYS);
    return failed ? -1 : 0;
}
