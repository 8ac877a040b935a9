/* The cache of enclosures: bounded, the least recently used leave first, and nothing in use is released. */
#include <check.h>
#include <stdio.h>

#include "suites.h"
#include "verify/session/enclosure_cache.h"

static struct enclosure_cache *cache;

static void open_cache(double bytes)
{
    cache = enclosure_cache_open(memory_of(BACKEND_HOST), bytes);
    ck_assert_ptr_nonnull(cache);
}

static void keep(const char *key, size_t bytes, double value)
{
    struct cached_enclosures *const e = enclosure_cache_take(cache, key, bytes);
    ck_assert_msg(e && !e->filled, "%s was there, or found no room", key);
    e->memory[0] = value;
    enclosure_cache_give(cache, e, true, false);
}

/* The first value of a kept entry, or -1: then the new entry is dropped again. */
static double look(const char *key, size_t bytes)
{
    struct cached_enclosures *const e = enclosure_cache_take(cache, key, bytes);
    const double value = e && e->filled ? e->memory[0] : -1;
    enclosure_cache_give(cache, e, value >= 0, false);
    return value;
}

START_TEST(the_least_recently_used_entry_leaves)
{
    open_cache(5 * 80);
    for (int i = 0; i < 5; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%d", i);
        keep(key, 80, i);
    }
    enclosure_cache_begin_round(cache);
    enclosure_cache_begin_round(cache);
    ck_assert_double_eq(look("k0", 80), 0); /* k1 is the oldest now */
    keep("k5", 80, 5);
    ck_assert_double_eq(look("k0", 80), 0);
    ck_assert_double_eq(look("k5", 80), 5);
    ck_assert_int_eq(enclosure_cache_hits(cache), 3);
    ck_assert_double_eq(look("k1", 80), -1);
    enclosure_cache_close(cache);
}
END_TEST

/* A scan that exceeds the cache, again and again: the first entries serve each round. */
START_TEST(entries_of_the_last_two_rounds_stay)
{
    open_cache(5 * 80);
    for (int round = 0; round < 4; round++) {
        enclosure_cache_begin_round(cache);
        for (int i = 0; i < 8; i++) {
            char key[8];
            snprintf(key, sizeof key, "k%d", i);
            struct cached_enclosures *const e = enclosure_cache_take(cache, key, 80);
            ck_assert_msg((e != NULL) == (i < 5), "%s in round %d", key, round);
            ck_assert(!e || e->filled == (round > 0));
            enclosure_cache_give(cache, e, true, false);
        }
    }
    ck_assert_int_eq(enclosure_cache_hits(cache), 3 * 5);
    enclosure_cache_begin_round(cache);
    enclosure_cache_begin_round(cache);
    keep("other", 80, 1);
    enclosure_cache_close(cache);
}
END_TEST

START_TEST(an_entry_in_use_stays_and_serves_others)
{
    open_cache(4 * 80);
    keep("first", 80, 7);
    struct cached_enclosures *const used = enclosure_cache_take(cache, "first", 80);
    for (int i = 0; i < 8; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%d", i);
        enclosure_cache_begin_round(cache);
        enclosure_cache_begin_round(cache);
        keep(key, 80, i);
    }
    ck_assert(enclosure_cache_clear(cache));
    ck_assert_double_eq(used->memory[0], 7);
    ck_assert_double_eq(look("first", 80), 7);
    enclosure_cache_give(cache, used, true, true);
    ck_assert(enclosure_cache_clear(cache));
    ck_assert(!enclosure_cache_clear(cache));
    ck_assert_double_eq(look("first", 80), -1);
    enclosure_cache_close(cache);
}
END_TEST

START_TEST(what_is_too_large_unfinished_or_of_another_size_is_not_kept)
{
    open_cache(400);
    ck_assert_ptr_null(enclosure_cache_take(cache, "large", 104));
    struct cached_enclosures *const filling = enclosure_cache_take(cache, "key", 80);
    ck_assert_ptr_null(enclosure_cache_take(cache, "key", 80)); /* another judge fills it */
    enclosure_cache_give(cache, filling, false, false);
    ck_assert_double_eq(look("key", 80), -1);
    keep("key", 80, 3);
    ck_assert_ptr_null(enclosure_cache_take(cache, "key", 88));
    ck_assert_double_eq(look("key", 80), 3);
    enclosure_cache_close(cache);
}
END_TEST

START_TEST(an_audit_is_remembered)
{
    open_cache(400);
    keep("key", 80, 3);
    struct cached_enclosures *e = enclosure_cache_take(cache, "key", 80);
    ck_assert(e->filled && !e->audited);
    enclosure_cache_give(cache, e, true, true);
    e = enclosure_cache_take(cache, "key", 80);
    ck_assert(e->audited);
    enclosure_cache_give(cache, e, true, false);
    e = enclosure_cache_take(cache, "key", 80);
    ck_assert(e->audited);
    enclosure_cache_give(cache, e, true, false);
    enclosure_cache_close(cache);
}
END_TEST

TCase *enclosure_cache_case(void)
{
    TCase *tests = tcase_create("enclosure cache");
    tcase_add_test(tests, the_least_recently_used_entry_leaves);
    tcase_add_test(tests, entries_of_the_last_two_rounds_stay);
    tcase_add_test(tests, an_entry_in_use_stays_and_serves_others);
    tcase_add_test(tests, what_is_too_large_unfinished_or_of_another_size_is_not_kept);
    tcase_add_test(tests, an_audit_is_remembered);
    return tests;
}
