/* The isolated runner: calls that return, their arguments, and the memory that they may touch. */
#include "child_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suites.h"
#include "skip.h"

static bool sandboxed(void)
{
    return strstr(child_sandbox(), "bubblewrap: ") != NULL;
}

START_TEST(regions_hold_whole_granules_and_place_on_both_ends)
{
    ck_assert_uint_eq(it.x.mapped, 8192); /* one page would do, but at one address only */
    ck_assert_uint_eq(region_offset(&it.x, PLACE_LOW), 0);
    ck_assert_uint_eq(region_offset(&it.x, PLACE_HIGH), (8192 - FIXTURE_COUNT * 4) / 16 * 16);
    struct region empty, huge;
    ck_assert_int_eq(region_create(&empty, BACKEND_HOST, 0, REGION_ALIGN, it.text, sizeof it.text), 0);
    ck_assert_uint_eq(empty.mapped, 4096);
    region_destroy(&empty);
    region_destroy(&empty);
    ck_assert_int_eq(
        region_create(&huge, BACKEND_HOST, (size_t)1 << 50, REGION_ALIGN, it.text, sizeof it.text), -1);
    ck_assert_ptr_nonnull(strstr(it.text, "no memory"));
    ck_assert_int_eq(region_create(&huge, BACKEND_HOST, SIZE_MAX, REGION_ALIGN, it.text, sizeof it.text), -1);
}
END_TEST

START_TEST(a_tensor_of_whole_granules_has_two_placements_too)
{
    static const size_t sizes[] = {4096, 8192, 4096 - 16, 4096 - 1, 4096 + 1, 65536};
    static const size_t aligns[] = {1, 2, 4, 16};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof aligns / sizeof *aligns; k++) {
            struct region r;
            ck_assert_int_eq(region_create(&r, BACKEND_HOST, sizes[i], aligns[k], it.text, sizeof it.text),
                             0);
            const size_t low = region_offset(&r, PLACE_LOW), high = region_offset(&r, PLACE_HIGH);
            ck_assert_uint_gt(high, low);
            ck_assert_uint_le(high + sizes[i], r.mapped);
            ck_assert_uint_lt(r.mapped - high - sizes[i], REGION_ALIGN);
            region_destroy(&r);
        }
}
END_TEST

START_TEST(a_call_computes_in_shared_memory_and_returns_zero)
{
    int returned = -1;
    fixture_start("doubles");
    for (int round = 0; round < 4; round++) {
        enum placement placement = round % 2 ? PLACE_HIGH : PLACE_LOW;
        float *in = (float *)((char *)it.x.base + region_offset(&it.x, placement));
        float *out = (float *)((char *)it.y.base + region_offset(&it.y, placement));
        for (int i = 0; i < FIXTURE_COUNT; i++)
            in[i] = (float)(i + round);
        ck_assert_msg(fixture_call(placement, 20, &returned) == CHILD_OK, "%s", it.text);
        ck_assert_int_eq(returned, 0);
        for (int i = 0; i < FIXTURE_COUNT; i++)
            ck_assert(out[i] == (float)(2 * (i + round)));
    }
}
END_TEST

