/* Kinds of fill that some problems need: 4-bit weights, one-hot rows, decays by channel, infinities. */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fills.h"

TCase *fill_rows_case(void);

static double normal_below(double z)
{
    return erfc(-z / sqrt(2)) / 2;
}

/* The share of every value of 0..15, for N(a, b) rounded and cut off at the ends. */
static void expect_nibbles(double a, double b)
{
    float *x = fills_draw((struct fill){.kind = FILL_NIBBLES, .a = (float)a, .b = (float)b}, MANY);
    int seen[2][16] = {{0}};
    double product = 0, mean[2] = {0, 0};
    bool bytes = true;
    for (int i = 0; i < MANY; i++) {
        const int low = (int)x[i] % 16, high = (int)x[i] / 16 % 16;
        bytes &= x[i] == (float)(16 * high + low);
        seen[0][low]++;
        seen[1][high]++;
        mean[0] += low / (double)MANY;
        mean[1] += high / (double)MANY;
        product += low * high / (double)MANY;
    }
    ck_assert(bytes);
    for (int half = 0; half < 2; half++)
        for (int q = 0; q < 16; q++) {
            const double below = q == 0 ? 0 : normal_below((q - 0.5 - a) / b);
            const double share = (q == 15 ? 1 : normal_below((q + 0.5 - a) / b)) - below;
            ck_assert_msg(fabs(seen[half][q] / (double)MANY - share) < 0.006, "%g, %g: %d is %d times", a, b,
                          q, seen[half][q]);
        }
    ck_assert_msg(fabs(product - mean[0] * mean[1]) < 0.02 * b * b, "low and high go together: %g", product);
    free(x);
}

START_TEST(nibbles_are_rounded_normals_within_four_bits)
{
    expect_nibbles(7.5, 2.9);
    expect_nibbles(0, 6);
    expect_nibbles(14, 3);
}
END_TEST

START_TEST(most_values_are_one_and_the_others_any_integer)
{
    int seen[256] = {0};
    float *x = fills_draw((struct fill){.kind = FILL_MOSTLY, .a = 51, .b = 256, .density = 0.125f}, MANY);
    const struct fills_moments m = fills_measure(x, MANY);
    ck_assert(m.low == 0 && m.high == 255);
    for (int i = 0; i < MANY; i++)
        seen[(int)x[i]] += x[i] == rintf(x[i]);
    ck_assert(abs(seen[51] - (int)(MANY * (0.875 + 0.125 / 256))) < MANY / 200);
    for (int v = 0; v < 256; v++)
        ck_assert_msg(seen[v] > 15 && (v == 51 || seen[v] < 100), "%d: %d times", v, seen[v]);
    free(x);
}
END_TEST

/* [ROWS, N]: along N every second is +-1 or 0, the others also odd of 13 to 18 bits. */
START_TEST(odd_integers_come_at_every_second_place)
{
    enum { N = 11, ROWS = 9000 };
    float *x = fills_draw(
        (struct fill){.kind = FILL_ODD, .a = 1, .b = 0.25f, .density = 0.5f, .inner = N, .step = 1},
        N * ROWS);
    int lengthy = 0, nonzero = 0, bits[19] = {0};
    for (int i = 0; i < N * ROWS; i++) {
        const float size = fabsf(x[i]);
        nonzero += size > 0;
        if (size <= 1)
            continue;
        ck_assert(i % N % 2 == 1 && size < 0x1p18f && (int)size % 2 == 1);
        lengthy++;
        bits[ilogbf(size) + 1]++;
    }
    ck_assert(abs(nonzero - N * ROWS / 2) < N * ROWS / 100);
    ck_assert(abs(lengthy - 5 * ROWS / 8) < ROWS / 30);
    for (int b = 13; b <= 18; b++)
        ck_assert(abs(bits[b] - lengthy / 6) < lengthy / 20);
    free(x);
    x = fills_draw((struct fill){.kind = FILL_ODD, .b = 1, .density = 1, .inner = N, .step = 7}, 7 * N);
    for (int i = 0; i < 7 * N; i++) /* [N, 7]: from the first row on */
        ck_assert((fabsf(x[i]) > 1) == (i / 7 % 2 == 0));
    free(x);
}
END_TEST

