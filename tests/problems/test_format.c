/* Formats of 16 and 8 bits and bytes. The conversions that fill and judge (problems/format.h) are compared
 * with those of candidates (problems/candidate.h). They are compared with the nearest value among all, and
 * with the judge's arithmetic. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/contract/scaled.h"
#include "gen/inputs/fill.h"
#include "problems/candidate.h"
#include "problems/format.h"
#include "reference/error.h"
#include "suites.h"
#include "verify/device/memory.h"

#define REF_FN static inline __attribute__((unused))
#include "reference/element.h"

static float from_f16(uint32_t bits)
{
    return single_from_f16((uint16_t)bits);
}
static float from_e5m2(uint32_t bits)
{
    return single_from_e5m2((uint8_t)bits);
}
static float from_e4m3(uint32_t bits)
{
    return single_from_e4m3((uint8_t)bits);
}
static float from_e2m1(uint32_t bits)
{
    return single_from_e2m1((uint8_t)bits);
}
static float from_bf16(uint32_t bits)
{
    return single_from_bf16((uint16_t)bits);
}
static float given_f16(uint32_t bits)
{
    return f16_to_float((f16)bits);
}
static float given_e5m2(uint32_t bits)
{
    return e5m2_to_float((e5m2)bits);
}
static float given_e4m3(uint32_t bits)
{
    return e4m3_to_float((e4m3)bits);
}
static float given_bf16(uint32_t bits)
{
    return bf16_to_float((bf16)bits);
}
static uint32_t to_f16(float value)
{
    return f16_from_single(value);
}
static uint32_t to_e5m2(float value)
{
    return e5m2_from_single(value);
}
static uint32_t to_e4m3(float value)
{
    return e4m3_from_single(value);
}
static uint32_t to_e2m1(float value)
{
    return e2m1_from_single(value);
}
static uint32_t to_bf16(float value)
{
    return bf16_from_single(value);
}
static uint32_t put_f16(float value)
{
    return float_to_f16(value);
}
static uint32_t put_e5m2(float value)
{
    return float_to_e5m2(value);
}
static uint32_t put_bf16(float value)
{
    return float_to_bf16(value);
}

static const struct {
    enum dtype dtype;
    int bits;
    float (*from)(uint32_t), (*given)(uint32_t);
    uint32_t (*to)(float), (*put)(float); /* given or put NULL: candidates have no such conversion */
    uint32_t infinity;                    /* 0: the format saturates */
} formats[] = {
    {DTYPE_F16, 16, from_f16, given_f16, to_f16, put_f16, 0x7c00},
    {DTYPE_BF16, 16, from_bf16, given_bf16, to_bf16, put_bf16, 0x7f80},
    {DTYPE_E5M2, 8, from_e5m2, given_e5m2, to_e5m2, put_e5m2, 0x7c},
    {DTYPE_E4M3, 8, from_e4m3, given_e4m3, to_e4m3, NULL, 0},
    {DTYPE_E2M1, 4, from_e2m1, NULL, to_e2m1, NULL, 0},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool same(float a, float b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

START_TEST(every_pattern_has_the_value_that_candidates_are_told_and_comes_back)
{
    for (uint32_t bits = 0; bits < 1u << formats[_i].bits; bits++) {
        const float value = formats[_i].from(bits);
        ck_assert_msg(!formats[_i].given || same(value, formats[_i].given(bits)), "0x%x", bits);
        if (isnan(value)) {
            ck_assert(isnan(formats[_i].from(formats[_i].to(value))));
            continue;
        }
        ck_assert_msg(formats[_i].to(value) == bits, "0x%x becomes 0x%x", bits, formats[_i].to(value));
        ck_assert(!formats[_i].put || formats[_i].put(value) == bits);
    }
}
END_TEST

static void expect_rounded(int format, float value, uint32_t bits)
{
    ck_assert_msg(formats[format].to(value) == bits, "%a becomes 0x%x, not 0x%x", value,
                  formats[format].to(value), bits);
    ck_assert_msg(!formats[format].put || formats[format].put(value) == bits, "%a becomes 0x%x, not 0x%x",
                  value, formats[format].put(value), bits);
    const uint32_t sign = 1u << (formats[format].bits - 1);
    ck_assert(formats[format].to(-value) == (bits | sign));
    ck_assert(!formats[format].put || formats[format].put(-value) == (bits | sign));
}

/* Between neighbours: halfway goes to the even one, beside it to the nearer one. */
START_TEST(halfway_is_rounded_to_even_and_anything_else_to_the_nearest)
{
    for (uint32_t bits = 0; bits + 1 < 1u << (formats[_i].bits - 1); bits++) {
        const float low = formats[_i].from(bits), high = formats[_i].from(bits + 1);
        if (!isfinite(low) || !isfinite(high))
            break;
        const float middle = low + (high - low) / 2; /* exact: a single has more fraction bits */
        expect_rounded(_i, middle, bits + bits % 2);
        expect_rounded(_i, nextafterf(middle, -INFINITY), bits);
        expect_rounded(_i, nextafterf(middle, INFINITY), bits + 1);
    }
}
END_TEST

START_TEST(beyond_the_greatest_lies_what_the_format_has_for_it)
{
    const struct format format = error_format(formats[_i].dtype);
    const uint32_t greatest = formats[_i].to((float)format.largest);
    const float step = (float)(2 * error_half_ulp(format, format.largest)),
                half = (float)format.largest + step / 2;
    ck_assert(formats[_i].from(greatest) == format.largest);
    expect_rounded(_i, nextafterf(half, 0), greatest);
    expect_rounded(_i, half, formats[_i].infinity ? formats[_i].infinity : greatest);
    expect_rounded(_i, INFINITY, formats[_i].infinity ? formats[_i].infinity : greatest);
    if (formats[_i].infinity)
        ck_assert(error_overflow(formats[_i].dtype) ==
                  format.largest + 2 * error_half_ulp(format, format.largest));
}
END_TEST

/* The error model's half ulp is half the way to the next number, everywhere. */
START_TEST(half_an_ulp_is_half_the_way_to_the_next_pattern)
{
    const struct format format = error_format(formats[_i].dtype);
    for (uint32_t bits = 0; bits + 1 < 1u << (formats[_i].bits - 1); bits++) {
        const double low = formats[_i].from(bits), high = formats[_i].from(bits + 1);
        if (!isfinite(low) || !isfinite(high))
            break;
        ck_assert_msg(error_half_ulp(format, low) == (high - low) / 2, "at %g", low);
        ck_assert(error_of_rounding(format, low, 0) == 0);
        ck_assert(error_of_rounding(format, low + (high - low) / 4, 0) == (high - low) / 4);
    }
}
END_TEST

START_TEST(integers_lie_one_apart_and_bools_are_exact)
{
    static const enum dtype types[] = {DTYPE_I8, DTYPE_U8, DTYPE_I32, DTYPE_I64};
    for (int t = 0; t < 4; t++) {
        const struct format format = error_format(types[t]);
        for (int x = -128; x <= 127; x++) {
            ck_assert(error_half_ulp(format, x) == 0.5);
            ck_assert(error_of_rounding(format, x + 0.25, 0) == 0.25);
            ck_assert(error_of_rounding(format, x, 0x1p-20) == 0.5);
        }
    }
    ck_assert(error_half_ulp(error_format(DTYPE_U8), 255) == 0.5);
    ck_assert(error_half_ulp(error_format(DTYPE_I32), -2147483647.0) == 0.5);
    ck_assert(error_of_rounding(error_format(DTYPE_BOOL), 0, 0) == 0);
    ck_assert(error_of_rounding(error_format(DTYPE_BOOL), 1, 0) == 0);
}
END_TEST

/* --- what is stored --- */

START_TEST(what_is_filled_is_read_back_by_the_judge)
{
    static const enum dtype types[] = {DTYPE_F32, DTYPE_BF16, DTYPE_E4M3, DTYPE_I32, DTYPE_I64,  DTYPE_U8,
                                       DTYPE_F64, DTYPE_F16,  DTYPE_E5M2, DTYPE_I8,  DTYPE_BOOL, DTYPE_E2M1};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        double filled[4] = {0}, put[4] = {0};
        for (int i = 0; i < 3; i++) { /* 0, 1, 2 are exact in all formats but one */
            uint32_t bits;
            const double want = types[t] == DTYPE_BOOL ? i > 0 : i;
            fill_store(types[t], filled, i, (float)i);
            dtype_store(types[t], put, i, i);
            ck_assert(dtype_load(types[t], filled, i, &bits) == want);
        }
        ck_assert_mem_eq(filled, put, sizeof filled);
    }
}
END_TEST

START_TEST(bytes_are_rounded_and_saturate)
{
    int8_t i8[5];
    uint8_t boolean[4], u8[2];
    const float value[] = {-1000, -1.5f, 2.5f, 126.51f, NAN};
    const int8_t want[] = {-128, -2, 2, 127, 0};
    for (int i = 0; i < 5; i++)
        fill_store(DTYPE_I8, i8, i, value[i]);
    ck_assert_mem_eq(i8, want, sizeof want);
    for (int i = 0; i < 4; i++)
        fill_store(DTYPE_BOOL, boolean, i, (float[]){0, -0.0f, 0.25f, -3}[i]);
    ck_assert_mem_eq(boolean, ((uint8_t[]){0, 0, 1, 1}), 4);
    dtype_store(DTYPE_U8, u8, 0, 300);
    dtype_store(DTYPE_U8, u8, 1, -3);
    ck_assert(u8[0] == 255 && u8[1] == 0);
}
END_TEST

/* At any address that is a multiple of its size an element of poison is the same. It is no right output where
 * the format has a pattern to spare. */
START_TEST(poison_is_no_value_of_an_output)
{
    static const enum dtype types[] = {DTYPE_F32,  DTYPE_BF16, DTYPE_F16, DTYPE_E5M2,
                                       DTYPE_BOOL, DTYPE_I32,  DTYPE_I64, DTYPE_F64};
    const struct memory *memory = memory_of(BACKEND_HOST);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        _Alignas(16) unsigned char bytes[64];
        ck_assert_int_eq(memory->poison(bytes, sizeof bytes, dtype_row(types[t])->poison), 0);
        for (size_t i = 0; i < sizeof bytes * 8 / (size_t)dtype_row(types[t])->bits; i++) {
            uint32_t bits;
            const double value = dtype_load(types[t], bytes, (int64_t)i, &bits);
            ck_assert_uint_eq(bits, memory_poison_element(types[t]));
            ck_assert(isnan(value) || fabs(value) > 1e9 || (types[t] == DTYPE_BOOL && value > 1));
        }
        ck_assert(!dtype_holds_poison(types[t]));
    }
    for (enum dtype t = DTYPE_F32; t < DTYPE_COUNT; t++)
        if (dtype_row(t)->bits == 8)
            ck_assert_uint_eq(dtype_row(t)->poison, memory_poison_element(t) * 0x01010101u);
}
END_TEST

