/* Random words against published answers, every kind of fill, and the meaning of a configuration line. The
 * structure of paged attention: test_fill_paged.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/inputs/fill.h"
#include "fills.h"
#include "oracle.h"

/* Weights stay the same beside inputs that differ from call to call. */
START_TEST(what_is_steady_is_the_same_in_every_content)
{
    enum { COUNT = 1000 };
    static const struct tensor tensors[] = {{"x", DTYPE_F32, TENSOR_INPUT, "[n]"}, {0}};
    static const struct problem problem = {.name = "kinds", .tensors = tensors};
    struct instance instance = {
        .tensor = {{.rank = 1, .dim = {COUNT}, .fill = {.kind = FILL_NORMAL, .b = 1, .steady = _i}}}};
    float first[COUNT], second[COUNT];
    fill_host(&problem, &instance, 0, 42, 0, first);
    fill_host(&problem, &instance, 0, 42, 1, second);
    ck_assert_int_eq(memcmp(first, second, sizeof first) == 0, _i);
    fill_host(&problem, &instance, 0, 43, 1, second);
    ck_assert_int_ne(memcmp(first, second, sizeof first), 0);
}
END_TEST

Suite *fill_suite(void);
TCase *fill_paged_case(void);
TCase *fill_rows_case(void);
TCase *fill_structure_case(void);
TCase *fill_classes_case(void);

/* --- Philox --- */

/* Random123 1.14, tests/kat_vectors: philox 4x32 10. */
static const struct {
    uint32_t counter[4], key[2], words[4];
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static uint64_t join(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

START_TEST(philox_gives_the_published_answers)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct philox_key key = {.seed = join(known[i].key[0], known[i].key[1]),
                                       .high = join(known[i].counter[2], known[i].counter[3])};
        const uint64_t block = join(known[i].counter[0], known[i].counter[1]);
        uint32_t words[4];
        philox_words(key, block, 1, words);
        ck_assert_mem_eq(words, known[i].words, sizeof words);
        philox_words_portable(key, block, 1, words);
        ck_assert_mem_eq(words, known[i].words, sizeof words);
    }
}
END_TEST

/* Also over the carry from the low to the high half of the block number. */
START_TEST(both_philoxes_agree_over_many_blocks)
{
    enum { BLOCKS = 4096 };
    static uint32_t a[4 * BLOCKS], b[4 * BLOCKS];
    const uint64_t starts[] = {0, 0xfffff800u, (uint64_t)1 << 63, ~(uint64_t)0 - 5};
    for (size_t s = 0; s < 4; s++) {
        const struct philox_key key = {0x123456789abcdef0u + s, 0xfedcba9876543210u};
        philox_words(key, starts[s], BLOCKS, a);
        philox_words_portable(key, starts[s], BLOCKS, b);
        ck_assert_mem_eq(a, b, sizeof a);
        philox_words(key, starts[s] + 77, 1, b); /* alone as in company */
        ck_assert_mem_eq(a + 4 * 77, b, 16);
    }
}
END_TEST

/* --- kinds --- */

START_TEST(normals_have_their_mean_and_deviation_and_no_far_tail)
{
    float *x = fills_draw((struct fill){.kind = FILL_NORMAL, .a = 3, .b = 2}, MANY);
    const struct fills_moments m = fills_measure(x, MANY);
    double fourth = 0;
    for (int i = 0; i < MANY; i++)
        fourth += pow((x[i] - 3) / 2, 4) / MANY;
    ck_assert_double_eq_tol(m.mean, 3, 0.03);
    ck_assert_double_eq_tol(m.deviation, 2, 0.02);
    ck_assert_double_eq_tol(fourth, 3 - 1.2 / 8, 0.08); /* excess kurtosis of eight uniforms */
    ck_assert(m.low > 3 - 2 * 4.9 && m.high < 3 + 2 * 4.9 && m.low < 3 - 2 * 3.5);
    free(x);
}
END_TEST