START_TEST(signs_are_even_and_fractions_include_both_ends)
{
    float *x = fills_draw((struct fill){.kind = FILL_SIGNS, .b = 0.375f}, MANY);
    int negative = 0, positive = 0, ones = 0, between = 0;
    double mean = 0;
    for (int i = 0; i < MANY; i++) {
        negative += x[i] == -0.375f;
        positive += x[i] == 0.375f;
    }
    ck_assert(abs(negative - MANY / 2) < MANY / 100 && negative + positive == MANY);
    free(x);
    x = fills_draw((struct fill){.kind = FILL_FRACTIONS}, MANY);
    const struct fills_moments m = fills_measure(x, MANY);
    ck_assert(m.low == 0 && m.high == 1 && fabs(m.zeros - 0.25) < 0.01);
    for (int i = 0; i < MANY; i++) {
        ones += x[i] == 1;
        between += x[i] > 0 && x[i] < 1;
        mean += x[i] > 0 && x[i] < 1 ? x[i] : 0;
    }
    ck_assert(abs(ones - MANY / 4) < MANY / 100 && abs(between - MANY / 2) < MANY / 100);
    ck_assert_double_eq_tol(mean / between, 0.5, 0.01);
    free(x);
}
END_TEST

START_TEST(one_hot_rows_have_their_one_anywhere)
{
    enum { N = 37, ROWS = 5000 };
    int at[N] = {0};
    float *x = fills_draw((struct fill){.kind = FILL_ONEHOT, .b = 2, .inner = N}, ROWS * N);
    for (int r = 0; r < ROWS; r++) {
        int hot = 0, cold = 0;
        for (int i = 0; i < N; i++) {
            cold += x[r * N + i] == 0;
            hot += x[r * N + i] == 2;
            at[i] += x[r * N + i] == 2;
        }
        ck_assert(hot == 1 && cold == N - 1);
    }
    for (int i = 0; i < N; i++)
        ck_assert(at[i] > ROWS / N / 2 && at[i] < ROWS / N * 2);
    free(x);
}
END_TEST

/* Blocks of three rows: no two of 32 neighbouring blocks share their place. */
START_TEST(turns_keep_equal_unit_vectors_32_blocks_apart)
{
    enum { N = 64, ROWS = 3, BLOCKS = 1000 };
    int at[N] = {0}, last[ROWS][N];
    float *x = fills_draw((struct fill){.kind = FILL_TURNS, .b = 1, .inner = N, .block = N * ROWS},
                          N * ROWS * BLOCKS);
    memset(last, 0, sizeof last);
    for (int r = 0; r < ROWS * BLOCKS; r++) {
        int hot = 0, place = 0;
        for (int i = 0; i < N; i++) {
            hot += x[r * N + i] == 1;
            place = x[r * N + i] != 0 ? i : place;
        }
        ck_assert_int_eq(hot, 1);
        ck_assert(last[r % ROWS][place] == 0 || r / ROWS + 1 - last[r % ROWS][place] >= 32);
        last[r % ROWS][place] = r / ROWS + 1;
        at[place]++;
    }
    for (int i = 0; i < N; i++)
        ck_assert(at[i] > ROWS * BLOCKS / N / 2 && at[i] < ROWS * BLOCKS / N * 2);
    free(x);
}
END_TEST

START_TEST(what_is_early_reaches_all_channels_and_the_rest_half)
{
    enum { N = 10, EARLY = 30, BLOCK = 100 };
    float *x = fills_draw(
        (struct fill){.kind = FILL_EARLY, .b = 2, .inner = N, .block = BLOCK, .early = EARLY}, 100000);
    double square = 0;
    for (int i = 0; i < 100000; i++) {
        ck_assert(x[i] == 0 || i % BLOCK < EARLY || i % N < N / 2);
        square += (double)x[i] * x[i];
    }
    ck_assert_double_eq_tol(square / 65000, 4, 0.1); /* 30 + 35 of 100 */
    free(x);
}
END_TEST

/* Channel by channel: the promises of fill.h, with both ends of each range reached. */
START_TEST(channels_take_their_kind_of_decay_in_turn)
{
    enum { N = 10 };
    const double low[] = {-0x1p-10, -8, -0.49, -0.025}, high[] = {0, -0.5, 0, 0.05};
    const double least[] = {-0.99 * 0x1p-10, -7.9, -0.3, -0.024}, most[] = {-1e-6, -0.6, -1e-4, 0.049};
    double reached_low[4] = {0, 0, 0, 0}, reached_high[4] = {-9, -9, -9, -9}, square = 0;
    float *x = fills_draw((struct fill){.kind = FILL_CHANNELS, .a = 0.05f, .inner = N}, N * 4000);
    for (int i = 0; i < N * 4000; i++) {
        const int kind = i % N % 4;
        reached_low[kind] = fmin(reached_low[kind], x[i]);
        reached_high[kind] = fmax(reached_high[kind], x[i]);
        square += kind == 2 ? (double)x[i] * x[i] / (2 * 4000) : 0; /* two of ten channels */
    }
    for (int kind = 0; kind < 4; kind++)
        ck_assert_msg(reached_low[kind] >= low[kind] && reached_low[kind] < least[kind] &&
                          reached_high[kind] <= high[kind] && reached_high[kind] > most[kind],
                      "%d: %g to %g", kind, reached_low[kind], reached_high[kind]);
    ck_assert_double_eq_tol(sqrt(square), 0.1, 0.003);
    free(x);
}
END_TEST

