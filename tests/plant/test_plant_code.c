/* The tests in planted kernels, compiled, against the conditions that are their truth. */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/draw/cost.h"
#include "gen/contract/instantiate.h"
#include "plant.h"
#include "suites.h"

enum { PROBLEMS = 9, MANY = 40, DRAWS = 60, DERIVED_DRAWS = 200 };

/* Small enough for configurations that take no time. */
static const struct draw_caps small_caps = {.bytes = 2e6, .flops = 1e7};

static struct plant_field field[PROBLEMS];
static struct plant drawn[PROBLEMS][MANY];
static void *library;

/* Derived sizes, as a kernel finds them in its inputs. */
static const struct {
    const char *problem, *name, *code;
} derived[] = {
    {"moe_up", "most_rows", "plant_most_between(expert_offsets, experts, stream)"},
    {"moe_up", "least_rows", "plant_least_between(expert_offsets, experts, stream)"},
    {"paged_attention", "shortest", "plant_least(seq_lens, batch, stream)"},
};
enum { DERIVED = sizeof derived / sizeof *derived };

/* --- the library of all conditions --- */

/* The arguments of the kernel, under its own names. */
static void write_function(FILE *out, const char *name, const struct problem *p, const char *code)
{
    fprintf(out,
            "int %s(const int64_t *extent, const int32_t *const *given)\n{\n"
            "    void *stream = NULL;\n",
            name);
    for (int t = 0; p->tensors[t].name; t++)
        if (p->tensors[t].dtype == DTYPE_I32)
            fprintf(out, "    const int32_t *%s = given[%d];\n", p->tensors[t].name, t);
    for (int e = 0; p->arguments[e].name; e++)
        if (p->arguments[e].type == ARGUMENT_I64)
            fprintf(out, "    const int64_t %s = extent[%d];\n", p->arguments[e].name, e);
    fprintf(out, "    return (int)(%s);\n}\n", code);
}

static void write_contents(FILE *out)
{
    char line[256];
    FILE *in = fopen("tests/plant/contents.in", "re");
    ck_assert_ptr_nonnull(in);
    while (fgets(line, sizeof line, in))
        fputs(line, out);
    fclose(in);
}

static void write_library(FILE *out)
{
    char name[64], code[2 * PLANT_TEXT + 16];
    write_contents(out);
    for (int p = 0; p < PROBLEMS; p++)
        for (int i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "condition_%d_%d", p, i);
            plant_condition_code(&drawn[p][i], code, sizeof code);
            write_function(out, name, problem_registry[p], code);
        }
    for (int d = 0; d < DERIVED; d++) {
        snprintf(name, sizeof name, "derived_%s", derived[d].name);
        write_function(out, name, problem_find(derived[d].problem), derived[d].code);
    }
}

static void open_library(void)
{
    char folder[] = "/tmp/unseen-code-XXXXXX", source[64], object[64], command[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(source, sizeof source, "%s/conditions.c", folder);
    snprintf(object, sizeof object, "%s/conditions.so", folder);
    FILE *out = fopen(source, "we");
    ck_assert_ptr_nonnull(out);
    write_library(out);
    fclose(out);
    snprintf(command, sizeof command, "cc -O1 -shared -fPIC -o %s %s", object, source);
    ck_assert_int_eq(system(command), 0);
    library = dlopen(object, RTLD_NOW);
    ck_assert_msg(library != NULL, "%s", dlerror());
    unlink(source), unlink(object), rmdir(folder);
}

static void open_all(void)
{
    char root[PLANT_PATH / 2];
    ck_assert_ptr_nonnull(getcwd(root, sizeof root));
    for (int p = 0; p < PROBLEMS; p++) {
        ck_assert_int_eq(plant_field_open(&field[p], problem_registry[p], false, root, &small_caps), 0);
        for (int i = 0; i < MANY; i++)
            ck_assert_int_eq(plant_draw(&drawn[p][i], &field[p], 1, i), 0);
    }
    open_library();
}

static void close_all(void)
{
    dlclose(library);
    for (int p = 0; p < PROBLEMS; p++) {
        for (int i = 0; i < MANY; i++)
            plant_clear(&drawn[p][i]);
        plant_field_clear(&field[p]);
    }
}

/* --- calling it --- */

typedef int (*kernel_code)(const int64_t *extent, const int32_t *const *given);

static kernel_code find_code(const char *name)
{
    kernel_code code;
    void *symbol = dlsym(library, name);
    ck_assert_msg(symbol != NULL, "%s", name);
    memcpy(&code, &symbol, sizeof code);
    return code;
}

static int call(kernel_code code, const struct instance *instance)
{
    const int32_t *given[PROBLEM_MAX_TENSORS];
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++)
        given[t] = instance->tensor[t].fill.given;
    return code(instance->extent, given);
}