/* Regions of a pool have numbers. */
START_TEST(a_region_with_a_number_is_mapped_again_without_its_descriptor)
{
    int returned = -1;
    struct region x = it.x, y = it.y; /* the fixture owns the descriptors */
    x.number = 1, y.number = 2;
    ck_assert_int_eq(fixture_start_object(it.built.object, "doubles", NULL), CHILD_OK);
    for (int round = 1; round <= 3; round++) {
        const int set = round % 2;
        struct call call = fixture_make_call(PLACE_LOW);
        call.set = set;
        ((float *)x.base)[FIXTURE_COUNT - 1] = (float)round;
        ck_assert_msg(child_map(it.child, set, 0, &x, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
        ck_assert_msg(child_map(it.child, set, 1, &y, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
        ck_assert_msg(fixture_make(&call, 20, &returned) == CHILD_OK, "%s", it.text);
        ck_assert(((float *)y.base)[FIXTURE_COUNT - 1] == (float)(2 * round));
        ck_assert_int_eq(child_unmap(it.child, set, it.text, sizeof it.text), CHILD_OK);
        x.fd = y.fd = -1;
    }
    ck_assert_int_ne(child_map(it.child, 0, 2, &(struct region){.mapped = 4096, .fd = -1, .number = 3},
                               it.text, sizeof it.text),
                     CHILD_OK);
}
END_TEST

/* The time of exchanges without a candidate, which could tamper with it. */
START_TEST(a_control_has_the_tensors_and_no_candidate)
{
    int returned = -1;
    const struct child_options options = {
        .object = it.built.object, .symbol = "what_the_object_lacks", .control = true, .threads = 1};
    ck_assert_msg(child_start(&it.child, &options, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
    ck_assert_int_eq(child_map(it.child, 0, 0, &it.x, it.text, sizeof it.text), CHILD_OK);
    ck_assert_int_eq(child_map(it.child, 0, 1, &it.y, it.text, sizeof it.text), CHILD_OK);
    memset(it.y.base, 7, it.y.mapped);
    ck_assert_msg(fixture_call(PLACE_LOW, 20, &returned) == CHILD_OK, "%s", it.text);
    ck_assert_int_eq(returned, 0);
    for (size_t i = 0; i < it.y.mapped; i++)
        ck_assert_int_eq(((const char *)it.y.base)[i], 7);
}
END_TEST

START_TEST(a_refusal_comes_back_as_its_value)
{
    int returned = 0;
    ck_assert_int_eq(fixture_run("refuses", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 7);
}
END_TEST

START_TEST(what_is_printed_is_in_the_log_after_the_call)
{
    int returned;
    char log[128], line[32] = "";
    snprintf(log, sizeof log, "%s/log", it.folder);
    ck_assert_int_eq(fixture_start_object(it.built.object, "says_pass", log), CHILD_OK);
    child_map(it.child, 0, 0, &it.x, it.text, sizeof it.text);
    child_map(it.child, 0, 1, &it.y, it.text, sizeof it.text);
    ck_assert_int_eq(fixture_call(PLACE_LOW, 20, &returned), CHILD_OK);
    FILE *file = fopen(log, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    fclose(file);
    unlink(log);
    ck_assert_str_eq(line, "PASS\n");
}
END_TEST

START_TEST(the_sandbox_keeps_parent_files_and_disk_safe)
{
    int returned = -1;
    if (!sandboxed())
        SKIP_TEST("bubblewrap does not work here");
    ck_assert_int_eq(fixture_run("kills_parent", PLACE_LOW, &returned), CHILD_OK);
    child_stop(it.child);
    ck_assert_int_eq(fixture_run("writes_files", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 1); /* its own /tmp only */
    ck_assert_int_ne(access("/tmp/unseen-test-leak", F_OK), 0);
    child_stop(it.child);
    ck_assert_int_eq(fixture_run("fills_disk", PLACE_LOW, &returned), CHILD_CRASH);
}
END_TEST

START_TEST(the_sandbox_shows_nothing_of_the_users)
{
    int returned = -1;
    if (!sandboxed())
        SKIP_TEST("bubblewrap does not work here");
    ck_assert_int_eq(fixture_run("looks_around", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 0);
}
END_TEST

/* With the sandbox, and without. */
START_TEST(calls_that_reach_beyond_the_process_are_refused)
{
    int returned = -1;
    setenv("UNSEEN_NO_SANDBOX", _i ? "1" : "0", 1);
    ck_assert_int_eq(fixture_run("breaks_out", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 0);
    child_stop(it.child);
    ck_assert_int_eq(fixture_run("starts_threads", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 0);
}
END_TEST

START_TEST(a_handler_of_its_own_hides_no_fault)
{
    int returned = -1;
    setenv("UNSEEN_NO_SANDBOX", _i ? "1" : "0", 1);
    ck_assert_int_eq(fixture_run("handles_past", PLACE_HIGH, &returned), CHILD_OVERRUN);
    ck_assert_int_eq(child_fault(it.child).slot, 1);
}
END_TEST

/* Counts in shared memory until it ends, in a session of its own. */
START_TEST(what_a_candidate_leaves_behind_ends_with_it)
{
    int returned = -1;
    volatile int *counter = (volatile int *)((char *)it.y.base + region_offset(&it.y, PLACE_LOW));
    setenv("UNSEEN_NO_SANDBOX", _i ? "1" : "0", 1);
    ck_assert_int_eq(fixture_run("leaves_a_daemon", PLACE_LOW, &returned), CHILD_OK);
    for (int i = 0; i < 1000 && *counter < 10; i++)
        usleep(1000);
    ck_assert_int_ge(*counter, 10);
    child_stop(it.child);
    it.child = NULL;
    const int seen = *counter;
    usleep(50000);
    ck_assert_int_eq(*counter, seen);
}
END_TEST

START_TEST(without_the_sandbox_the_rest_still_works)
{
    int returned = -1;
    setenv("UNSEEN_NO_SANDBOX", "1", 1);
    ck_assert(!sandboxed());
    ck_assert_ptr_nonnull(strstr(child_sandbox(), "UNSEEN_NO_SANDBOX=1"));
    ck_assert_int_eq(fixture_run("doubles", PLACE_HIGH, &returned), CHILD_OK);
    child_stop(it.child);
    ck_assert_int_eq(fixture_run("aborts", PLACE_HIGH, &returned), CHILD_CRASH);
    ck_assert_str_eq(it.text, "killed by signal 6 (Aborted)");
    child_stop(it.child);
    ck_assert_int_eq(fixture_run("leaves_a_child", PLACE_HIGH, &returned), CHILD_CRASH);
    child_stop(it.child);
    fixture_start("hangs");
    ck_assert_int_eq(fixture_call(PLACE_LOW, 0.2, &returned), CHILD_TIMEOUT);
}
END_TEST

START_TEST(the_environment_is_emptied)
{
    int returned = -1;
    setenv("UNSEEN_SECRET", "91", 1);
    ck_assert_int_eq(fixture_run("reads_environment", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 0);
}
END_TEST

START_TEST(seventeen_arguments_arrive_in_order)
{
    int returned = 0;
    struct call call = {.tensors = 8, .arguments = 8};
    for (int i = 0; i < 8; i++)
        call.argument[i].value.whole = i + 1;
    ck_assert_int_eq(fixture_start_object(it.built.object, "seventeen", NULL), CHILD_OK);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(child_map(it.child, 0, i, i % 2 ? &it.x : &it.y, it.text, sizeof it.text), CHILD_OK);
    ck_assert_int_eq(fixture_make(&call, 20, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 87654321);
    ck_assert_int_eq(child_unmap(it.child, CHANNEL_EVERY_SET, it.text, sizeof it.text), CHILD_OK);
}
END_TEST

START_TEST(a_missing_symbol_and_a_broken_object_say_so)
{
    char path[128];
    ck_assert_int_eq(fixture_start_object(it.built.object, "absent", NULL), CHILD_SYMBOL);
    ck_assert_ptr_null(it.child);
    ck_assert_ptr_nonnull(strstr(it.text, "'absent'"));
    snprintf(path, sizeof path, "%s/text.so", it.folder);
    fixture_write(path, "this is no object\n");
    ck_assert_int_eq(fixture_start_object(path, "doubles", NULL), CHILD_LOAD);
    unlink(path);
    ck_assert_int_eq(fixture_start_object(path, "doubles", NULL),
                     CHILD_SPAWN); /* the judge's own copy is gone */
    ck_assert_ptr_nonnull(strstr(it.text, "No such file"));
}
END_TEST

START_TEST(every_call_is_timed)
{
    struct child_answer answer;
    struct call call = fixture_make_call(PLACE_HIGH);
    fixture_start("doubles");
    for (int i = 0; i < 64; i++) {
        ck_assert_int_eq(child_call(it.child, &call, 20, &answer, it.text, sizeof it.text), CHILD_OK);
        ck_assert_int_eq(answer.returned, 0);
        ck_assert_double_gt(answer.event_ms, 0);
        ck_assert_double_lt(answer.event_ms, 1000);
        ck_assert_double_ge(answer.wall_ms, answer.event_ms);
    }
}
END_TEST

/* Two sets of tensors side by side: a call uses its own, and one set is unmapped while the other stays. */
START_TEST(sets_of_tensors_live_beside_each_other)
{
    struct call call = fixture_make_call(PLACE_LOW);
    int returned = -1;
    fixture_start("doubles");
    call.set = CHANNEL_SETS - 1;
    ck_assert_int_eq(child_map(it.child, call.set, 0, &it.x, it.text, sizeof it.text), CHILD_OK);
    ck_assert_int_eq(child_map(it.child, call.set, 1, &it.y, it.text, sizeof it.text), CHILD_OK);
    ck_assert_int_eq(child_unmap(it.child, 0, it.text, sizeof it.text), CHILD_OK);
    ck_assert_int_eq(fixture_make(&call, 20, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 0);
    call.set = 0;
    ck_assert_int_ne(fixture_make(&call, 20, &returned), CHILD_OK);
}
END_TEST

START_TEST(cuda_without_a_device_says_so)
{
    struct child_options options = {
        .backend = BACKEND_CUDA, .object = it.built.object, .symbol = "doubles", .load_timeout = 20};
    enum child_status status = child_start(&it.child, &options, it.text, sizeof it.text);
    if (status == CHILD_OK)
        SKIP_TEST("there is a GPU");
    ck_assert_int_eq(status, CHILD_DEVICE);
    ck_assert_int_gt((int)strlen(it.text), 10);
}
END_TEST

Suite *child_suite(void)
{
    Suite *suite = suite_create("child");
    TCase *tests = tcase_create("calls");
    fixture_add(tests);
    tcase_add_test(tests, regions_hold_whole_granules_and_place_on_both_ends);
    tcase_add_test(tests, a_tensor_of_whole_granules_has_two_placements_too);
    tcase_add_test(tests, a_call_computes_in_shared_memory_and_returns_zero);
    tcase_add_test(tests, a_region_with_a_number_is_mapped_again_without_its_descriptor);
    tcase_add_test(tests, a_control_has_the_tensors_and_no_candidate);
    tcase_add_test(tests, a_refusal_comes_back_as_its_value);
    tcase_add_test(tests, what_is_printed_is_in_the_log_after_the_call);
    tcase_add_test(tests, the_sandbox_keeps_parent_files_and_disk_safe);
    tcase_add_test(tests, the_sandbox_shows_nothing_of_the_users);
    tcase_add_loop_test(tests, calls_that_reach_beyond_the_process_are_refused, 0, 2);
    tcase_add_loop_test(tests, a_handler_of_its_own_hides_no_fault, 0, 2);
    tcase_add_loop_test(tests, what_a_candidate_leaves_behind_ends_with_it, 0, 2);
    tcase_add_test(tests, without_the_sandbox_the_rest_still_works);
    tcase_add_test(tests, the_environment_is_emptied);
    tcase_add_test(tests, seventeen_arguments_arrive_in_order);
    tcase_add_test(tests, a_missing_symbol_and_a_broken_object_say_so);
    tcase_add_test(tests, every_call_is_timed);
    tcase_add_test(tests, sets_of_tensors_live_beside_each_other);
    tcase_add_test(tests, cuda_without_a_device_says_so);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, child_endings_case());
    suite_add_tcase(suite, child_limits_case());
    suite_add_tcase(suite, child_group_case());
    suite_add_tcase(suite, child_arguments_case());
    suite_add_tcase(suite, child_state_case());
    suite_add_tcase(suite, child_arena_case());
    suite_add_tcase(suite, child_several_case());
    return suite;
}