/* Four normals come from one block of random words. */
START_TEST(neighbouring_normals_are_uncorrelated_in_value_and_size)
{
    float *x = fills_draw((struct fill){.kind = FILL_NORMAL, .a = 0, .b = 1}, MANY);
    for (int distance = 1; distance < 8; distance++) {
        double product = 0, sizes = 0;
        for (int i = 0; i + distance < MANY; i++) {
            product += (double)x[i] * x[i + distance] / MANY;
            sizes += ((double)x[i] * x[i] - 1) * ((double)x[i + distance] * x[i + distance] - 1) / MANY;
        }
        ck_assert_msg(fabs(product) < 0.015, "distance %d: %g", distance, product);
        ck_assert_msg(fabs(sizes) < 0.15, "distance %d: %g", distance, sizes);
    }
    free(x);
}
END_TEST

START_TEST(uniforms_constants_levels_and_integers_keep_their_range)
{
    float *x = fills_draw((struct fill){.kind = FILL_UNIFORM, .a = -4, .b = 4}, MANY);
    struct fills_moments m = fills_measure(x, MANY);
    ck_assert(m.low >= -4 && m.low < -3.99 && m.high < 4 && m.high > 3.99);
    ck_assert_double_eq_tol(m.deviation, 8 / sqrt(12), 0.02);
    free(x);
    x = fills_draw((struct fill){.kind = FILL_CONSTANT, .a = 1.5f}, 1000);
    m = fills_measure(x, 1000);
    ck_assert(m.low == 1.5 && m.high == 1.5);
    free(x);
    x = fills_draw((struct fill){.kind = FILL_LEVELS, .a = -1, .b = 3}, MANY);
    m = fills_measure(x, MANY);
    ck_assert(m.low == -1 && m.high == 1 && fabs(m.zeros - 1.0 / 3) < 0.01 && fabs(m.mean) < 0.01);
    free(x);
    x = fills_draw((struct fill){.kind = FILL_INTEGERS, .b = 3, .density = 0.25f}, MANY);
    m = fills_measure(x, MANY);
    ck_assert(m.low == -3 && m.high == 3 && fabs(m.zeros - 0.75) < 0.01 && fabs(m.mean) < 0.02);
    for (int i = 0; i < MANY; i++)
        ck_assert(x[i] == rintf(x[i]));
    free(x);
}
END_TEST

START_TEST(powers_and_wide_values_cover_their_exponents)
{
    int seen[8] = {0}, negative = 0, e;
    float *x = fills_draw((struct fill){.kind = FILL_POWERS, .a = -3, .b = 3, .density = 1}, MANY);
    for (int i = 0; i < MANY; i++) {
        ck_assert(frexpf(x[i], &e) == 0.5f && e >= -2 && e <= 4); /* 0.5 * 2^e */
        seen[e + 2]++;
    }
    for (int i = 0; i < 7; i++)
        ck_assert(abs(seen[i] - MANY / 7) < MANY / 70);
    free(x);
    x = fills_draw((struct fill){.kind = FILL_POWERS, .a = 0, .b = 0}, MANY);
    for (int i = 0; i < MANY; i++) {
        ck_assert(fabsf(x[i]) == 1);
        negative += x[i] < 0;
    }
    ck_assert(abs(negative - MANY / 2) < MANY / 100);
    free(x);
    x = fills_draw((struct fill){.kind = FILL_WIDE, .a = -20, .b = 9}, MANY);
    negative = 0;
    for (int i = 0; i < MANY; i++) {
        ck_assert(fabsf(x[i]) >= 0x1p-20f && fabsf(x[i]) < 0x1p10f);
        negative += x[i] < 0;
    }
    ck_assert(abs(negative - MANY / 2) < MANY / 100);
    free(x);
}
END_TEST

START_TEST(pairs_nearly_cancel_in_rows_of_any_length)
{
    float *x = fills_draw((struct fill){.kind = FILL_CANCEL, .b = 2, .inner = 7}, 7 * 1000);
    for (int i = 0; i < 7000; i++)
        if (i % 7 % 2) {
            const float ratio = -x[i] / x[i - 1];
            ck_assert(x[i - 1] == 0 || fabsf(fabsf(ratio - 1) - 0x1p-6f) < 1e-6f);
        }
    ck_assert_double_eq_tol(fills_measure(x, 7000).deviation, 2, 0.1);
    free(x);
}
END_TEST

