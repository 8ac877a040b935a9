/* The queue of a batch, with a judge that ends verdicts as a table says. */
#include <check.h>
#include <string.h>

#include "batch_fixture.h"
#include "suites.h"
#include "verify/batch/queue.h"

enum { ITEMS = 8, SLOTS = 3 };

/* Verdicts end after some looks; those of `lost` items are lost as often as they say. */
struct planted {
    const struct batch_list *list;
    int lost[ITEMS], looks[ITEMS];
    int slot[SLOTS], attempt[SLOTS], left[SLOTS];
    int begun[4 * ITEMS], begun_count, running, most, alone;
    int taken[ITEMS], taken_count, room;
};

static void start(void *data, int slot, int index, int attempt)
{
    struct planted *const p = data;
    p->slot[slot] = index;
    p->attempt[slot] = attempt;
    p->left[slot] = p->looks[index];
    p->begun[p->begun_count++] = index;
    p->running++;
    p->most = p->running > p->most ? p->running : p->most;
    p->alone += attempt == 2 && p->running == 1;
}

static json_t *line_of(void *data, int slot)
{
    struct planted *const p = data;
    const int index = p->slot[slot];
    if (p->left[slot]-- > 0)
        return NULL;
    p->running--;
    return batch_ended(&p->list->item[index], p->attempt[slot] <= p->lost[index] ? -1 : 0, p->attempt[slot]);
}

static bool take(void *data, int index, const json_t *line)
{
    struct planted *const p = data;
    (void)line;
    if (p->taken_count == p->room)
        return false;
    p->taken[p->taken_count++] = index;
    return true;
}

static void watch(void *data, int running)
{
    const struct planted *const p = data;
    ck_assert_int_eq(running, p->running);
}

static struct batch_list list;
static json_t *line[ITEMS];
static struct planted planted;

static void enter(void)
{
    batch_enter();
    list = batch_some(ITEMS);
    planted = (struct planted){.list = &list, .room = ITEMS};
}

static void leave(void)
{
    for (int i = 0; i < ITEMS; i++)
        json_decref(line[i]);
    batch_list_clear(&list);
    batch_leave();
}

static enum batch_queue_end run(int jobs)
{
    struct batch_queue queue = {&list, line, jobs, take, watch, &planted};
    const struct batch_judge judge = {&planted, start, line_of};
    return batch_queue_run(&queue, &judge);
}

START_TEST(verdicts_begin_in_the_lists_order_and_jobs_bounds_them)
{
    planted.looks[0] = 12;
    ck_assert_int_eq(run(SLOTS), BATCH_DONE);
    ck_assert_int_eq(planted.most, SLOTS);
    ck_assert_int_eq(planted.begun_count, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        ck_assert_int_eq(planted.begun[i], i);
    ck_assert_int_eq(planted.taken_count, ITEMS);
    ck_assert_int_eq(planted.taken[0], 1); /* as soon as it is known */
    ck_assert_int_eq(planted.taken[ITEMS - 1], 0);
}
END_TEST

START_TEST(a_lost_verdict_is_repeated_once_alone_at_the_end)
{
    planted.lost[1] = 1;
    planted.lost[2] = 5;
    ck_assert_int_eq(run(SLOTS), BATCH_DONE);
    ck_assert_int_eq(planted.begun_count, ITEMS + 2);
    ck_assert_int_eq(planted.begun[ITEMS], 1);
    ck_assert_int_eq(planted.begun[ITEMS + 1], 2);
    ck_assert_int_eq(planted.alone, 2);
    ck_assert_int_eq(planted.taken_count, ITEMS);
    ck_assert_str_eq(batch_line_verdict(line[1]), "general");
    ck_assert_str_eq(batch_line_verdict(line[2]), "inconclusive");
    ck_assert_int_eq(json_integer_value(json_object_get(line[2], "attempts")), 2);
}
END_TEST

START_TEST(what_has_a_line_is_not_run)
{
    for (int i = 0; i < ITEMS; i += 2)
        line[i] = batch_ended(&list.item[i], 1, 1);
    ck_assert_int_eq(run(1), BATCH_DONE);
    ck_assert_int_eq(planted.begun_count, ITEMS / 2);
    ck_assert_int_eq(planted.begun[0], 1);
    ck_assert_str_eq(batch_line_verdict(line[0]), "broken");
}
END_TEST

START_TEST(a_line_that_cannot_be_written_ends_the_batch)
{
    planted.room = 2;
    ck_assert_int_eq(run(1), BATCH_STOPPED);
    ck_assert_int_eq(planted.taken_count, 2);
    ck_assert_int_eq(planted.begun_count, 3);
}
END_TEST

START_TEST(a_slot_keeps_to_its_group)
{
    /* 0 to 7: three groups, with 4, 2 and 2 items */
    static const char *const seeds[ITEMS] = {"5", "6", "5", "7", "5", "6", "5", "7"};
    static const int order[ITEMS] = {0, 1, 2, 5, 4, 3, 6, 7};
    for (int i = 0; i < ITEMS; i++)
        json_array_set_new(list.item[i].words, 1, json_string(seeds[i]));
    ck_assert_int_eq(run(2), BATCH_DONE);
    for (int i = 0; i < ITEMS; i++)
        ck_assert_int_eq(planted.begun[i], order[i]);
    ck_assert_int_eq(planted.taken_count, ITEMS);
}
END_TEST

TCase *batch_queue_case(void)
{
    TCase *tests = tcase_create("batch-queue");
    tcase_add_checked_fixture(tests, enter, leave);
    tcase_add_test(tests, verdicts_begin_in_the_lists_order_and_jobs_bounds_them);
    tcase_add_test(tests, a_slot_keeps_to_its_group);
    tcase_add_test(tests, a_lost_verdict_is_repeated_once_alone_at_the_end);
    tcase_add_test(tests, what_has_a_line_is_not_run);
    tcase_add_test(tests, a_line_that_cannot_be_written_ends_the_batch);
    return tests;
}