/* --- in rows that lie apart --- */

START_TEST(a_fill_leaves_gaps_alone_and_is_else_what_it_is_without_them)
{
    enum { ROWS = 37, WIDTH = 129, PITCH = 140, SPAN = (ROWS - 1) * PITCH + WIDTH };
    static const enum fill_kind kinds[] = {FILL_NORMAL, FILL_UNIFORM, FILL_SORTED, FILL_GIVEN};
    static const enum dtype types[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16, DTYPE_I64};
    for (int k = 0; k < 4; k++) {
        const struct tensor tensors[] = {{"x", types[k], TENSOR_INPUT, "[rows, width]"}, {0}};
        const struct problem problem = {.name = "fills", .tensors = tensors};
        struct instance instance = {
            .tensor = {
                {.rank = 2, .dim = {ROWS, WIDTH}, .fill = {.kind = kinds[k], .b = 3, .inner = WIDTH}}}};
        const size_t size = (size_t)dtype_bytes(types[k], 1);
        unsigned char *dense = malloc(ROWS * WIDTH * size), *apart = malloc(SPAN * size);
        struct fill *fill = &instance.tensor[0].fill;
        fill->given = kinds[k] == FILL_GIVEN ? malloc(ROWS * WIDTH * sizeof *fill->given) : NULL;
        for (int i = 0; fill->given && i < ROWS * WIDTH; i++)
            fill->given[i] = i * 100003;
        fill->planted_count = kinds[k] == FILL_NORMAL;
        fill->planted[0] = (struct fill_planted){WIDTH + 3, 77};
        fill_host(&problem, &instance, 0, 5, 1, dense);
        memset(apart, 0xee, SPAN * size);
        instance.tensor[0].pitch = PITCH;
        ck_assert_int_eq(instance_tensor_span(&instance.tensor[0]), SPAN);
        fill_host(&problem, &instance, 0, 5, 1, apart);
        for (int64_t i = 0; i < SPAN; i++) {
            const int64_t row = i / PITCH, column = i % PITCH;
            if (column < WIDTH)
                ck_assert_mem_eq(apart + (size_t)i * size, dense + (size_t)(row * WIDTH + column) * size,
                                 size);
            for (size_t b = 0; column >= WIDTH && b < size; b++)
                ck_assert_int_eq(apart[(size_t)i * size + b], 0xee);
        }
        free(fill->given);
        free(dense);
        free(apart);
    }
}
END_TEST

