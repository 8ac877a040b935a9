/* The promises of a problem's input classes and choices about whole tensors: routing, zero points, sizes of
 * keys and decays, rows that can be ordered. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

TCase *fill_structure_case(void);

/* --- moe_up --- */

enum { MOST_EXPERTS = 256 };

struct routing {
    int64_t tokens, experts, rows[MOST_EXPERTS], sorted[MOST_EXPERTS]; /* sorted: the largest first */
    int used;                                                          /* experts with rows */
};

static int descending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

static void read_routing(const struct oracle *o, struct routing *r)
{
    *r = (struct routing){.tokens = o->instance.extent[0], .experts = o->instance.extent[3]};
    ck_assert_int_eq(oracle_i32(o, 1, 0), 0);
    ck_assert_int_eq(oracle_i32(o, 1, r->experts), r->tokens);
    for (int64_t e = 0; e < r->experts; e++) {
        r->rows[e] = r->sorted[e] = oracle_i32(o, 1, e + 1) - oracle_i32(o, 1, e);
        ck_assert_int_ge(r->rows[e], 0);
        r->used += r->rows[e] > 0;
    }
    qsort(r->sorted, (size_t)r->experts, sizeof *r->sorted, descending);
}

static void expect_zipf(const struct routing *r)
{
    double total = 0;
    for (int64_t e = 0; e < r->experts; e++)
        total += 1 / (double)(e + 1);
    for (int64_t e = 0; e < r->experts; e++) {
        const double share = (double)r->tokens / (double)(e + 1) / total;
        const double more = e ? 0 : (double)r->experts; /* the first has the rest that rounding down left
                                                         * over */
        ck_assert((double)r->sorted[e] > share - 1.001 && (double)r->sorted[e] < share + 0.001 + more);
    }
}

static void expect_routing(const struct routing *r, const char *choice)
{
    const int64_t last = r->experts - 1, fewer = r->tokens < r->experts ? r->tokens : r->experts;
    if (strcmp(choice, "even") == 0)
        ck_assert_int_le(r->sorted[0] - r->sorted[last], 1);
    if (strcmp(choice, "zipf") == 0)
        expect_zipf(r);
    if (strcmp(choice, "one") == 0)
        ck_assert_int_eq(r->used, 1);
    if (strcmp(choice, "empty") == 0 && r->experts > 2)
        ck_assert(r->rows[0] == 0 && r->rows[last] == 0 && r->used <= (r->experts + 1) / 2);
    if (strcmp(choice, "empty") == 0 && r->experts == 2)
        ck_assert_int_eq(r->used, 1);
    if (strcmp(choice, "single") == 0) {
        ck_assert_int_eq(r->used, fewer);
        for (int64_t e = 1; e < fewer; e++)
            ck_assert_int_eq(r->sorted[e], 1);
    }
}

START_TEST(rows_are_routed_as_the_choice_says)
{
    static const int shapes[][2] = {{1, 1},   {1, 9},    {2, 2},    {7, 256},
                                    {100, 3}, {1000, 8}, {999, 64}, {500, 1}};
    for (const char *const *choice = oracle_choices("moe_up", "routing"); *choice; choice++)
        for (int s = 0; s < 8; s++)
            for (int content = 0; content < 3; content++) {
                char line[128];
                struct oracle o;
                struct routing r;
                snprintf(line, sizeof line,
                         "tokens=%d hidden_dim=1 inter_dim=1 experts=%d routing=%s "
                         "seed=%d",
                         shapes[s][0], shapes[s][1], *choice, s);
                oracle_open(&o, "moe_up", line, content, 0);
                read_routing(&o, &r);
                expect_routing(&r, *choice);
                oracle_close(&o);
            }
}
END_TEST