/* 0: infinities of both signs here and there; 1: nearly all -inf; 2: one +inf; 3: half -inf. */
static int classify(const float *row, int n)
{
    int up = 0, down = 0, nan = 0;
    for (int i = 0; i < n; i++) {
        nan += isnan(row[i]);
        up += row[i] == INFINITY;
        down += row[i] == -INFINITY;
    }
    ck_assert_int_eq(nan, 0);
    if (down == 0 && up == 1)
        return 2;
    if (up == 0 && down > n * 9 / 10)
        return 1;
    if (up == 0 && down > n / 3 && down < n * 2 / 3)
        return 3;
    ck_assert_msg(up > 0 && down > 0 && up + down < n / 5, "%d up, %d down of %d", up, down, n);
    return 0;
}

START_TEST(rows_with_infinities_are_of_four_kinds_and_hold_no_nan)
{
    enum { N = 300, ROWS = 400 };
    int seen[4] = {0};
    float *x = fills_draw((struct fill){.kind = FILL_INFINITIES, .b = 4, .inner = N}, ROWS * N);
    for (int r = 0; r < ROWS; r++)
        seen[classify(x + r * N, N)]++;
    for (int kind = 0; kind < 4; kind++)
        ck_assert_int_gt(seen[kind], ROWS / 8);
    free(x);
}
END_TEST

/* A sixteenth of the row and one more, or less where the row ends. */
START_TEST(the_largest_of_a_row_with_a_cluster_lie_side_by_side)
{
    enum { N = 100, ROWS = 2000, LENGTH = 1 + N / 16 };
    int first_seen[N] = {0}, places = 0;
    float *x = fills_draw((struct fill){.kind = FILL_CLUSTER, .b = 4, .inner = N}, ROWS * N);
    for (int r = 0; r < ROWS; r++) {
        const float *row = x + r * N;
        int first = 0, wrong = 0;
        while (first < N && row[first] < 32)
            first++;
        const int end = first + LENGTH < N ? first + LENGTH : N;
        for (int i = 0; i < N; i++)
            wrong += fabs(row[i] - (i >= first && i < end ? 64 : 0)) >= 4.9 * 4;
        ck_assert(first < N && wrong == 0);
        first_seen[first]++;
    }
    for (int i = 0; i < N; i++)
        places += first_seen[i] > 0;
    ck_assert_int_eq(places, N);
    free(x);
}
END_TEST

START_TEST(zeros_are_of_both_signs_and_among_subnormals)
{
    int zeros[2] = {0}, subnormal[2] = {0};
    float *x = fills_draw((struct fill){.kind = FILL_ZEROS, .inner = 10}, 10000);
    const struct fills_moments m = fills_measure(x, 10000);
    ck_assert(m.low > -0x1p-126 && m.high < 0x1p-126);
    for (int i = 0; i < 10000; i++)
        (x[i] == 0 ? zeros : subnormal)[signbit(x[i]) != 0]++;
    for (int sign = 0; sign < 2; sign++)
        ck_assert(abs(zeros[sign] - 2500) < 250 && abs(subnormal[sign] - 2500) < 250);
    free(x);
}
END_TEST

/* [ROWS, N] by rows, by columns (all places along the last dimension) and as a whole. */
START_TEST(parts_are_of_unlike_size_and_some_are_nothing)
{
    enum { N = 200, ROWS = 800 };
    const struct {
        int64_t step, inner;
    } parts[] = {{N, ROWS}, {1, N}, {ROWS * N, 1}};
    const int64_t step = parts[_i].step, inner = parts[_i].inner;
    float *x = fills_draw(
        (struct fill){.kind = FILL_UNEVEN, .a = -13, .b = 6, .density = 0.75f, .step = step, .inner = inner},
        ROWS * N);
    double *square = calloc((size_t)inner, sizeof *square);
    int zeros = 0, sizes[20] = {0};
    ck_assert_ptr_nonnull(square);
    for (int64_t i = 0; i < ROWS * N; i++)
        square[i / step % inner] += (double)x[i] * x[i];
    for (int64_t p = 0; p < inner; p++) {
        const double size = sqrt(square[p] / (double)(ROWS * N / inner));
        zeros += square[p] <= 0;
        if (square[p] > 0) /* about a power of two: 200 or more numbers */
            sizes[(int)lround(log2(size)) + 13]++;
    }
    if (inner > 1)
        ck_assert(abs(zeros - (int)inner / 4) < (int)inner / 8);
    for (int e = 0; e < 20; e++)
        ck_assert_msg(sizes[e] > 0 || inner == 1, "no part of size 2^%d", e - 13);
    free(x);
    free(square);
}
END_TEST

