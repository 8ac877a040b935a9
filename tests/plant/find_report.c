/* The table of part 1, for people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"

enum { NEVER = 1 << 20, DENSITY_DRAWS = 20000 };

/* The counts of one line of the table. */
struct error_stats {
    int faults, unreachable, on_seen;
    int trials, found[FIND_WAYS], found_early[FIND_WAYS];
    int *first[FIND_WAYS]; /* [trials] */
};

typedef bool (*wanted)(const struct find_fault *fault, int group);

static int ascending(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void count_fault(const struct find *find, const struct find_fault *fault, struct error_stats *tally)
{
    const int quick = find_many(EFFORT_QUICK);
    tally->faults++;
    tally->unreachable += !find_is_reachable(fault);
    if (!find_is_reachable(fault))
        return;
    tally->on_seen += find_is_on_seen(fault);
    for (int s = 0; s < find->seeds; s++, tally->trials++)
        for (int way = 0; way < FIND_WAYS; way++) {
            const int first = fault->first[way][s];
            tally->first[way][tally->trials] = first ? first : NEVER;
            tally->found[way] += first > 0;
            tally->found_early[way] += first > 0 && first <= quick;
        }
}

/* The median. An even number of trials takes the later of the two, which does not flatter a way. */
static int median(struct error_stats *tally, enum find_way way)
{
    qsort(tally->first[way], (size_t)tally->trials, sizeof(int), ascending);
    return tally->trials ? tally->first[way][tally->trials / 2] : 0;
}

static void print_median(int value)
{
    if (value == NEVER)
        printf("    never");
    else
        printf(" %8d", value);
}

static void print_tally(const char *name, struct error_stats *tally)
{
    const double share = tally->trials ? 100.0 / tally->trials : 0;
    const int ours = median(tally, FIND_STANDARD);
    printf("  %-16s %4d %5d %5d  %5.1f%% %5.1f%%", name, tally->faults, tally->unreachable, tally->on_seen,
           share * tally->found[FIND_QUICK], share * tally->found[FIND_STANDARD]);
    print_median(ours);
    for (int way = FIND_UNIFORM; way < FIND_WAYS; way++) {
        printf("  %5.1f%% %5.1f%%", share * tally->found_early[way], share * tally->found[way]);
        print_median(median(tally, (enum find_way)way));
    }
    printf("\n");
}

static void print_group(const struct find *find, const char *name, wanted belongs, int group)
{
    struct error_stats tally = {0};
    const size_t room = (size_t)(find->faults * find->seeds + 1) * sizeof(int);
    bool memory = true;
    for (int way = 0; way < FIND_WAYS; way++)
        memory = (tally.first[way] = malloc(room)) != NULL && memory;
    for (int i = 0; memory && i < find->faults; i++)
        if (belongs(&find->fault[i], group))
            count_fault(find, &find->fault[i], &tally);
    if (tally.faults > 0)
        print_tally(name, &tally);
    for (int way = 0; way < FIND_WAYS; way++)
        free(tally.first[way]);
}

/* --- groups --- */

static bool is_real(const struct find_fault *fault, int group)
{
    (void)group;
    return fault->family == FIND_BUG;
}

static bool is_real_specialized(const struct find_fault *fault, int group)
{
    (void)group;
    return fault->family == FIND_BUG && !find_is_on_seen(fault);
}

static bool is_real_of_problem(const struct find_fault *fault, int group)
{
    return fault->family == FIND_BUG && fault->field->problem == problem_registry[group];
}

static bool is_planted(const struct find_fault *fault, int group)
{
    (void)group;
    return fault->family == FIND_PLANT;
}

static bool is_table(const struct find_fault *fault, int group)
{
    (void)group;
    return fault->family == FIND_TABLE;
}

static bool is_specialized(const struct find_fault *fault, int group)
{
    (void)group;
    return fault->family == FIND_PLANT && !find_is_on_seen(fault);
}

static bool is_of_kind(const struct find_fault *fault, int group)
{
    return fault->family == FIND_PLANT && fault->plant.join == PLANT_SINGLE &&
           fault->plant.term[0].kind == (enum plant_kind)group;
}

static bool is_joined(const struct find_fault *fault, int group)
{
    return fault->family == FIND_PLANT && fault->plant.join == (enum plant_join)group;
}

static bool is_of_problem(const struct find_fault *fault, int group)
{
    return fault->family == FIND_PLANT && fault->plant.problem == problem_registry[group];
}

/* --- misses --- */

/* The share of the contract that meets the condition, which may explain why it was missed. */
static double density(const struct find_fault *fault)
{
    struct pcg *pcg = pcg_new(fault->plant.seed, "find/density");
    struct config config;
    int holds = 0, made = 0;
    for (; pcg && made < DENSITY_DRAWS && plant_random_config(fault->field, pcg, &config); made++)
        holds += plant_must_show(&fault->plant, &config);
    pcg_free(pcg);
    return made ? (double)holds / made : 0;
}

static void print_fault(const struct find_fault *fault)
{
    char what[96];
    plant_describe(&fault->plant, what, sizeof what);
    printf("  %-16s %s (%s)\n", fault->plant.problem->name, fault->plant.when, what);
}

static void print_misses(const struct find *find, enum find_way way, const char *name)
{
    int misses = 0;
    for (int i = 0; i < find->faults; i++) {
        const struct find_fault *fault = &find->fault[i];
        char example[320];
        int missed = 0;
        for (int s = 0; s < find->seeds; s++)
            missed += fault->first[way][s] == 0;
        if (!find_is_reachable(fault) || missed == 0)
            continue;
        if (misses++ == 0)
            printf("\nmissed at %s, in how many of %d sets, and why:\n", name, find->seeds);
        if (fault->family != FIND_PLANT) {
            printf("  %-32s %s (in %d sets)\n", fault->bug ? fault->bug->name : fault->field->problem->name,
                   fault->bug ? fault->bug->when : fault->text, missed);
            continue;
        }
        print_fault(fault);
        config_format(&fault->plant.example, example, sizeof example);
        printf("  %-16s in %d sets; it takes %.3g%% of log-uniform points%s; for example %s\n", "", missed,
               100 * density(fault),
               plant_on_seen(&fault->plant, fault->field) ? ", and the seen set shows it" : "", example);
    }
    if (misses == 0)
        printf("\nmissed at %s: none\n", name);
}

static void print_unreachable(const struct find *find)
{
    int count = 0;
    for (int i = 0; i < find->faults; i++)
        if (!find_is_reachable(&find->fault[i])) {
            if (count++ == 0)
                printf("\nnot counted, since no configuration within the caps shows them:\n");
            print_fault(&find->fault[i]);
        }
}

/* --- the whole --- */

static void print_head(void)
{
    printf("  %-16s %4s %5s %5s  %s  %s  %s  %s\n", "", "", "out", "on", "-------- ours --------",
           "------ uniform -------", "---- log-uniform -----", "----- quota of 8 -----");
    printf("  %-16s %4s %5s %5s  %6s %6s %8s", "condition", "all", "reach", "seen", "quick", "stand.",
           "median");
    for (int way = FIND_UNIFORM; way < FIND_WAYS; way++)
        printf("  %6d %6d %8s", find_many(EFFORT_QUICK), find_many(EFFORT_STANDARD), "median");
    printf("\n");
}

void find_report(const struct find *find)
{
    printf("%d real bugs (tests/corpora/bugs/), their conditions as they are told:\n",
           find->of_family[FIND_BUG]);
    print_head();
    for (int i = 0; problem_registry[i]; i++)
        print_group(find, problem_registry[i]->name, is_real_of_problem, i);
    printf("\n");
    print_group(find, "seen set right", is_real_specialized, 0);
    print_group(find, "all", is_real, 0);
    printf("\n%d kernels that take other sizes for published ones (find_tables.c):\n",
           find->of_family[FIND_TABLE]);
    print_head();
    print_group(find, "all", is_table, 0);
    printf("\n%d planted faults:\n", find->of_family[FIND_PLANT]);
    print_head();
    for (int kind = 0; kind < PLANT_KINDS; kind++)
        print_group(find, plant_kind_name((enum plant_kind)kind), is_of_kind, kind);
    print_group(find, "two with and", is_joined, PLANT_AND);
    print_group(find, "two with or", is_joined, PLANT_OR);
    printf("\n");
    for (int i = 0; problem_registry[i]; i++)
        print_group(find, problem_registry[i]->name, is_of_problem, i);
    printf("\n");
    print_group(find, "seen set right", is_specialized, 0);
    print_group(find, "all", is_planted, 0);
    printf("\n  shares and medians: over faults and %d sets each; out of reach: not counted;\n"
           "  on seen: the seen set shows it too, for which nobody is given credit;\n"
           "  median: configurations until the first failure\n",
           find->seeds);
    print_misses(find, FIND_STANDARD, "standard");
    print_misses(find, FIND_QUICK, "quick");
    print_unreachable(find);
}