START_TEST(rows_are_sorted_equal_or_of_many_small_digits)
{
    enum { N = 501 };
    float *x = fills_draw((struct fill){.kind = FILL_SORTED, .a = -20, .b = 20, .inner = N}, 4 * N);
    for (int i = 0; i < 4 * N; i++)
        if (i % N)
            ck_assert(i / N % 2 ? x[i] < x[i - 1] : x[i] > x[i - 1]);
    ck_assert_double_eq_tol(x[N - 1] - x[0], 40, 0.2);
    free(x);
    x = fills_draw((struct fill){.kind = FILL_ROWS_EQUAL, .b = 50, .inner = N}, 4 * N);
    for (int i = 0; i < 4 * N; i++)
        ck_assert(x[i] == x[i / N * N]);
    ck_assert(x[0] != x[N]);
    free(x);
    x = fills_draw((struct fill){.kind = FILL_DIGITS, .a = -16.74f, .inner = N}, 40 * N);
    for (int r = 0; r < 40; r++) {
        const struct fills_moments m = fills_measure(x + r * N, N);
        int tops = 0;
        for (int i = 0; i < N; i++) {
            tops += x[r * N + i] == m.high;
            ck_assert(x[r * N + i] == m.high || x[r * N + i] == m.low);
        }
        ck_assert(tops == 1 && m.high == rint(m.high) && fabs(m.high - m.low - 16.74) < 1e-5);
        ck_assert(r % 2 || x[r * N] == m.high);
    }
    free(x);
}
END_TEST

START_TEST(extreme_rows_have_up_to_four_peaks)
{
    enum { N = 300 };
    int fours = 0;
    float *x = fills_draw((struct fill){.kind = FILL_EXTREME, .a = 30, .b = 2, .inner = N}, 100 * N);
    for (int r = 0; r < 100; r++) {
        int peaks = 0;
        for (int i = 0; i < N; i++)
            peaks += x[r * N + i] == 30;
        ck_assert(peaks >= 1 && peaks <= 4);
        fours += peaks == 4;
    }
    ck_assert_int_gt(fours, 85);
    free(x);
}
END_TEST

/* The kind of a row of special values: 0 ordinary; a NaN, +inf, both, only -inf, some -inf, tiny. */
static int classify(const float *row, int n)
{
    int nans = 0, up = 0, down = 0, tiny = 0;
    for (int i = 0; i < n; i++) {
        nans += isnan(row[i]);
        up += row[i] == INFINITY;
        down += row[i] == -INFINITY;
        tiny += fabsf(row[i]) < 0x1p-126f;
    }
    ck_assert(nans <= 1 && up <= 1);
    return nans && up ? 1 : nans ? 2 : up ? 3 : down == n ? 4 : down ? 5 : tiny == n ? 6 : 0;
}

START_TEST(special_rows_hold_every_special_value)
{
    enum { N = 60 };
    int seen[7] = {0}, negative_zeros = 0;
    float *x = fills_draw((struct fill){.kind = FILL_SPECIAL, .b = 4, .inner = N}, 400 * N);
    for (int r = 0; r < 400; r++)
        seen[classify(x + r * N, N)]++;
    for (int i = 0; i < 7; i++)
        ck_assert_int_gt(seen[i], 20);
    for (int i = 0; i < 400 * N; i++)
        negative_zeros += x[i] == 0 && signbit(x[i]);
    ck_assert_int_gt(negative_zeros, 100);
    free(x);
    x = fills_draw((struct fill){.kind = FILL_NANS, .b = 2, .density = 0.05f}, MANY);
    int nans = 0;
    for (int i = 0; i < MANY; i++)
        nans += isnan(x[i]);
    ck_assert(abs(nans - MANY / 20) < MANY / 200);
    free(x);
}
END_TEST

/* NaN has either sign, payloads, and is quiet in every type. */
START_TEST(nan_is_drawn_with_sign_and_payload)
{
    const struct fill fill = {.kind = FILL_NANS, .b = 2, .density = 1};
    float *x = fills_draw(fill, MANY);
    int negative = 0, plain = 0, kept = 0;
    for (int i = 0; i < MANY; i++) {
        uint32_t bits;
        uint16_t half;
        uint8_t byte;
        memcpy(&bits, x + i, sizeof bits);
        fill_store(DTYPE_BF16, &half, 0, x[i]);
        fill_store(DTYPE_E4M3, &byte, 0, x[i]);
        kept += (bits & 0x7fc00000) == 0x7fc00000 && half == bits >> 16 && byte == (bits >> 31 ? 0xff : 0x7f);
        negative += bits >> 31;
        plain += (bits & 0x3fffff) == 0;
    }
    ck_assert_int_eq(kept, MANY);
    ck_assert_int_lt(abs(negative - MANY / 2), MANY / 20);
    ck_assert_int_lt(plain, MANY / 100);
    free(x);
}
END_TEST

