/* The ablation: sets of which one part is missing, or one part is all there is but for the random draws that fill them up,
 * held against the same faults. What a part earns is what is lost without it. */
#include <stdio.h>
#include <stdlib.h>

#include "find.h"

struct variant {
    const char *name;
    struct draw_mix mix;
    int scouts; /* behind the set of `quick` */
};

/* Room that a part gives up goes to random draws, as the mix says; so the last line of the first half is what all parts are
 * worth together. */
static const struct variant variants[] = {
    {"as it is", {.percent = {20, 20, 33, 14}}},
    {"with 75 scouts", {.percent = {20, 20, 33, 14}}, 75},
    {"with 150 scouts", {.percent = {20, 20, 33, 14}}, 150},
    {"no neighbours", {.percent = {0, 20, 33, 14}}},
    {"no corners", {.percent = {20, 0, 33, 14}}},
    {"no covering array", {.percent = {20, 20, 0, 14}}},
    {"no seen values", {.percent = {20, 20, 33, 0}}},
    {"no random draws", {.percent = {26, 26, 30, 18}}},
    {"no tails with teeth", {.percent = {20, 20, 33, 14}, .no_teeth = true}},
    {"no missing classes", {.percent = {20, 20, 33, 14}, .no_classes = true}},
    {"no novelty", {.percent = {20, 20, 33, 14}, .no_novelty = true}},
    {"no order", {.percent = {20, 20, 33, 14}, .no_order = true}},
    {"neighbours alone", {.percent = {100, 0, 0, 0}}},
    {"corners alone", {.percent = {0, 100, 0, 0}}},
    {"covering array alone", {.percent = {0, 0, 100, 0}}},
    {"seen values alone", {.percent = {0, 0, 0, 100}}},
    {"random draws alone", {.percent = {0, 0, 0, 0}}},
};
enum { VARIANTS = sizeof variants / sizeof *variants, NEVER = 1 << 20 };

/* Of the real bugs, and of the planted faults. */
struct tally {
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
        status = draw_scouts(&list, &field->space, &field->seen, variant->scouts, seed, &field->caps);
    for (int i = 0; status == 0 && i < list.count; i++)
        status = config_list_add(out, &list.item[i].config);
    drawn_list_clear(&list);
    return status;
}

/* One set of a problem. Nobody is given credit for what the seen set shows. */
static int try_set(const struct find *find, const struct variant *variant, const struct plant_field *field,
                   enum effort effort, uint64_t seed, struct tally tally[2])
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
            struct tally *t = &tally[fault->bug == NULL];
            t->met += first > 0;
            t->first[t->trials++] = first ? first : NEVER;
        }
    }
    config_list_clear(&set);
    return status;
}

static void print_tally(struct tally *tally)
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
    struct tally tally[2] = {{.first = malloc(room)}, {.first = malloc(room)}};
    int failed = tally[0].first && tally[1].first ? 0 : 1;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int job = 0; job < find->fields * sets; job++)
        if (!failed)
            failed |= try_set(find, variant, &find->field[job / sets], effort,
                              find->seed + (uint64_t)(job % sets), tally) != 0;
    if (!failed) {
        printf("  %-22s", variant->name);
        print_tally(&tally[0]);
        print_tally(&tally[1]);
        printf("\n");
        fflush(stdout);
    }
    free(tally[0].first);
    free(tally[1].first);
    return failed ? -1 : 0;
}

int find_ablate(const struct find *find, enum effort effort, int sets)
{
    int status = 0;
    printf("\nwhat each part of a set of %d is worth, over %d sets of each problem:\n  %-22s  %15s  %15s\n",
           effort_count(effort), sets, "", "-- real bugs --", "--- planted ---");
    printf("  %-22s  %6s %8s  %6s %8s\n", "", "met", "median", "met", "median");
    for (int i = 0; i < VARIANTS && status == 0; i++)
        if (effort == EFFORT_QUICK || variants[i].scouts == 0)
            status = try_variant(find, &variants[i], effort, sets);
    return status;
}
