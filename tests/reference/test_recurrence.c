/* The oracle of a recurrence. Its witness is compared with the bare formula column by column, and its
 * enclosures with the witness everywhere. The judge must reject a state that loses digits between tokens. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/candidate.h"
#include "exact.h"
#include "share.h"

TCase *kda_case(void);

static const char *const inputs[] = {"normal", "normalized", "onehot", "wide", "integers"};
static const char *const decays[] = {"published", "long", "strong", "growth", "mixed", "slow", "still"};
static const char *const betas[] = {"sigmoid", "zero", "one", "mixed"};
enum { INPUTS = 5, DECAYS = 7, BETAS = 4 };

/* Every pair of two choices is among these combinations of a decay and an input. */
static void open_choices(struct oracle *o, const char *shape, int decay, int input, int content)
{
    char line[256];
    snprintf(line, sizeof line, "%s decay=%s beta=%s input=%s seed=%d", shape, decays[decay],
             betas[(decay + input) % BETAS], inputs[input], 31 + decay);
    oracle_open(o, "kda", line, content, 0);
}

/* --- the witness --- */

/* The questions about one element, as in test_reference.c. One is its double. The others are whether it lies
 * within 2^-85 of its size of the exact value, and no nearer to that double. */
struct questions {
    struct judged near, beyond;
    double room;
};

enum { ASKED = 70 };

static void ask(mpfr_t exact, double reach, int64_t index, struct questions *q)
{
    q->near = (struct judged){.index = index, .mid = mpfr_get_d(exact, MPFR_RNDN)};
    mpfr_sub_d(exact, exact, q->near.mid, MPFR_RNDN);
    const double distance = fabs(mpfr_get_d(exact, MPFR_RNDN));
    q->room = reach * 0x1p-85 + 0x1p-1000;
    q->beyond = q->near;
    q->near.rad = distance + q->room;
    q->beyond.rad = distance - q->room;
}

/* The questions of one column go together, and cost one pass of the witness over its steps. */
static void expect_column(const struct oracle *o, const struct questions *question, int count)
{
    const struct judged *list[2 * ASKED];
    struct witnessed answer[2 * ASKED];
    for (int i = 0; i < count; i++) {
        list[2 * i] = &question[i].near;
        list[2 * i + 1] = &question[i].beyond;
    }
    ck_assert_int_eq(o->reference->witness_list(&o->request, list, answer, 2 * count), 0);
    for (int i = 0; i < count; i++) {
        const struct questions *q = &question[i];
        ck_assert_msg(fabs(answer[2 * i].value - q->near.mid) <= q->room && answer[2 * i].inside,
                      "element %lld: witness %a, exact %a", (long long)q->near.index, answer[2 * i].value,
                      q->near.mid);
        ck_assert(q->beyond.rad <= 0 || !answer[2 * i + 1].inside);
    }
}

static void compare_column(const struct oracle *o, int64_t batch, int64_t head, int64_t column)
{
    const int64_t steps = o->instance.extent[1], stride = steps / ASKED + 1;
    struct questions question[ASKED];
    struct exact_column exact;
    int count = 0;
    mpfr_t value;
    mpfr_init2(value, EXACT_BITS);
    exact_column_open(&exact, o, batch, head, column);
    for (int64_t t = 0; t < steps; t++) {
        double reach;
        const int64_t index = exact_column_next(&exact, value, &reach);
        if ((steps - 1 - t) % stride == 0)
            ask(value, reach, index, &question[count++]);
    }
    expect_column(o, question, count);
    exact_column_close(&exact);
    mpfr_clear(value);
}

/* The last column, and one in between. */
static void compare_columns(const struct oracle *o)
{
    const int64_t batch = o->instance.extent[0], heads = o->instance.extent[2];
    const int64_t dv = o->instance.extent[4];
    compare_column(o, batch - 1, heads - 1, dv - 1);
    compare_column(o, batch / 2, heads / 3, dv / 2 + 1);
}

START_TEST(the_witness_follows_the_formula_in_every_class)
{
    for (int input = 0; input < INPUTS; input++) {
        struct oracle o;
        if (!share_has(input + _i, 2))
            continue;
        open_choices(&o, "batch=2 t=66 heads=3 dk=64 dv=96", _i, input, 0);
        compare_columns(&o);
        oracle_close(&o);
    }
}
END_TEST