START_TEST(planted_values_overwrite_and_garbage_is_nan)
{
    int32_t valid[] = {2, 0, 3};
    const struct fill fill = {.kind = FILL_CONSTANT,
                              .a = 1,
                              .valid = valid,
                              .valids = 3,
                              .garbage_row = 4,
                              .garbage_block = 12,
                              .planted_count = 2,
                              .planted = {{0, -7}, {35, 9}}};
    float *x = fills_draw(fill, 36);
    for (int i = 1; i < 35; i++)
        ck_assert_msg(i % 12 < 4 * valid[i / 12] ? x[i] == 1 : isnan(x[i]), "element %d: %g", i, x[i]);
    ck_assert(x[0] == -7 && x[35] == 9);
    free(x);
}
END_TEST

/* Chunks of 1024 elements are filled side by side, and neither their edges nor the row show. */
START_TEST(an_element_does_not_depend_on_how_many_there_are)
{
    const struct fill fill = {.kind = FILL_WIDE, .a = -3, .b = 3};
    float *few = fills_draw(fill, 1023), *more = fills_draw(fill, 5000);
    ck_assert_mem_eq(few, more, 1023 * sizeof *few);
    free(few);
    free(more);
}
END_TEST

/* --- the meaning of a line --- */

static uint64_t checksum(const void *data, int64_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
    return hash;
}

/* Published reproduction lines lose their meaning when these change: no change is harmless. */
static const struct {
    const char *problem, *line;
    int content, tensor;
    uint64_t sum;
} pinned[] = {
#include "test_fill_pinned.def"
};

START_TEST(a_line_still_means_the_same_bits)
{
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        struct oracle o;
        const int t = pinned[i].tensor;
        oracle_open(&o, pinned[i].problem, pinned[i].line, pinned[i].content, 0);
        const uint64_t sum = checksum(o.tensor[t], o.bytes[t]);
        ck_assert_msg(sum == pinned[i].sum, "%s %s, content %d, tensor %d: 0x%016llx", pinned[i].problem,
                      pinned[i].line, pinned[i].content, t, (unsigned long long)sum);
        oracle_close(&o);
    }
}
END_TEST

Suite *fill_suite(void)
{
    Suite *suite = suite_create("fill");
    TCase *words = tcase_create("words"), *kinds = tcase_create("kinds");
    TCase *meaning = tcase_create("meaning");
    tcase_add_test(words, philox_gives_the_published_answers);
    tcase_add_test(words, both_philoxes_agree_over_many_blocks);
    tcase_add_test(kinds, normals_have_their_mean_and_deviation_and_no_far_tail);
    tcase_add_test(kinds, neighbouring_normals_are_uncorrelated_in_value_and_size);
    tcase_add_test(kinds, uniforms_constants_levels_and_integers_keep_their_range);
    tcase_add_test(kinds, powers_and_wide_values_cover_their_exponents);
    tcase_add_test(kinds, pairs_nearly_cancel_in_rows_of_any_length);
    tcase_add_test(kinds, rows_are_sorted_equal_or_of_many_small_digits);
    tcase_add_test(kinds, extreme_rows_have_up_to_four_peaks);
    tcase_add_test(kinds, special_rows_hold_every_special_value);
    tcase_add_test(kinds, nan_is_drawn_with_sign_and_payload);
    tcase_add_test(kinds, planted_values_overwrite_and_garbage_is_nan);
    tcase_add_loop_test(kinds, what_is_steady_is_the_same_in_every_content, 0, 2);
    tcase_add_test(kinds, an_element_does_not_depend_on_how_many_there_are);
    tcase_add_test(meaning, a_line_still_means_the_same_bits);
    suite_add_tcase(suite, words);
    suite_add_tcase(suite, kinds);
    suite_add_tcase(suite, meaning);
    suite_add_tcase(suite, fill_paged_case());
    suite_add_tcase(suite, fill_rows_case());
    suite_add_tcase(suite, fill_structure_case());
    suite_add_tcase(suite, fill_classes_case());
    return suite;
}