START_TEST(the_first_byte_in_a_gap_is_found)
{
    enum { ROW = 10, PITCH = 16, BYTES = 5 * PITCH + ROW };
    const struct memory *memory = memory_of(BACKEND_HOST);
    _Alignas(16) unsigned char bytes[BYTES];
    for (int at = 0; at < BYTES; at++) {
        memory->poison(bytes, BYTES, 0xa5a5a5a5);
        bytes[0] = bytes[BYTES - 1] = 0; /* of rows */
        bytes[at] = 1;
        struct memory_search search = {
            .memory = bytes, .bytes = BYTES, .word = 0xa5a5a5a5, .row = ROW, .pitch = PITCH};
        ck_assert_int_eq(memory->search(&search, 1), 0);
        ck_assert_int_eq(search.first, at % PITCH < ROW ? -1 : at);
    }
}
END_TEST

TCase *contract_formats_case(void)
{
    TCase *tests = tcase_create("formats");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, every_pattern_has_the_value_that_candidates_are_told_and_comes_back, 0,
                        FORMATS);
    tcase_add_loop_test(tests, halfway_is_rounded_to_even_and_anything_else_to_the_nearest, 0, FORMATS);
    tcase_add_loop_test(tests, beyond_the_greatest_lies_what_the_format_has_for_it, 0, FORMATS);
    tcase_add_loop_test(tests, half_an_ulp_is_half_the_way_to_the_next_pattern, 0, FORMATS);
    tcase_add_test(tests, integers_lie_one_apart_and_bools_are_exact);
    tcase_add_test(tests, what_is_filled_is_read_back_by_the_judge);
    tcase_add_test(tests, bytes_are_rounded_and_saturate);
    tcase_add_test(tests, poison_is_no_value_of_an_output);
    tcase_add_test(tests, a_fill_leaves_gaps_alone_and_is_else_what_it_is_without_them);
    tcase_add_test(tests, the_first_byte_in_a_gap_is_found);
    return tests;
}
