/* Runners that are started at once: each works like any other, and runners that cannot start are missing. */
#include "child_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "skip.h"
#include "suites.h"

enum { SEVERAL = 5 };

static struct child_options options_of(const char *symbol)
{
    return (struct child_options){.backend = BACKEND_HOST,
                                  .object = it.built.object,
                                  .symbol = symbol,
                                  .load_timeout = 20,
                                  .threads = 1};
}

/* Maps x and y as its own set, and makes a call. */
static int call(struct child *child)
{
    const struct call call = fixture_make_call(PLACE_LOW);
    struct child_answer answer;
    struct region *const region[] = {&it.x, &it.y};
    for (int t = 0; t < 2; t++)
        ck_assert_msg(child_map(child, 0, t, region[t], it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
    ck_assert_msg(child_call(child, &call, 20, &answer, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
    return answer.returned;
}

START_TEST(several_start_at_once_and_each_computes)
{
    struct child_options options[SEVERAL];
    struct child_started child[SEVERAL];
    fixture_start("doubles"); /* the first of its backend */
    for (int i = 0; i < SEVERAL; i++)
        options[i] = options_of(i % 2 ? "refuses" : "doubles");
    child_start_several(child, options, SEVERAL);
    usleep(100000); /* they do not die with the thread that waited for them */
    for (int i = 0; i < SEVERAL; i++) {
        ck_assert_ptr_nonnull(child[i].child);
        ck_assert_int_eq(call(child[i].child), i % 2 ? 7 : 0);
        child_stop(child[i].child);
    }
}
END_TEST

START_TEST(what_cannot_be_started_is_missing)
{
    static const char *const symbols[] = {"doubles", "there_is_none_of_this_name", "doubles"};
    struct child_options options[3];
    struct child_started child[3];
    fixture_start("doubles");
    for (int i = 0; i < 3; i++)
        options[i] = options_of(symbols[i]);
    child_start_several(child, options, 3);
    ck_assert_ptr_nonnull(child[0].child);
    ck_assert_ptr_null(child[1].child);
    ck_assert_int_eq(child[1].status, CHILD_SYMBOL);
    ck_assert_ptr_nonnull(strstr(child[1].text, "there_is_none_of_this_name"));
    ck_assert_ptr_nonnull(child[2].child);
    ck_assert_int_eq(call(child[2].child), 0);
    child_stop(child[0].child);
    child_stop(child[2].child);
}
END_TEST

START_TEST(more_than_there_may_be_are_missing_too)
{
    enum { MANY = CHILD_SEVERAL + 3 };
    struct child_options options[MANY];
    struct child_started child[MANY];
    fixture_start("doubles");
    for (int i = 0; i < MANY; i++)
        options[i] = options_of("doubles");
    child_start_several(child, options, MANY);
    for (int i = 0; i < MANY; i++) {
        ck_assert_msg((child[i].child != NULL) == (i < CHILD_SEVERAL), "%d", i);
        child_stop(child[i].child);
    }
}
END_TEST

/* The first runner finds out whether the sandbox works here. */
START_TEST(the_first_of_a_backend_starts_alone)
{
    struct child_options options[2] = {options_of("doubles"), options_of("doubles")};
    struct child_started child[2];
    if (!strstr(child_sandbox(), "bubblewrap: "))
        SKIP_TEST("no sandbox here");
    child_start_several(child, options, 2);
    ck_assert_ptr_null(child[0].child);
    ck_assert_ptr_null(child[1].child);
}
END_TEST

TCase *child_several_case(void)
{
    TCase *tests = tcase_create("several");
    fixture_add(tests);
    tcase_add_test(tests, several_start_at_once_and_each_computes);
    tcase_add_test(tests, what_cannot_be_started_is_missing);
    tcase_add_test(tests, more_than_there_may_be_are_missing_too);
    tcase_add_test(tests, the_first_of_a_backend_starts_alone);
    return tests;
}
