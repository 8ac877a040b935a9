/* Single elements of lowered graphs in MPFR against the evaluation in fp64, whose radius must hold:
 * tests/python/dump_graphs.py writes both. They are made of small cases, where there is a Python with torch;
 * UNSEEN_TEST_GRAPHS names a folder of others. */
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oracle_task.h"
#include "share.h"
#include "skip.h"
#include "suites.h"
#include "verify/torch/exact.h"

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file, "%s", path);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *content = malloc(*length + 1);
    ck_assert_uint_eq(fread(content, 1, *length, file), *length);
    fclose(file);
    return content;
}

/* 1 where every requested element agrees; 0 where one takes too many terms. */
static int compare(const char *folder, const char *name)
{
    char path[512], why[200] = "";
    size_t numbers, text, length;
    int output, told = 1, asked = 0;
    long long index;
    double want, radius, value;
    snprintf(path, sizeof path, "%s/%s.want", folder, name);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%zu %zu", &numbers, &text), 2);
    snprintf(path, sizeof path, "%s/%s.graph", folder, name);
    char *memory = read_file(path, &length);
    ck_assert_uint_eq(length, numbers + text);
    struct exact *exact = exact_open(memory, numbers, text, why, sizeof why);
    ck_assert_msg(exact, "%s: %s", name, why);
    while (told && fscanf(file, "%d %lld %lf %lf", &output, &index, &want, &radius) == 4) {
        asked++;
        told = exact_element(exact, output, index, &value, why, sizeof why);
        ck_assert_msg(told || strstr(why, "too many") || strstr(why, "whole"), "%s: %s", name, why);
        /* the value is rounded to double once more */
        const double most = radius + 0x1p-52 * fabs(value) + 0x1p-1070;
        const bool same = isfinite(want) ? fabs(value - want) <= most
                          : isnan(want)  ? isnan(value)
                                         : value == want;
        ck_assert_msg(!told || same, "%s %d[%lld]: fp64 %.17g +- %.3g, MPFR %.17g", name, output, index, want,
                      radius, value);
    }
    exact_close(exact);
    free(memory);
    fclose(file);
    return told && asked;
}

static void compare_all(const char *folder, bool say)
{
    char name[256];
    int count = 0, told = 0;
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        char *end = strstr(entry->d_name, ".want");
        if (!end)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(end - entry->d_name), entry->d_name);
        const int one = compare(folder, name);
        if (say)
            printf("%s%s\n", name, one ? "" : ": none, or too many terms");
        told += one;
        count++;
    }
    closedir(directory);
    printf("%d graphs, single elements of %d\n", count, told);
    ck_assert_int_gt(told, say ? 0 : 50);
}