START_TEST(the_witness_follows_the_formula_at_the_edges)
{
    static const char *const shapes[] = {
        "batch=1 t=1 heads=1 dk=64 dv=64", "batch=1 t=2 heads=4 dk=192 dv=64",
        "batch=3 t=64 heads=1 dk=96 dv=192", "batch=1 t=129 heads=2 dk=64 dv=128"};
    for (int i = 0; i < 4; i++) {
        struct oracle o;
        open_choices(&o, shapes[i], i, i, 1);
        compare_columns(&o);
        oracle_close(&o);
    }
}
END_TEST

/* Above 2e5 terms the rows of the state are dealt to a team of threads. */
START_TEST(the_witness_of_a_long_sequence_is_the_same_on_two_threads)
{
    struct oracle o;
    open_choices(&o, "batch=1 t=160 heads=1 dk=64 dv=64", 0, 0, 0);
    ck_assert(o.reference->witness_cost(&o.request) > 2e5);
    omp_set_num_threads(2);
    compare_column(&o, 0, 0, 63);
    oracle_close(&o);
}
END_TEST

/* --- enclosures --- */

/* The enclosures of all elements; small shapes only. */
static struct judged *enclose_all(struct oracle *o)
{
    static struct judge_report report;
    struct judged *all = malloc((size_t)o->elements * sizeof *all);
    ck_assert_ptr_nonnull(all);
    for (int64_t i = 0; i < o->elements; i += JUDGE_SAMPLES) {
        for (int s = 0; s < JUDGE_SAMPLES; s++)
            o->request.sample[s] = i + s < o->elements ? i + s : -1;
        oracle_judge(o, &report);
        for (int s = 0; s < JUDGE_SAMPLES && i + s < o->elements; s++)
            all[i + s] = report.sample[s];
    }
    return all;
}

static void expect_all_inside(struct oracle *o, struct judged *all, bool inside, const char *what)
{
    const struct judged **list = malloc((size_t)o->elements * sizeof *list);
    struct witnessed *answer = malloc((size_t)o->elements * sizeof *answer);
    char line[256];
    config_format(&o->config, line, sizeof line);
    ck_assert(list && answer);
    for (int64_t i = 0; i < o->elements; i++)
        list[i] = &all[i];
    ck_assert_int_eq(o->reference->witness_list(&o->request, list, answer, (int)o->elements), 0);
    for (int64_t i = 0; i < o->elements; i++) {
        ck_assert_int_eq(all[i].index, i);
        ck_assert_msg(answer[i].inside == inside, "%s, element %lld of %s: %a +- %a, witness %a", what,
                      (long long)i, line, all[i].mid, all[i].rad, answer[i].value);
    }
    free(list);
    free(answer);
}

/* The recurrence does not depend on the number of channels. A small number allows questions about all
 * elements. The last value of `narrow` is the greatest radius, as a share of the allowed error. */
START_TEST(every_enclosure_of_a_recurrence_holds_its_witness)
{
    static const char *const shapes[] = {"batch=2 t=70 heads=2 dk=5 dv=2", "batch=1 t=3 heads=2 dk=9 dv=33"};
    const double narrow = 0x1p-16;
    for (int input = 0; input < INPUTS; input++)
        for (int s = 0; s < 2; s++) {
            struct oracle o;
            open_choices(&o, shapes[s], _i, input, 1);
            struct judged *all = enclose_all(&o);
            expect_all_inside(&o, all, true, "enclosure");
            for (int64_t i = 0; i < o.elements; i++) {
                ck_assert_msg(all[i].rad <= narrow * all[i].allowed, "element %lld, %s: radius %g of %g",
                              (long long)i, inputs[input], all[i].rad, all[i].allowed);
                all[i].mid += 4 * all[i].rad + fabs(all[i].mid) * 1e-13 + 0x1p-1000;
            }
            expect_all_inside(&o, all, false, "an enclosure beside the value");
            free(all);
            oracle_close(&o);
        }
}
END_TEST

