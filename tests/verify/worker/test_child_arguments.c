/* The isolated runner: arguments of every type, and as many of them as a problem may have. */
#include "child_fixture.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct build called;

static const char functions[] =
    "#include <stdint.h>\n"
    "#include <stdbool.h>\n"
    "int every_type(float *x, float *y, float a, int64_t b, double c, bool d, int32_t e, bool f, float g,\n"
    "    float h, float i, float j, float k, float l, double m, int64_t n, int32_t o, void *s)\n"
    "{ double r[] = {a, (double)b, c, d, e, f, g, h, i, j, k, l, m, (double)n, o};\n"
    "    for (int at = 0; at < 15; at++) ((double *)y)[at] = r[at];\n"
    "    return x && !s ? -7 : 1; }\n"
    "#define T(n, c) c t##n##0, c t##n##1, c t##n##2, c t##n##3, c t##n##4, c t##n##5, c t##n##6, c t##n##7\n"
    "int most(T(0, char *), T(1, char *), T(2, char *), T(3, char *), int64_t a, float b, int64_t c, float "
    "d, int64_t e, float f, int64_t g,\n"
    "    float h, int64_t i, float j, int64_t k, float l, int64_t m, float n, int64_t o, float p, void *s)\n"
    "{ char *t[] = {T(0,), T(1,), T(2,), T(3,)};\n"
    "    for (uintptr_t i = 0; i < 32; i++) if ((uintptr_t)t[i] % 4096 != 4 * i) return -2;\n"
    "    return !s ? a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h +\n"
    "    9 * i + 10 * j + 11 * k + 12 * l + 13 * m + 14 * n + 15 * o + 16 * p : -1; }\n";

static void compile(void)
{
    char path[128];
    fixture_compile(&called, "called.c", functions);
    snprintf(path, sizeof path, "%s/called.c", it.folder);
    unlink(path);
}

static void forget(void)
{
    build_clear(&called);
}

static void start(const char *symbol)
{
    ck_assert_msg(fixture_start_object(called.object, symbol, NULL) == CHILD_OK, "%s", it.text);
    ck_assert_msg(child_map(it.child, 0, 0, &it.x, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
    ck_assert_msg(child_map(it.child, 0, 1, &it.y, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
}

/* More arguments than the registers of either kind take, in an order of their own. */
START_TEST(arguments_of_every_type_arrive_as_they_are)
{
    static const struct channel_argument argument[] = {
        {ARGUMENT_F32, {.real = 0.1}},       {ARGUMENT_I64, {.whole = -(1LL << 40)}},
        {ARGUMENT_F64, {.real = 0.1}},       {ARGUMENT_BOOL, {.whole = 1}},
        {ARGUMENT_I32, {.whole = -5}},       {ARGUMENT_BOOL, {.whole = 0}},
        {ARGUMENT_F32, {.real = -1.5}},      {ARGUMENT_F32, {.real = 2}},
        {ARGUMENT_F32, {.real = 3}},         {ARGUMENT_F32, {.real = 4}},
        {ARGUMENT_F32, {.real = 5}},         {ARGUMENT_F32, {.real = INFINITY}},
        {ARGUMENT_F64, {.real = 0x1p-1060}}, {ARGUMENT_I64, {.whole = INT64_MIN}},
        {ARGUMENT_I32, {.whole = INT32_MAX}}};
    enum { ARGUMENTS = sizeof argument / sizeof *argument };
    struct call call = {.tensors = 2, .arguments = ARGUMENTS};
    const double *got = it.y.base;
    int returned = 0;
    memcpy(call.argument, argument, sizeof argument);
    start("every_type");
    ck_assert_int_eq(fixture_make(&call, 20, &returned), CHILD_OK);
    ck_assert_int_eq(returned, -7);
    for (int i = 0; i < ARGUMENTS; i++) {
        const struct channel_argument *a = &argument[i];
        const double want = a->type == ARGUMENT_F32   ? (double)(float)a->value.real
                            : a->type == ARGUMENT_F64 ? a->value.real
                                                      : (double)a->value.whole;
        ck_assert_msg(got[i] == want, "argument %d is %.17g, not %.17g", i, got[i], want);
    }
}
END_TEST

START_TEST(as_many_tensors_and_arguments_as_a_problem_may_have_arrive)
{
    struct call call = {.tensors = CHANNEL_TENSORS, .arguments = CHANNEL_ARGUMENTS};
    int returned = 0, want = 0;
    ck_assert_int_eq(fixture_start_object(called.object, "most", NULL), CHILD_OK);
    for (int t = 0; t < CHANNEL_TENSORS; t++) {
        ck_assert_int_eq(child_map(it.child, 0, t, t % 2 ? &it.x : &it.y, it.text, sizeof it.text), CHILD_OK);
        call.offset[t] = 4 * (uint64_t)t;
    }
    for (int i = 0; i < CHANNEL_ARGUMENTS; i++) {
        if (i % 2)
            call.argument[i] = (struct channel_argument){ARGUMENT_F32, {.real = i}};
        else
            call.argument[i] = (struct channel_argument){ARGUMENT_I64, {.whole = i}};
        want += (i + 1) * i;
    }
    ck_assert_int_eq(fixture_make(&call, 20, &returned), CHILD_OK);
    ck_assert_int_eq(returned, want);
}
END_TEST

START_TEST(an_argument_of_no_known_type_is_refused)
{
    struct call call = {.tensors = 2, .arguments = 1, .argument = {{.type = 99}}};
    int returned = 0;
    start("every_type");
    ck_assert_int_ne(fixture_make(&call, 20, &returned), CHILD_OK);
    ck_assert_ptr_nonnull(strstr(it.text, "arguments of known types"));
}
END_TEST

TCase *child_arguments_case(void)
{
    TCase *tests = tcase_create("arguments");
    fixture_add(tests);
    tcase_add_unchecked_fixture(tests, compile, forget);
    tcase_add_test(tests, arguments_of_every_type_arrive_as_they_are);
    tcase_add_test(tests, as_many_tensors_and_arguments_as_a_problem_may_have_arrive);
    tcase_add_test(tests, an_argument_of_no_known_type_is_refused);
    return tests;
}