/* Half of the levels are exact, a quarter each one unit of the last place below and above. Beside 0 stands a
 * normal number. */
START_TEST(decisions_are_met_and_missed_by_one_unit)
{
    const struct fill fill = {
        .kind = FILL_DECISION, .density = 0.75f, .b = 1, .step = 1, .level_count = 3, .level = {2.5f, -1, 0}};
    const float near[] = {2.5f, nextafterf(2.5f, 0), nextafterf(2.5f, 9),
                          -1,   nextafterf(-1, -9),  nextafterf(-1, 0),
                          0,    -0x1p-100f,          0x1p-100f};
    int met[9] = {0}, others = 0;
    float *x = fills_draw(fill, MANY);
    for (int i = 0; i < MANY; i++) {
        int at = 0;
        while (at < 9 && !(x[i] <= near[at] && x[i] >= near[at]))
            at++;
        if (at < 9)
            met[at]++;
        else
            others++;
    }
    for (int at = 0; at < 9; at++)
        ck_assert_msg(abs(met[at] - MANY / (at % 3 == 0 ? 8 : 16)) < MANY / 200, "%a: %d", (double)near[at],
                      met[at]);
    ck_assert(abs(others - MANY / 4) < MANY / 200);
    free(x);
}
END_TEST

/* Indices are levels or others of their range, and never beside them. Without neighbours, floats are levels
 * or normal. */
START_TEST(decisions_of_whole_numbers_have_no_neighbours)
{
    int level = 0, whole = 0;
    float *x = fills_draw((struct fill){.kind = FILL_DECISION,
                                        .density = 0.5f,
                                        .a = 10,
                                        .b = 90,
                                        .step = -1,
                                        .level_count = 1,
                                        .level = {64}},
                          MANY);
    for (int i = 0; i < MANY; i++) {
        whole += x[i] == rintf(x[i]) && x[i] >= 10 && x[i] < 100;
        level += x[i] == 64;
    }
    ck_assert_int_eq(whole, MANY);
    ck_assert(abs(level - (int)(MANY * (0.5 + 0.5 / 90))) < MANY / 100);
    free(x);
    x = fills_draw(
        (struct fill){.kind = FILL_DECISION, .density = 1, .step = -2, .level_count = 2, .level = {1, 2}},
        MANY);
    for (int i = 0; i < MANY; i++)
        ck_assert(x[i] == 1 || x[i] == 2);
    free(x);
}
END_TEST

START_TEST(levels_are_as_often_their_ends_as_is_asked)
{
    int ends[2] = {0};
    float *x = fills_draw((struct fill){.kind = FILL_LEVELS, .a = 3, .b = 100, .density = 0.5f}, MANY);
    for (int i = 0; i < MANY; i++) {
        ck_assert(x[i] >= 3 && x[i] <= 102);
        ends[0] += x[i] <= 3;
        ends[1] += x[i] >= 102;
    }
    for (int e = 0; e < 2; e++)
        ck_assert(abs(ends[e] - (int)(MANY * 0.255)) < MANY / 50);
    free(x);
}
END_TEST

START_TEST(a_peak_lies_last_in_every_fourth_row_and_at_edges_in_others)
{
    enum { N = 2100, ROWS = 400 };
    int edges = 0;
    float *x = fills_draw((struct fill){.kind = FILL_PEAK, .a = 200, .b = 4, .inner = N}, ROWS * N);
    for (int r = 0; r < ROWS; r++) {
        const float *row = x + r * N;
        int at = -1, peaks = 0;
        for (int i = 0; i < N; i++)
            if (row[i] == 200) {
                at = i;
                peaks++;
            } else {
                ck_assert(fabsf(row[i]) < 4.9f * 4);
            }
        ck_assert_int_eq(peaks, 1);
        ck_assert(r % 4 != 0 || at == N - 1);
        ck_assert(r % 4 != 1 || at == 0);
        ck_assert(r % 4 != 2 || at == 2048 || at == 2080);
        edges += r % 4 == 2 && at == 2080;
    }
    ck_assert(edges > ROWS / 16 && edges < ROWS / 4 - ROWS / 16);
    free(x);
}
END_TEST