/* The expert with all rows, the one with many, and the two of an `empty` pair may be any. */
START_TEST(every_expert_has_its_turn)
{
    int first[3] = {0}, odd = 0, low = 0, high = 0;
    static const char *const chosen[] = {"one", "zipf", "single"};
    for (int seed = 0; seed < 200; seed++) {
        struct oracle o;
        struct routing r;
        char line[128];
        for (int c = 0; c < 3; c++) {
            snprintf(line, sizeof line, "tokens=64 hidden_dim=1 inter_dim=1 experts=4 routing=%s seed=%d",
                     chosen[c], seed);
            oracle_open(&o, "moe_up", line, 0, 0);
            read_routing(&o, &r);
            first[c] += r.rows[0] == r.sorted[0];
            oracle_close(&o);
        }
        snprintf(line, sizeof line, "tokens=1000 hidden_dim=1 inter_dim=1 experts=2 routing=odd seed=%d",
                 seed);
        oracle_open(&o, "moe_up", line, 0, 0);
        odd += oracle_i32(&o, 1, 1) % 2;
        low += oracle_i32(&o, 1, 1) < 100;
        high += oracle_i32(&o, 1, 1) > 900;
        oracle_close(&o);
    }
    for (int c = 0; c < 3; c++)
        ck_assert_msg(abs(first[c] - 50) < 25, "%s: the first of four %d times in 200", chosen[c], first[c]);
    ck_assert(abs(odd - 100) < 35 && abs(low - 20) < 15 && abs(high - 20) < 15);
}
END_TEST

/* --- topk --- */

START_TEST(no_row_to_be_ordered_holds_a_nan)
{
    for (const char *const *input = oracle_inputs("topk"); *input; input++)
        for (int seed = 0; seed < 6; seed++) {
            struct oracle o;
            char line[128];
            oracle_line(line, sizeof line, seed % 2 ? "rows=300 n=3 k=1" : "rows=8 n=5000 k=2", *input, seed);
            oracle_open(&o, "topk", line, seed % 3, 0);
            int64_t nan = 0, negative = 0;
            for (int64_t i = 0; i < o.bytes[0] / 4; i++) {
                nan += isnan(oracle_f32(&o, 0, i));
                negative += oracle_f32(&o, 0, i) < 0;
            }
            ck_assert_int_eq(nan, 0);
            ck_assert(strcmp(*input, "negative") != 0 || negative == o.bytes[0] / 4);
            oracle_close(&o);
        }
}
END_TEST

/* --- gemm_w4a16 --- */

struct weights {
    double low, high, zero_share; /* zero points; the share of weights that are 0 */
};

static struct weights read_weights(const struct oracle *o)
{
    const int64_t n = o->instance.extent[1], k = o->instance.extent[2], group = o->instance.extent[3];
    struct weights w = {INFINITY, -INFINITY, 0};
    bool whole = true;
    for (int64_t l = 0; l < k; l++)
        for (int64_t j = 0; j < n; j++) {
            const double zero = oracle_bf16(o, 3, l / group * n + j);
            whole &= zero == rint(zero);
            w.low = fmin(w.low, zero);
            w.high = fmax(w.high, zero);
            w.zero_share += oracle_nibble(o, 1, l, j, n) == zero;
        }
    ck_assert(whole && w.low >= 0 && w.high <= 15);
    w.zero_share /= (double)(k * n);
    return w;
}

static void expect_zeros(const char *choice, const char *input, int content)
{
    struct oracle o;
    char line[160], shape[96];
    snprintf(shape, sizeof shape, "m=1 n=70 k=290 group=32 zero=%s", choice);
    oracle_line(line, sizeof line, shape, input, 9);
    oracle_open(&o, "gemm_w4a16", line, content, 0);
    const struct weights w = read_weights(&o);
    const bool equal = strcmp(choice, "equal") == 0;
    if (strcmp(choice, "drawn") == 0)
        ck_assert(w.low == 6 && w.high == 9);
    if (strcmp(choice, "spread") == 0)
        ck_assert(w.low == 0 && w.high == 15);
    if (strcmp(choice, "low") == 0)
        ck_assert(w.low == 0 && w.high == 0);
    if (strcmp(choice, "high") == 0)
        ck_assert(w.low == 15 && w.high == 15);
    ck_assert_msg(equal ? w.low == w.high && fabs(w.zero_share - 0.883) < 0.02 : w.zero_share < 0.3,
                  "%s: %g of the weights are 0", line, w.zero_share);
    oracle_close(&o);
}

