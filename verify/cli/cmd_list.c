/* unseen list, unseen describe */
#include <stdio.h>
#include <string.h>

#include "gen/contract/space.h"
#include "options.h"
#include "verify/problem/paths.h"

int command_list(const struct options *options)
{
    (void)options;
    for (const struct problem *const *p = problem_registry; *p; p++)
        printf("%-16s %s\n", (*p)->name, (*p)->summary);
    return EXIT_GENERAL;
}

static const char *c_type(enum dtype dtype)
{
    static const char *const name[] = {
        [DTYPE_F32] = "float",   [DTYPE_BF16] = "unseen_bf16", [DTYPE_E4M3] = "unseen_e4m3",
        [DTYPE_I32] = "int32_t", [DTYPE_I64] = "int64_t",      [DTYPE_U8] = "uint8_t",
        [DTYPE_F64] = "double"};
    return name[dtype];
}

static void print_prototype(const struct problem *problem, const char *stream)
{
    printf("int %s(", problem->name);
    for (int t = 0; problem->tensors[t].name; t++)
        printf("%s%s *%s, ", problem->tensors[t].role == TENSOR_INPUT ? "const " : "",
               c_type(problem->tensors[t].dtype), problem->tensors[t].name);
    for (int e = 0; problem->arguments[e].name; e++)
        printf("int64_t %s, ", problem->arguments[e].name);
    printf("%sstream);\n", stream);
}

/* Broken at blanks so that no line is much above 90 columns. */
static void print_folded(const char *indent, const char *text)
{
    enum { FOLD = 84 };
    while (*text) {
        size_t length = strlen(text);
        if (length > FOLD)
            for (length = FOLD; length > 0 && text[length] != ' '; length--)
                ;
        if (length == 0)
            length = strlen(text);
        printf("%s%.*s\n", indent, (int)length, text);
        text += length + strspn(text + length, " ");
    }
}

/* One header for C on the host and CUDA C++: there the formats are CUDA's own types. */
static void print_header(const struct problem *problem)
{
    printf("/* %s: %s\n *\n", problem->name, problem->summary);
    for (int t = 0; problem->tensors[t].name; t++)
        printf(" *   %-12s %s %s, %s\n", problem->tensors[t].name, dtype_name(problem->tensors[t].dtype),
               problem->tensors[t].shape,
               problem->tensors[t].role == TENSOR_INPUT ? "read-only" : "output; holds garbage");
    printf(" *\n * Row-major, dense, aligned to 16 bytes. Return 0, or nonzero to refuse a configuration.\n"
           " * Declared arithmetic:\n");
    print_folded(" *   ", problem->arithmetic);
    printf(" */\n");
    printf("#include <stdint.h>\n\n"
           "#ifdef __CUDACC__\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
           "typedef __nv_bfloat16 unseen_bf16;\ntypedef __nv_fp8_e4m3 unseen_e4m3;\n"
           "#define UNSEEN_STREAM cudaStream_t\n#else\n"
           "typedef uint16_t unseen_bf16; /* the bits */\ntypedef uint8_t unseen_e4m3;  /* the bits */\n"
           "#define UNSEEN_STREAM void *   /* NULL on the host */\n#endif\n\n"
           "#ifdef __cplusplus\nextern \"C\"\n#endif\n");
    print_prototype(problem, "UNSEEN_STREAM ");
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
    const struct problem *problem = options_problem(options);
    struct space space;
    struct space_error error;
    char path[1024], name[128];
    if (!problem)
        return EXIT_USAGE;
    if (options->header) {
        print_header(problem);
        return EXIT_GENERAL;
    }
    snprintf(name, sizeof name, "%s.space", problem->name);
    paths_shape(path, sizeof path, name);
    if (space_read(&space, problem, path, &error) != 0) {
        options_error("%s", error.text);
        return EXIT_USAGE;
    }
    printf("%s: %s\n\naxes and contract (%s)\n", problem->name, problem->summary, path);
    for (int i = 0; problem->axes[i].name; i++)
        print_domain(&space, i);
    for (int i = 0; i < space.constraint_count; i++)
        printf("  limit      %s\n", constraint_text(space.constraint[i]));
    print_classes(problem);
    print_derived(problem->derived);
    printf("\ntensors\n");
    for (int t = 0; problem->tensors[t].name; t++)
        printf("  %-12s %-5s %s%s\n", problem->tensors[t].name, dtype_name(problem->tensors[t].dtype),
               problem->tensors[t].shape, problem->tensors[t].role == TENSOR_INPUT ? "" : "  (output)");
    printf("\ndeclared arithmetic\n");
    print_folded("  ", problem->arithmetic);
    printf("\npublished check\n  |got - want| <= %g + %g |want|\n\n"
           "candidate (unseen describe %s --header)\n  ",
           problem->published_atol, problem->published_rtol, problem->name);
    print_prototype(problem, "void *");
    space_clear(&space);
    return EXIT_GENERAL;
}