/* Also where keys are longest and updates are made in full. */
START_TEST(hardly_an_element_of_a_long_sequence_stays_open)
{
    static struct judge_report report;
    struct oracle o;
    if (_i < DECAYS)
        open_choices(&o, "batch=1 t=1500 heads=1 dk=64 dv=64", _i, _i % 2, 0);
    else
        oracle_open(&o, "kda", "batch=1 t=2000 heads=1 dk=192 dv=32 decay=growth beta=one seed=1", 0, 0);
    oracle_honest(&o);
    oracle_judge(&o, &report);
    ck_assert_int_eq(report.wrong, 0);
    ck_assert_msg(report.open <= o.elements / 10000, "%lld of %lld open", (long long)report.open,
                  (long long)o.elements);
    for (int64_t i = 0; i < report.open && i < JUDGE_OPEN; i++)
        ck_assert(oracle_witness(&o, &report.opens[i]).ok);
    oracle_close(&o);
}
END_TEST

/* A session judges the whole, and for the audit one column again. */
START_TEST(a_column_alone_has_the_same_enclosures_as_in_company)
{
    struct oracle o;
    open_choices(&o, "batch=2 t=70 heads=2 dk=64 dv=96", 4, 0, 0);
    for (int64_t pick = 0; pick < 20; pick++) {
        const int64_t near = (o.elements - 1) * pick / 19;
        const int64_t index = o.reference->same_row(&o.request, near, (uint64_t)pick * 7919);
        ck_assert_int_eq(o.reference->row_of(&o.request, index), o.reference->row_of(&o.request, near));
        ck_assert_int_le(index, near);
        const struct judged whole = oracle_enclosure(&o, index);
        o.request.only_row = o.reference->row_of(&o.request, near) + 1;
        const struct judged alone = oracle_enclosure(&o, index);
        o.request.only_row = 0;
        ck_assert(whole.mid == alone.mid && whole.rad == alone.rad && whole.allowed == alone.allowed);
    }
    oracle_close(&o);
}
END_TEST

/* In one request elements of a column share its state, and elements of another must not: each here is a later
 * step than the one before it. */
START_TEST(elements_of_several_columns_may_be_asked_together)
{
    enum { COUNT = 6 };
    struct oracle o;
    struct judged asked[COUNT];
    const struct judged *list[COUNT];
    struct witnessed answer[COUNT];
    open_choices(&o, "batch=1 t=12 heads=1 dk=64 dv=64", 0, 0, 0);
    for (int i = 0; i < COUNT; i++) {
        asked[i] = (struct judged){.index = 2 * i * 64 + i}; /* step 2 i of column i */
        list[COUNT - 1 - i] = &asked[i];
    }
    ck_assert_int_eq(o.reference->witness_list(&o.request, list, answer, COUNT), 0);
    for (int i = 0; i < COUNT; i++)
        ck_assert(answer[COUNT - 1 - i].value == oracle_witness(&o, &asked[i]).value);
    oracle_close(&o);
}
END_TEST

/* --- the state between tokens --- */

static float shortened(float x, bool short_state)
{
    return short_state ? bf16_to_float(float_to_bf16(x)) : x;
}

/* One head, token by token in fp32; with `short_state` the state is stored as bf16 in between. Outputs are
 * taken times `factor`. */
static void scan(struct oracle *o, bool short_state, float factor)
{
    enum { DK = 64, DV = 64 };
    static float state[DK][DV];
    memset(state, 0, sizeof state);
    for (int64_t t = 0; t < o->instance.extent[1]; t++) {
        float seen[DV] = {0}, out[DV] = {0};
        for (int i = 0; i < DK; i++)
            for (int j = 0; j < DV; j++) {
                state[i][j] *= expf((float)oracle_f32(o, 3, t * DK + i));
                seen[j] += (float)oracle_bf16(o, 1, t * DK + i) * state[i][j];
            }
        for (int i = 0; i < DK; i++)
            for (int j = 0; j < DV; j++) {
                const float v = (float)oracle_bf16(o, 2, t * DV + j), beta = (float)oracle_bf16(o, 4, t);
                const float update = (float)oracle_bf16(o, 1, t * DK + i) * (beta * (v - seen[j]));
                state[i][j] = shortened(state[i][j] + update, short_state);
                out[j] += (float)oracle_bf16(o, 0, t * DK + i) / 8 * state[i][j];
            }
        for (int j = 0; j < DV; j++)
            oracle_put(o, t * DV + j, out[j] * factor);
    }
}