START_TEST(zero_points_are_integers_of_four_bits_as_chosen)
{
    for (const char *const *choice = oracle_choices("gemm_w4a16", "zero"); *choice; choice++)
        for (const char *const *input = oracle_inputs("gemm_w4a16"); *input; input++)
            for (int content = 0; content < 3; content++)
                expect_zeros(*choice, *input, content);
}
END_TEST

/* --- kda --- */

/* |k|^2 of all tokens. */
static double largest_key(const struct oracle *o)
{
    const int64_t dk = o->instance.extent[3], keys = o->bytes[1] / 2 / dk;
    double largest = 0;
    for (int64_t t = 0; t < keys; t++) {
        double square = 0;
        for (int64_t i = 0; i < dk; i++)
            square += oracle_bf16(o, 1, t * dk + i) * oracle_bf16(o, 1, t * dk + i);
        largest = fmax(largest, square);
    }
    return largest;
}

/* At every legal dk. Above 2 / beta a token stretches the state along its key. A few may; a bound on the
 * state's error that grew with each of them would be useless. */
START_TEST(keys_are_short)
{
    static const int sizes[] = {64, 96, 128, 192};
    for (const char *const *input = oracle_inputs("kda"); *input; input++)
        for (int s = 0; s < 4; s++) {
            struct oracle o;
            char line[160], shape[96];
            snprintf(shape, sizeof shape, "batch=1 t=1000 heads=2 dk=%d dv=64", sizes[s]);
            oracle_line(line, sizeof line, shape, *input, s);
            oracle_open(&o, "kda", line, 0, 0);
            const double largest = largest_key(&o);
            ck_assert_msg(largest < 2.3 && largest > 0.3, "%s: |k|^2 reaches %g", line, largest);
            oracle_close(&o);
        }
}
END_TEST

/* The most that any channel grows over any stretch of tokens, as a power of e. */
static double largest_growth(const struct oracle *o)
{
    const int64_t steps = o->instance.extent[1], heads = o->instance.extent[2], dk = o->instance.extent[3];
    double most = 0;
    for (int64_t channel = 0; channel < heads * dk; channel++) {
        double here = 0;
        for (int64_t t = 0; t < steps; t++) {
            here = fmax(0, here + oracle_f32(o, 3, t * heads * dk + channel));
            most = fmax(most, here);
        }
    }
    return most;
}

START_TEST(no_channel_grows_beyond_bounds_however_long_the_sequence)
{
    static const int lengths[] = {1, 70, 201, 1000, 16384};
    for (const char *const *decay = oracle_choices("kda", "decay"); *decay; decay++)
        for (int l = 0; l < 5; l++) {
            struct oracle o;
            char line[160];
            snprintf(line, sizeof line, "batch=1 t=%d heads=1 dk=64 dv=64 decay=%s seed=%d", lengths[l],
                     *decay, l);
            oracle_open(&o, "kda", line, 0, 0);
            const double growth = largest_growth(&o);
            const bool grows = strcmp(*decay, "growth") == 0 || strcmp(*decay, "mixed") == 0;
            ck_assert_msg(growth < 10.1, "%s: e^%g", line, growth);
            ck_assert_msg(!grows || lengths[l] < 200 || growth > 2, "%s: e^%g", line, growth);
            oracle_close(&o);
        }
}
END_TEST

TCase *fill_structure_case(void)
{
    TCase *structure = tcase_create("structure");
    tcase_add_test(structure, rows_are_routed_as_the_choice_says);
    tcase_add_test(structure, every_expert_has_its_turn);
    tcase_add_test(structure, no_row_to_be_ordered_holds_a_nan);
    tcase_add_test(structure, zero_points_are_integers_of_four_bits_as_chosen);
    tcase_add_test(structure, keys_are_short);
    tcase_add_test(structure, no_channel_grows_beyond_bounds_however_long_the_sequence);
    tcase_set_timeout(structure, 60);
    return structure;
}
