/* unseen list, unseen describe */
#include <stdio.h>
#include <string.h>

#include "gen/contract/space.h"
#include "header.h"
#include "options.h"
#include "verify/problem/folder.h"

int command_list(const struct options *options)
{
    (void)options;
    for (const struct problem *const *p = problem_registry; *p; p++)
        printf("%-16s %s\n", (*p)->name, (*p)->summary);
    return EXIT_GENERAL;
}

static void print_domain(const struct space *space, int index)
{
    const struct axis *axis = &space->problem->axes[index];
    const struct domain *domain = &space->domain[index];
    printf("  %-10s ", axis->name);
    if (axis->kind == AXIS_CHOICE) {
        for (int i = 0; i < domain->value_count; i++)
            printf("%s%s", i ? " " : "", problem_choice(space->problem, index, domain->value[i]));
    } else if (domain->value_count > 0) {
        for (int i = 0; i < domain->value_count; i++)
            printf("%s%lld", i ? " " : "", (long long)domain->value[i]);
    } else {
        printf("%lld..%lld", (long long)domain->low, (long long)domain->high);
        for (int i = 0; i < domain->tile_count; i++)
            printf("%s%lld", i ? " " : "  tiles ", (long long)domain->tile[i]);
    }
    printf("\n             %s\n", axis->help);
}

static void print_derived(const struct derived *derived)
{
    if (derived)
        printf("\nderived sizes (drawn with the inputs; a rule may name them)\n");
    for (; derived && derived->name; derived++) {
        printf("  %-10s ", derived->name);
        for (int i = 0; derived->axes[i]; i++)
            printf("%s%s", i ? ", " : "from ", derived->axes[i]);
        printf(" and the seed\n             %s\n", derived->help);
    }
}

static void print_classes(const struct problem *problem)
{
    static const char *const promise[] = {
        [DATA_SIGN_RANDOM] = "random signs", [DATA_ANY] = "nothing", [DATA_EXACT] = "exact sums"};
    const bool exact = problem->arithmetic_class == ARITHMETIC_EXACT;
    if (!problem->classes)
        return;
    printf("\ninput classes (and what each promises; *: one wrong element shows at any size, so drawn more "
           "often)\n");
    for (const struct input_class *c = problem->classes; c->name; c++)
        printf("  %-10s %c %-12s %s\n", c->name, c->discriminating ? '*' : ' ',
               exact ? "exact" : promise[c->data], c->shows);
}

int command_describe(const struct options *options)
{
    const struct problem *problem;
    struct space space;
    struct space_error error;
    char path[1024];
    const int status = options_problem(options->argument[0], &problem);
    if (status != 0)
        return status;
    if (options->header) {
        header_write(stdout, problem);
        return EXIT_GENERAL;
    }
    folder_shape(problem, "space", path, sizeof path);
    if (space_read(&space, problem, path, &error) != 0) {
        options_error("%s", error.text);
        return error.environment ? EXIT_ENVIRONMENT : EXIT_USAGE;
    }
    printf("%s: %s\n\naxes and contract (%s)\n", problem->name, problem->summary, path);
    for (int i = 0; problem->axes[i].name; i++)
        print_domain(&space, i);
    for (int i = 0; i < space.constraint_count; i++)
        printf("  limit      %s\n", constraint_text(space.constraint[i]));
    print_classes(problem);
    print_derived(problem->derived);
    static const char *const role[] = {
        [TENSOR_INPUT] = "", [TENSOR_OUTPUT] = "  (output)", [TENSOR_INOUT] = "  (in-out)"};
    printf("\ntensors\n");
    for (const struct tensor *t = problem->tensors; t->name; t++) {
        printf("  %-12s %-5s %s%s\n", t->name, dtype_row(t->dtype)->name, t->shape, role[t->role]);
        if (t->layout)
            printf("  %-12s       %s\n", "", t->layout);
    }
    printf("\ndeclared arithmetic\n");
    header_folded(stdout, "  ", problem->arithmetic);
    printf("\npublished check\n  |got - want| <= %g + %g |want|\n\n"
           "candidate (unseen describe %s --header)\n  ",
           problem->published_atol, problem->published_rtol, folder_word(problem));
    header_prototype(stdout, problem, "void *");
    space_clear(&space);
    return EXIT_GENERAL;
}
