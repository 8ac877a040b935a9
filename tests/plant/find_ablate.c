/* The ablation. A set lacks one part, or has only one part and random draws that fill it up. All sets meet
 * the same faults. A part earns the share that is lost without it. */
#include <stdio.h>
#include <stdlib.h>

#include "find.h"

struct variant {
    const char *name;
    struct draw_mix mix;
    bool alone; /* without scouts, too */
};

/* The room of a missing part goes to random draws, as the mix says. So "random draws alone" shows the worth
 * of all parts together. */
static const struct variant variants[] = {
    {"as it is", {.percent = {25, 30, 25}}},
    {"no scouts", {.percent = {25, 30, 25}}, .alone = true},
    {"no neighbours", {.percent = {0, 30, 25}}},
    {"no corners", {.percent = {25, 0, 25}}},
    {"no covering array", {.percent = {25, 30, 0}}},
    {"no random draws", {.percent = {31, 38, 31}}},
    {"no tails with teeth", {.percent = {25, 30, 25}, .no_teeth = true}},
    {"no missing classes", {.percent = {25, 30, 25}, .no_classes = true}},
    {"no novelty", {.percent = {25, 30, 25}, .no_novelty = true}},
    {"no order", {.percent = {25, 30, 25}, .no_order = true}},
    {"neighbours alone", {.percent = {100, 0, 0}}, .alone = true},
    {"corners alone", {.percent = {0, 100, 0}}, .alone = true},
    {"covering array alone", {.percent = {0, 0, 100}}, .alone = true},
    {"random draws alone", {.percent = {0, 0, 0}}, .alone = true},
};
enum { VARIANTS = sizeof variants / sizeof *variants, NEVER = 1 << 20 };

/* Of one family. */
struct error_stats {
    int trials, met;
    int *first; /* [trials] */
};

static int ascending(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int draw_set(const struct variant *variant, const struct plant_field *field, enum effort effort,
                    uint64_t seed, struct config_list *out)
{
    struct drawn_list list;
    struct space_error error;
    *out = (struct config_list){0};
    int status = draw_unseen_as(&variant->mix, &list, &field->space, &field->seen, NULL, effort_count(effort),
                                seed, &field->caps, NULL, &error);
    if (status)
        fprintf(stderr, "find: %s\n", error.text);
    else
        status = draw_scouts(&list, &field->space, &field->seen, variant->alone ? 0 : effort_scouts(effort),
                             seed, &field->caps);
    for (int i = 0; status == 0 && i < list.count; i++)
        status = config_list_add(out, &list.item[i].config);
    drawn_list_clear(&list);
    return status;
}

/* One set of a problem. Faults that the seen set shows do not count. */
static int try_set(const struct find *find, const struct variant *variant, const struct plant_field *field,
                   enum effort effort, uint64_t seed, struct error_stats *tally)
{
    struct config_list set;
    const int status = draw_set(variant, field, effort, seed, &set);
    for (int i = 0; status == 0 && i < find->faults; i++) {
        const struct find_fault *fault = &find->fault[i];
        if (fault->field != field || !find_is_reachable(fault) || find_is_on_seen(fault))
            continue;
        const int first = find_first(fault, &set);
#pragma omp critical
        {
            struct error_stats *t = &tally[fault->family];
            t->met += first > 0;
            t->first[t->trials++] = first ? first : NEVER;
        }
    }
    config_list_clear(&set);
    return status;
}

static void print_tally(struct error_stats *tally)
{
    qsort(tally->first, (size_t)tally->trials, sizeof *tally->first, ascending);
    const int median = tally->trials ? tally->first[tally->trials / 2] : NEVER;
    if (tally->trials)
        printf("  %5.1f%%", 100.0 * tally->met / tally->trials);
    else
        printf("  %6s", "-");
    if (median == NEVER)
        printf(" %8s", "never");
    else
        printf(" %8d", median);
}

static int try_variant(const struct find *find, const struct variant *variant, enum effort effort, int sets)
{
    const size_t room = (size_t)(find->faults * sets + 1) * sizeof(int);
    struct error_stats tally[FIND_FAMILIES] = {{0}};
    int failed = 0;
    for (int f = 0; f < FIND_FAMILIES; f++)
        failed |= (tally[f].first = malloc(room)) == NULL;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int job = 0; job < find->fields * sets; job++)
        if (!failed)
            failed |= try_set(find, variant, &find->field[job / sets], effort,
                              find->seed + (uint64_t)(job % sets), tally) != 0;
    if (!failed) {
        printf("  %-22s", variant->name);
        for (int f = 0; f < FIND_FAMILIES; f++)
            print_tally(&tally[f]);
        printf("\n");
        fflush(stdout);
    }
    for (int f = 0; f < FIND_FAMILIES; f++)
        free(tally[f].first);
    return failed ? -1 : 0;
}

int find_ablate(const struct find *find, enum effort effort, int sets)
{
    int status = 0;
    printf("\nwhat each part of a set of %d is worth, %d scouts beside it but where it is alone, over %d "
           "sets of each "
           "problem:\n  %-22s  %15s  %15s  %15s\n",
           effort_count(effort), effort_scouts(effort), sets, "", "-- real bugs --", "---- tables ---",
           "--- planted ---");
    printf("  %-22s  %6s %8s  %6s %8s  %6s %8s\n", "", "met", "median", "met", "median", "met", "median");
    for (int i = 0; i < VARIANTS && status == 0; i++)
        status = try_variant(find, &variants[i], effort, sets);
    return status;
}
