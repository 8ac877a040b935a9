/* Kept answers of the oracle: the store, and questions that need not reach the process. The stand-in
 * (tests/python/fixture_oracle.py) puts the number of its question in that process into `relative`. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "oracle_task.h"
#include "skip.h"
#include "suites.h"
#include "verify/torch/answer_store.h"
#include "verify/torch/pool.h"

/* --- the store --- */

enum { BYTES = 100, ROOM = 8 * BYTES };

static struct answer_key key_of(const struct answer_store *store, int number)
{
    struct question_hash *const hash = question_hash_open(store);
    ck_assert_ptr_nonnull(hash);
    question_hash_add(hash, &number, sizeof number);
    return question_hash_close(hash);
}

static void keep(struct answer_store *store, int number, size_t bytes)
{
    char head[4], rest[ROOM];
    const struct answer_key key = key_of(store, number);
    memset(head, number, sizeof head);
    memset(rest, number + 1, sizeof rest);
    const struct iovec part[] = {{head, sizeof head}, {rest, bytes - sizeof head}};
    answer_store_keep(store, &key, part, 2);
}

/* Returns the bytes of the answer; checks them. */
static size_t take(struct answer_store *store, int number)
{
    char head[3], rest[ROOM] = "";
    const struct answer_key key = key_of(store, number);
    const struct iovec part[] = {{head, sizeof head}, {rest, sizeof rest}};
    const size_t bytes = answer_store_take(store, &key, part, 2);
    for (size_t i = 0; i < bytes; i++)
        ck_assert_int_eq(i < 3 ? head[i] : rest[i - 3], i < 4 ? number : number + 1);
    return bytes;
}

START_TEST(the_least_recently_used_answer_goes)
{
    struct answer_store *const store = answer_store_open(ROOM, 0);
    for (int i = 0; i < 8; i++)
        keep(store, i, BYTES);
    ck_assert_uint_eq(take(store, 0), BYTES);
    ck_assert_uint_eq(take(store, 8), 0);
    keep(store, 8, BYTES);
    ck_assert_uint_eq(take(store, 1), 0);
    ck_assert_uint_eq(take(store, 0), BYTES);
    ck_assert_uint_eq(take(store, 8), BYTES);
    keep(store, 9, BYTES + 1); /* more than an eighth */
    ck_assert_uint_eq(take(store, 9), 0);
    keep(store, 10, BYTES / 2); /* shorter: one more goes */
    ck_assert_uint_eq(take(store, 10), BYTES / 2);
    ck_assert_uint_eq(take(store, 2), 0);
    ck_assert_uint_eq(take(store, 3), BYTES);
    answer_store_close(store);
}
END_TEST

START_TEST(two_candidates_answers_do_not_drop_each_other)
{
    struct answer_store *const store = answer_store_open(ROOM, 2);
    for (int i = 0; i < 12; i++)
        keep(store, i, BYTES);
    answer_store_begin_round(store);
    for (int i = 0; i < 12; i++) {
        ck_assert_uint_eq(take(store, i), i < 8 ? BYTES : 0);
        if (i >= 8 || i == 3)
            keep(store, i, BYTES);
    }
    answer_store_begin_round(store);
    ck_assert_uint_eq(take(store, 0), BYTES);
    answer_store_begin_round(store);
    keep(store, 20, BYTES);
    ck_assert_uint_eq(take(store, 20), BYTES);
    ck_assert_uint_eq(take(store, 0), BYTES); /* of the round before */
    ck_assert_uint_eq(take(store, 1), 0);
    answer_store_close(store);
}
END_TEST

/* --- the oracle --- */

static int to_host(void *to, const void *from, int64_t offset, int64_t bytes)
{
    memcpy(to, (const char *)from + offset, (size_t)bytes);
    return 0;
}

static const struct oracle_options options = {.problem = &task_doubled, .threads = 1, .seconds = 5};

/* Asks for x = 0, 1, .. 4 with `first` in front, and a returned index. The answer must be that of question
 * `number` of some process. */
static void ask(struct oracle *oracle, float first, int64_t index, int number)
{
    float x[] = {first, 1, 2, 3, 4}, y[5] = {0};
    int64_t at = index;
    struct oracle_answer answer;
    const struct instance instance = {
        .extent = {5}, .tensor = {{.rank = 1, .dim = {5}}, {.rank = 1, .dim = {5}}, {.rank = 1, .dim = {1}}}};
    const struct oracle_question question = {
        .instance = &instance, .tensor = {x, y, &at}, .to_host = to_host};
    ck_assert_msg(oracle_ask(oracle, &question, &answer) == ORACLE_OK, "%s", answer.text);
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq(answer.output[Y].want[i], 2.0 * x[i]);
    ck_assert_double_eq(answer.output[Y].allowed[1], 0x1p-23);
    ck_assert_double_eq(answer.output[AT].want[0], first > 4 || (first == 4 && index == 0) ? 0 : 4);
    ck_assert_int_eq(answer.output[Y].elements, 5);
    ck_assert(answer.output[Y].enclosed && !answer.output[Y].ensemble);
    ck_assert_double_eq(answer.output[Y].relative, number);
}

static struct oracle_pool *open_pool(int processes)
{
    task_make();
    task_put("how.task", "honest");
    struct oracle_pool *const pool = oracle_pool_open(processes);
    ck_assert_ptr_nonnull(pool);
    oracle_pool_begin(pool);
    return pool;
}