/* Both contents that a check runs, of a configuration that takes no time. */
static struct config open_small(int p, struct pcg *pcg, struct instance instance[CHECKED_CONTENTS])
{
    struct costing costing = costing_of(&field[p].space, &small_caps);
    struct config config;
    struct cost cost;
    do
        ck_assert(plant_random_config(&field[p], pcg, &config));
    while (!draw_cost(&costing, &config, &cost));
    for (int c = 0; c < CHECKED_CONTENTS; c++)
        ck_assert_int_eq(config_instantiate(&config, c, &instance[c]), 0);
    return config;
}

static void close_small(struct instance instance[CHECKED_CONTENTS])
{
    for (int c = 0; c < CHECKED_CONTENTS; c++)
        instance_clear(&instance[c]);
}

/* --- tests --- */

/* The arguments that the kernel is called with, not the axes, decide its behaviour. One of two calls with
 * different contents is enough. */
START_TEST(what_the_kernel_tests_is_what_the_truth_says)
{
    struct pcg *pcg = pcg_new(5, problem_registry[_i]->name);
    char name[64];
    for (int draws = 0; draws < DRAWS; draws++) {
        struct instance instance[CHECKED_CONTENTS];
        const struct config config = open_small(_i, pcg, instance);
        for (int i = 0; i < MANY; i++) {
            bool meets = false;
            snprintf(name, sizeof name, "condition_%d_%d", _i, i);
            for (int c = 0; c < CHECKED_CONTENTS; c++)
                meets = call(find_code(name), &instance[c]) || meets;
            ck_assert_msg(meets == plant_may_show(&drawn[_i][i], &config), "%s", drawn[_i][i].when);
        }
        close_small(instance);
    }
    pcg_free(pcg);
}
END_TEST

START_TEST(what_the_kernel_finds_in_its_inputs_is_what_is_derived)
{
    struct pcg *pcg = pcg_new(6, derived[_i].name);
    const struct problem *problem = problem_find(derived[_i].problem);
    const int index = problem_derived_index(problem, derived[_i].name);
    char name[64];
    int p = 0;
    while (problem_registry[p] != problem)
        p++;
    snprintf(name, sizeof name, "derived_%s", derived[_i].name);
    for (int draws = 0; draws < DERIVED_DRAWS; draws++) {
        struct instance instance[CHECKED_CONTENTS];
        const struct config config = open_small(p, pcg, instance);
        const int a = call(find_code(name), &instance[0]), b = call(find_code(name), &instance[1]);
        const bool greatest = problem->derived[index].over == DERIVED_GREATEST;
        ck_assert_int_eq(config_derived(&config, index), (a > b) == greatest ? a : b);
        close_small(instance);
    }
    pcg_free(pcg);
}
END_TEST

TCase *plant_code_case(void)
{
    TCase *tcase = tcase_create("code");
    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, open_all, close_all);
    tcase_add_loop_test(tcase, what_the_kernel_tests_is_what_the_truth_says, 0, PROBLEMS);
    tcase_add_loop_test(tcase, what_the_kernel_finds_in_its_inputs_is_what_is_derived, 0, DERIVED);
    return tcase;
}
