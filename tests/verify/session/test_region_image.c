/* Images of GPU regions in main memory, beside a device whose memory is main memory, too. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "suites.h"
#include "verify/session/region_image.h"

enum { MAPPED = 1 << 16, WORD = 0x11223344, OTHER = 0x55667788 };

static int take(void **out, size_t bytes)
{
    *out = aligned_alloc(4096, bytes);
    return *out ? 0 : -1;
}

static int copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return 0;
}

static const struct memory fake = {.image_take = take, .image_release = free, .send = copy, .fetch = copy};

/* The offset of the first byte that is not the poison; -1: there is none. */
static int64_t first_other(const void *memory, size_t bytes, uint32_t word)
{
    struct memory_search search = {.memory = memory, .bytes = bytes, .word = word};
    ck_assert_int_eq(memory_of(BACKEND_HOST)->search(&search, 1), 0);
    return search.first;
}

static struct region_image opened(void)
{
    struct region_image image = {0};
    ck_assert_int_eq(region_image_open(&image, &fake, MAPPED), 0);
    return image;
}

START_TEST(a_tensor_that_moves_leaves_poison_behind)
{
    struct region_image image = opened();
    region_image_poison(&image, 0, 1000, WORD);
    ck_assert_int_eq(first_other(image.bytes, MAPPED, WORD), -1);
    memset(image.bytes, 7, 1000);
    region_image_poison(&image, MAPPED - 1000, 1000, WORD);
    ck_assert_int_eq(first_other(image.bytes, MAPPED, WORD), -1);
    memset(image.bytes + MAPPED - 1000, 7, 1000);
    region_image_poison(&image, 16, 8, OTHER);
    ck_assert_int_eq(first_other(image.bytes, MAPPED, OTHER), -1);
    region_image_close(&image, &fake);
}
END_TEST

/* The candidate wrote outside its tensor: the next call must not find that. */
START_TEST(a_fetched_image_is_poisoned_again)
{
    struct region_image image = opened();
    unsigned char *const region = malloc(MAPPED);
    region_image_poison(&image, 64, 64, WORD);
    ck_assert_int_eq(region_image_send(&image, &fake, region), 0);
    ck_assert_int_eq(first_other(region, MAPPED, WORD), -1);
    region[MAPPED / 2] ^= 1;
    ck_assert_int_eq(region_image_fetch(&image, &fake, region), 0);
    ck_assert_int_eq(first_other(image.bytes, MAPPED, WORD), MAPPED / 2);
    region_image_poison(&image, 64, 64, WORD);
    ck_assert_int_eq(first_other(image.bytes, MAPPED, WORD), -1);
    free(region);
    region_image_close(&image, &fake);
}
END_TEST

START_TEST(an_image_of_another_size_replaces_it)
{
    struct region_image image = opened();
    region_image_poison(&image, 0, 4, WORD);
    ck_assert_int_eq(region_image_open(&image, &fake, MAPPED), 0);
    ck_assert(image.clean);
    ck_assert_int_eq(region_image_open(&image, &fake, 2 * MAPPED), 0);
    ck_assert(!image.clean && image.mapped == 2 * MAPPED);
    region_image_close(&image, &fake);
    ck_assert_ptr_null(image.bytes);
}
END_TEST

static bool suits(const char *problem, const char *line)
{
    struct config config;
    struct instance instance;
    struct space_error error;
    ck_assert_int_eq(config_parse(&config, problem_find(problem), line, "test", &error), 0);
    ck_assert_int_eq(config_measure(&config, &instance), 0);
    const bool found = region_image_suits(config.problem, &instance);
    instance_clear(&instance);
    return found;
}

START_TEST(large_tensors_and_long_work_stay_on_the_gpu)
{
    ck_assert(suits("softmax", "rows=7 cols=1031 input=normal seed=4"));
    ck_assert(!suits("softmax", "rows=1024 cols=1031 input=normal seed=4"));
    ck_assert(suits("gemm_f32", "m=65 n=64 k=67 trans_b=0 input=normal seed=4"));
    ck_assert(!suits("gemm_f32", "m=200 n=200 k=200 trans_b=0 input=normal seed=4"));
}
END_TEST

/* Every start, length and changed byte around the lengths at which the search compares all at once. */
START_TEST(one_changed_byte_is_found_at_any_alignment)
{
    enum { LONGEST = 5000 };
    const struct memory *const host = memory_of(BACKEND_HOST);
    static const size_t lengths[] = {1, 3, 4, 5, 63, 64, 65, 67, 4095, 4096, 4097, LONGEST};
    unsigned char *const memory = aligned_alloc(16, LONGEST + 16);
    for (size_t start = 0; start < 4; start++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            const size_t bytes = lengths[i], step = bytes < 100 ? 1 : 61;
            ck_assert_int_eq(host->poison(memory + start, bytes, WORD), 0);
            ck_assert_int_eq(first_other(memory + start, bytes, WORD), -1);
            for (size_t at = 0; at < bytes; at += step) {
                memory[start + at] ^= 0x80;
                ck_assert_int_eq(first_other(memory + start, bytes, WORD), (int64_t)at);
                memory[start + at] ^= 0x80;
            }
        }
    free(memory);
}
END_TEST

TCase *region_image_case(void)
{
    TCase *tests = tcase_create("region image");
    tcase_add_test(tests, a_tensor_that_moves_leaves_poison_behind);
    tcase_add_test(tests, a_fetched_image_is_poisoned_again);
    tcase_add_test(tests, an_image_of_another_size_replaces_it);
    tcase_add_test(tests, large_tensors_and_long_work_stay_on_the_gpu);
    tcase_add_test(tests, one_changed_byte_is_found_at_any_alignment);
    return tests;
}