START_TEST(a_question_is_answered_once_for_all_candidates)
{
    if (!task_has_python())
        SKIP_TEST("no python3");
    struct oracle_pool *const pool = open_pool(_i);
    struct oracle *oracle = oracle_take(pool, &options);
    ask(oracle, 4, 4, 1);
    ask(oracle, -1, 4, 2);
    ask(oracle, 4, 4, 1);
    oracle_end(oracle);
    oracle_pool_begin(pool);
    oracle = oracle_take(pool, &options);
    ask(oracle, 4, 4, 1);
    ask(oracle, -1, 4, 2);
    ck_assert(!oracle_is_of(oracle, pthread_self())); /* it needed no process */
    ask(oracle, -2, 4, 1);                            /* another input */
    ask(oracle, 4, 0, 2);                             /* another index that the candidate returned */
    ask(oracle, 4, 4, 1);
    oracle_give(pool, oracle);
    struct oracle_options two = options;
    two.threads = 2;
    oracle = oracle_take(pool, &two);
    ask(oracle, -1, 4, 1); /* its bits may be others */
    oracle_end(oracle);
    oracle_pool_close(pool);
    task_remove();
}
END_TEST

static void hear(struct oracle *oracle, double expected)
{
    char text[1200];
    double value = 0;
    ck_assert_msg(oracle_hear(oracle, Y, 0, &value, text, sizeof text) == ORACLE_OK, "%s", text);
    ck_assert_double_eq(value, expected);
}

START_TEST(a_kept_answer_has_its_graph)
{
    if (!task_has_python())
        SKIP_TEST("no python3");
    struct oracle_pool *const pool = open_pool(0);
    struct oracle *oracle = oracle_take(pool, &options);
    ask(oracle, 30, 0, 1);
    ask(oracle, -1, 4, 2);
    hear(oracle, -2);
    ask(oracle, 30, 0, 1); /* kept: the process has the other graph */
    hear(oracle, 60);
    ask(oracle, -5, 4, 4);
    oracle_end(oracle);
    oracle = oracle_take(pool, &options);
    ask(oracle, 30, 0, 1);
    hear(oracle, 60); /* it starts a process */
    ask(oracle, -6, 4, 2);
    oracle_end(oracle);
    oracle_pool_close(pool);
    task_remove();
}
END_TEST

/* The stand-in cannot compute anything: the second oracle has no process to ask. */
START_TEST(what_cannot_be_computed_is_kept_too)
{
    struct oracle_answer answer;
    float x[5] = {1}, y[5] = {0};
    int64_t at = 0;
    const struct instance instance = {
        .extent = {5}, .tensor = {{.rank = 1, .dim = {5}}, {.rank = 1, .dim = {5}}, {.rank = 1, .dim = {1}}}};
    const struct oracle_question question = {
        .instance = &instance, .tensor = {x, y, &at}, .to_host = to_host};
    if (!task_has_python())
        SKIP_TEST("no python3");
    struct oracle_pool *const pool = open_pool(0);
    for (int i = 0; i < 2; i++) {
        task_put("how.task", i == 0 ? "untold" : "fails");
        struct oracle *const oracle = oracle_take(pool, &options);
        ck_assert_int_eq(oracle_ask(oracle, &question, &answer), ORACLE_UNTOLD);
        ck_assert_ptr_nonnull(strstr(answer.text, "three samples say nothing"));
        oracle_end(oracle);
    }
    oracle_pool_close(pool);
    task_remove();
}
END_TEST

START_TEST(a_pool_starts_what_is_missing)
{
    if (!task_has_python())
        SKIP_TEST("no python3");
    struct oracle_pool *const pool = open_pool(1);
    oracle_pool_prepare(pool, &options, 1);
    oracle_pool_prepare(pool, &options, 2);
    oracle_pool_prepare(pool, &options, 2);
    struct oracle *const oracle[] = {oracle_take(pool, &options), oracle_take(pool, &options),
                                     oracle_take(pool, &options)};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(oracle_is_of(oracle[i], pthread_self()), i < 2);
        oracle_give(pool, oracle[i]);
    }
    struct oracle_options two = options;
    two.threads = 2;
    oracle_pool_prepare(pool, &two, 1);
    struct oracle *const other = oracle_take(pool, &options), *const own = oracle_take(pool, &two);
    ck_assert(!oracle_is_of(other, pthread_self())); /* those of before have ended */
    ck_assert(oracle_is_of(own, pthread_self()));
    oracle_end(other);
    oracle_end(own);
    oracle_pool_close(pool);
    task_remove();
}
END_TEST

TCase *kept_answers_case(void)
{
    TCase *kept = tcase_create("kept");
    tcase_set_timeout(kept, 60);
    tcase_add_test(kept, the_least_recently_used_answer_goes);
    tcase_add_test(kept, two_candidates_answers_do_not_drop_each_other);
    tcase_add_loop_test(kept, a_question_is_answered_once_for_all_candidates, 0, 2);
    tcase_add_test(kept, a_kept_answer_has_its_graph);
    tcase_add_test(kept, what_cannot_be_computed_is_kept_too);
    tcase_add_test(kept, a_pool_starts_what_is_missing);
    return kept;
}