/* Consecutive in the order of the bits, each of them about as often as the others. */
START_TEST(neighbours_are_consecutive_floats_of_one_sign)
{
    enum { N = 1000, ROWS = 400 };
    int negative = 0, subnormal = 0, spans[7] = {0};
    float *x = fills_draw((struct fill){.kind = FILL_NEIGHBOURS, .inner = N}, ROWS * N);
    for (int r = 0; r < ROWS; r++) {
        const float *row = x + r * N;
        uint32_t low = UINT32_MAX, high = 0;
        for (int i = 0; i < N; i++) {
            uint32_t bits;
            memcpy(&bits, &row[i], sizeof bits);
            low = bits < low ? bits : low;
            high = bits > high ? bits : high;
            ck_assert(isfinite(row[i]));
        }
        ck_assert((low ^ high) >> 31 == 0);
        negative += low >> 31;
        subnormal += (high & 0x7fffffffu) < 0x800000u;
        if (r % 2 == 0)
            ck_assert(high - low > N - 40 && high - low < N);
        else
            spans[ilogb((double)(high - low + 1))]++;
    }
    ck_assert(abs(negative - ROWS / 2) < 60 && abs(subnormal - ROWS / 8) < 30);
    for (int s = 1; s <= 6; s++) /* 2 to 64 */
        ck_assert_int_gt(spans[s], 15);
    ck_assert_int_eq(spans[0], 0);
    free(x);
}
END_TEST

START_TEST(nan_comes_with_infinities_only_where_the_fill_says_so)
{
    for (int both = 0; both < 2; both++) {
        int nan = 0, up = 0, down = 0, other = 0;
        const struct fill fill = {.kind = FILL_NANS, .a = (float)both, .b = 2, .density = 0.06f};
        float *x = fills_draw(fill, MANY);
        for (int i = 0; i < MANY; i++) {
            nan += isnan(x[i]);
            up += x[i] == INFINITY;
            down += x[i] == -INFINITY;
            other += fabsf(x[i]) < 4.9 * 2;
        }
        ck_assert_int_eq(nan + up + down + other, MANY);
        const int each = MANY * 6 / 100 / (both ? 3 : 1);
        ck_assert_msg(abs(nan - each) < MANY / 300, "%d NaN", nan);
        ck_assert(both ? abs(up - each) < MANY / 300 && abs(down - each) < MANY / 300 : up + down == 0);
        free(x);
    }
}
END_TEST

TCase *fill_rows_case(void)
{
    TCase *rows = tcase_create("rows");
    tcase_add_test(rows, nibbles_are_rounded_normals_within_four_bits);
    tcase_add_test(rows, most_values_are_one_and_the_others_any_integer);
    tcase_add_test(rows, odd_integers_come_at_every_second_place);
    tcase_add_test(rows, signs_are_even_and_fractions_include_both_ends);
    tcase_add_test(rows, turns_keep_equal_unit_vectors_32_blocks_apart);
    tcase_add_test(rows, what_is_early_reaches_all_channels_and_the_rest_half);
    tcase_add_test(rows, one_hot_rows_have_their_one_anywhere);
    tcase_add_test(rows, channels_take_their_kind_of_decay_in_turn);
    tcase_add_test(rows, rows_with_infinities_are_of_four_kinds_and_hold_no_nan);
    tcase_add_test(rows, the_largest_of_a_row_with_a_cluster_lie_side_by_side);
    tcase_add_test(rows, zeros_are_of_both_signs_and_among_subnormals);
    tcase_add_loop_test(rows, parts_are_of_unlike_size_and_some_are_nothing, 0, 3);
    tcase_add_test(rows, decisions_are_met_and_missed_by_one_unit);
    tcase_add_test(rows, decisions_of_whole_numbers_have_no_neighbours);
    tcase_add_test(rows, levels_are_as_often_their_ends_as_is_asked);
    tcase_add_test(rows, a_peak_lies_last_in_every_fourth_row_and_at_edges_in_others);
    tcase_add_test(rows, neighbours_are_consecutive_floats_of_one_sign);
    tcase_add_test(rows, nan_comes_with_infinities_only_where_the_fill_says_so);
    tcase_set_timeout(rows, 60);
    return rows;
}