/* The tests of unseen_torch.oracle, and the files that they leave for the comparison. */
START_TEST(the_evaluation_passes_its_own_tests)
{
    const char *const given = getenv("UNSEEN_TEST_PYTHON"), *const python =
                                                                given ? given : "build/venv/bin/python";
    char folder[] = "/tmp/unseen-test-XXXXXX", command[512];
    snprintf(command, sizeof command, "'%s' -c 'import torch' >/dev/null 2>&1", python);
    if (system(command) != 0)
        SKIP_TEST("no Python with torch");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(command, sizeof command, "'%s' tests/python/test_oracle.py '%s'", python, folder);
    ck_assert_int_eq(system(command), 0);
    compare_all(folder, false);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* A share of PyTorch's own operations, another one with each commit, on the same samples: none crashes, none
 * has its own answer rejected, and the page of operations says of each what becomes of it. */
START_TEST(operations_of_pytorch_are_judged_as_the_page_says)
{
    enum { SHARE = 60 };
    const char *const given = getenv("UNSEEN_TEST_PYTHON"), *const python =
                                                                given ? given : "build/venv/bin/python";
    char command[512];
    snprintf(command, sizeof command, "'%s' -c 'import torch' >/dev/null 2>&1", python);
    if (system(command) != 0)
        SKIP_TEST("no Python with torch");
    snprintf(command, sizeof command,
             "'%s' tests/python/opinfo.py --rotation %d --share %d --samples 3 --held doc/operations.md",
             python, share_rotation_of(SHARE), SHARE);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(radii_hold_in_mpfr)
{
    compare_all(getenv("UNSEEN_TEST_GRAPHS"), true);
}
END_TEST

/* --- a graph by hand --- */

static const double numbers[] = {3, 4, 2, -1, 5, 0.5};
#define GRAPH(rest) "{\"nodes\":[{\"op\":\"input\",\"n\":4,\"at\":0}," rest "]}"

static struct exact *opened(const char *text, char *memory, char *why)
{
    memcpy(memory, numbers, sizeof numbers);
    memcpy(memory + sizeof numbers, text, strlen(text) + 1);
    return exact_open(memory, sizeof numbers, strlen(text), why, 200);
}

START_TEST(a_graph_by_hand)
{
    _Alignas(8) char memory[2048];
    char why[200];
    double value;
    struct exact *e =
        opened(GRAPH("{\"op\":\"mul\",\"n\":4,\"a\":0,\"b\":0},{\"op\":\"sum\",\"n\":2,\"terms\":2,\"a\":1},"
                     "{\"op\":\"sqrt\",\"n\":2,\"a\":2}],\"outputs\":[3,-1"),
               memory, why);
    ck_assert_msg(e, "%s", why);
    ck_assert(exact_element(e, 0, 0, &value, why, sizeof why));
    ck_assert_double_eq(value, 5);
    ck_assert(exact_element(e, 0, 1, &value, why, sizeof why));
    ck_assert_double_eq(value, sqrt(5));
    ck_assert(!exact_element(e, 0, 2, &value, why, sizeof why));
    ck_assert(!exact_element(e, 1, 0, &value, why, sizeof why));
    ck_assert(!exact_element(e, 2, 0, &value, why, sizeof why));
    exact_close(e);
}
END_TEST

/* A task that leaves out the last of one row scans nothing: every size may be 0. */
START_TEST(of_nothing_there_is_a_sum_and_a_scan)
{
    _Alignas(8) char memory[2048];
    char why[200];
    double value;
    struct exact *e =
        opened(GRAPH("{\"op\":\"input\",\"n\":0,\"at\":0},{\"op\":\"cumsum\",\"n\":0,\"terms\":0,\"a\":1},"
                     "{\"op\":\"map\",\"n\":0,\"at\":0,\"a\":2,\"fill\":2},"
                     "{\"op\":\"sum\",\"n\":2,\"terms\":0,\"a\":3}],\"outputs\":[4"),
               memory, why);
    ck_assert_msg(e, "%s", why);
    ck_assert(exact_element(e, 0, 1, &value, why, sizeof why));
    ck_assert_double_eq(value, 0);
    exact_close(e);
}
END_TEST

/* A loop over steps stacks as many tensors. */
START_TEST(a_join_may_have_many_parts)
{
    enum { PARTS = 1000 };
    static _Alignas(8) char memory[2048 + 2 * PARTS];
    char parts[2 * PARTS], text[400 + 2 * PARTS], why[200] = "";
    memset(parts, 0, sizeof parts);
    for (int i = 0; i < PARTS; i++)
        memcpy(parts + 2 * i, "0,", i < PARTS - 1 ? 2 : 1);
    snprintf(
        text, sizeof text,
        "{\"nodes\":[{\"op\":\"input\",\"n\":4,\"at\":0},{\"op\":\"join\",\"n\":4,\"at\":0,\"of\":[%s]}],"
        "\"outputs\":[1]}",
        parts);
    struct exact *e = opened(text, memory, why);
    ck_assert_msg(e, "%s", why);
    exact_close(e);
}
END_TEST

static const char *const malformed[] = {
    "",
    "[]",
    "{\"nodes\":[],\"outputs\":[0]}",
    GRAPH("{\"op\":\"exp\",\"n\":4,\"a\":1}],\"outputs\":[1"),    /* of itself */
    GRAPH("{\"op\":\"exp\",\"n\":5,\"a\":0}],\"outputs\":[1"),    /* more than there is */
    GRAPH("{\"op\":\"none\",\"n\":4,\"a\":0}],\"outputs\":[1"),   /* no such operation */
    GRAPH("{\"op\":\"input\",\"n\":7,\"at\":0}],\"outputs\":[1"), /* beyond the memory */
    GRAPH("{\"op\":\"input\",\"n\":1,\"at\":4}],\"outputs\":[1"), /* between numbers */
    GRAPH("{\"op\":\"input\",\"n\":1,\"at\":-8}],\"outputs\":[1"),
    GRAPH("{\"op\":\"map\",\"n\":9,\"at\":0,\"a\":0,\"fill\":0}],\"outputs\":[1"),
    GRAPH("{\"op\":\"sum\",\"n\":3,\"terms\":2,\"a\":0}],\"outputs\":[1"),
    GRAPH("{\"op\":\"most\",\"n\":4,\"terms\":0,\"a\":0}],\"outputs\":[1"),   /* of nothing */
    GRAPH("{\"op\":\"cumsum\",\"n\":4,\"terms\":0,\"a\":0}],\"outputs\":[1"), /* of empty rows */
    GRAPH("{\"op\":\"mm\",\"n\":4,\"a\":0,\"b\":0,\"sizes\":[1,2,2,3]}],\"outputs\":[1"),
    GRAPH("{\"op\":\"conv\",\"n\":4,\"a\":0,\"b\":0,\"x\":[1,1,4],\"w\":[1,1,1],\"y\":[1,1,4],\"stride\":[0],"
          "\"padding\":[0],\"dilation\":[1],\"groups\":1,\"transposed\":0}],\"outputs\":[1"),
    GRAPH("{\"op\":\"join\",\"n\":4,\"at\":0,\"of\":[1]}],\"outputs\":[1"),
    GRAPH("{\"op\":\"abs\",\"n\":4,\"a\":0}],\"outputs\":[7"),
};

START_TEST(malformed_graphs_are_refused)
{
    _Alignas(8) char memory[2048];
    char why[200] = "";
    ck_assert_ptr_null(opened(malformed[_i], memory, why));
    ck_assert_str_eq(why, "the graph is malformed");
}
END_TEST

/* A place in a map may be any number: it is checked when it is used. */
START_TEST(places_out_of_range_end_it)
{
    _Alignas(8) char memory[2048];
    char why[200] = "";
    double value;
    struct exact *e =
        opened(GRAPH("{\"op\":\"map\",\"n\":6,\"at\":0,\"a\":0,\"fill\":0}],\"outputs\":[1"), memory, why);
    ck_assert_msg(e, "%s", why);
    ck_assert(!exact_element(e, 0, 0, &value, why, sizeof why)); /* a double's bits */
    ck_assert_ptr_nonnull(strstr(why, "out of range"));
    exact_close(e);
}
END_TEST

TCase *exact_case(void)
{
    TCase *exact = tcase_create("exact");
    tcase_set_timeout(exact, 500);
    tcase_add_test(exact, the_evaluation_passes_its_own_tests);
    tcase_add_test(exact, operations_of_pytorch_are_judged_as_the_page_says);
    if (getenv("UNSEEN_TEST_GRAPHS"))
        tcase_add_test(exact, radii_hold_in_mpfr);
    tcase_add_test(exact, a_graph_by_hand);
    tcase_add_test(exact, of_nothing_there_is_a_sum_and_a_scan);
    tcase_add_test(exact, a_join_may_have_many_parts);
    tcase_add_loop_test(exact, malformed_graphs_are_refused, 0, sizeof malformed / sizeof *malformed);
    tcase_add_test(exact, places_out_of_range_end_it);
    return exact;
}