static void expect_state(const char *decay, const char *beta, const char *input, bool short_state, bool right)
{
    static struct judge_report report;
    struct oracle o;
    char line[256];
    snprintf(line, sizeof line, "batch=1 t=1000 heads=1 dk=64 dv=64 decay=%s beta=%s input=%s seed=3", decay,
             beta, input);
    oracle_open(&o, "kda", line, 0, 0);
    scan(&o, short_state, 1);
    oracle_judge(&o, &report);
    ck_assert_msg((report.wrong == 0) == right, "%s state, %s: %lld wrong, worst %g",
                  short_state ? "a bf16" : "an fp32", beta, (long long)report.wrong, report.worst_ratio);
    ck_assert(right || !oracle_witness(&o, &report.worst).ok);
    ck_assert(!right || report.fits == 0);
    oracle_close(&o);
}

/* Channels that no key writes remember; where all are written, full updates forget soon. */
START_TEST(a_state_kept_in_bf16_is_rejected_where_the_memory_is_long)
{
    for (int b = 0; b < BETAS; b++) {
        const bool written = strcmp(betas[b], "zero") != 0;
        expect_state("slow", betas[b], "normal", true, !written);
        expect_state("still", betas[b], "wide", true, !written);
    }
}
END_TEST

START_TEST(a_state_kept_in_fp32_is_accepted)
{
    for (int i = 0; i < INPUTS; i++)
        expect_state(decays[(i + 1) % DECAYS], betas[(i + 2) % BETAS], inputs[i], false, true);
}
END_TEST

/* --- integers --- */

/* Where everything is exact, only the rounded exact value is accepted. */
static void expect_integers(const char *beta, float factor, bool right)
{
    static struct judge_report report;
    struct oracle o;
    char line[256];
    snprintf(line, sizeof line,
             "batch=1 t=140 heads=1 dk=64 dv=64 decay=strong beta=%s input=integers seed=5", beta);
    oracle_open(&o, "kda", line, 0, 0);
    ck_assert_int_eq(o.instance.data, DATA_EXACT);
    scan(&o, false, factor);
    oracle_judge(&o, &report);
    ck_assert_int_eq(report.open, 0);
    ck_assert_msg((report.wrong == 0) == right, "%s, times %a: %lld wrong", beta, (double)factor,
                  (long long)report.wrong);
    oracle_close(&o);
}

START_TEST(integers_leave_no_room_beside_rounding)
{
    static const float factors[] = {1 + 0x1p-7f, 1 + 0x1p-9f, 1 - 0x1p-10f};
    for (int b = 0; b < BETAS; b++) {
        expect_integers(betas[b], 1, true);
        for (int f = 0; f < 3; f++)
            expect_integers(betas[b], factors[f], strcmp(betas[b], "zero") == 0);
    }
}
END_TEST

TCase *kda_case(void)
{
    TCase *kda = tcase_create("kda");
    tcase_add_loop_test(kda, the_witness_follows_the_formula_in_every_class, 0, DECAYS);
    tcase_add_test(kda, the_witness_follows_the_formula_at_the_edges);
    tcase_add_test(kda, the_witness_of_a_long_sequence_is_the_same_on_two_threads);
    tcase_add_loop_test(kda, every_enclosure_of_a_recurrence_holds_its_witness, 0, DECAYS);
    tcase_add_loop_test(kda, hardly_an_element_of_a_long_sequence_stays_open, 0, DECAYS + 1);
    tcase_add_test(kda, a_column_alone_has_the_same_enclosures_as_in_company);
    tcase_add_test(kda, elements_of_several_columns_may_be_asked_together);
    tcase_add_test(kda, a_state_kept_in_bf16_is_rejected_where_the_memory_is_long);
    tcase_add_test(kda, a_state_kept_in_fp32_is_accepted);
    tcase_add_test(kda, integers_leave_no_room_beside_rounding);
    tcase_set_timeout(kda, 120);
    return kda;
}
