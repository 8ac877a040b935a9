/* topk against qsort: the expected value of every element. The oracle's verdict on outputs with faults of
 * every kind is compared with a verdict by the definition. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/random/pcg.h"
#include "oracle.h"

TCase *topk_case(void);

enum { X, VALUES, INDICES };
#define POISON64 0x7fa57fa57fa57fa5

static const char *const shapes[] = {"rows=1 n=1 k=1",       "rows=40 n=1 k=1",      "rows=9 n=7 k=7",
                                     "rows=11 n=33 k=1",     "rows=6 n=100 k=13",    "rows=7 n=64 k=64",
                                     "rows=1 n=1029 k=1000", "rows=1 n=4099 k=4096", "rows=5 n=300 k=32",
                                     "rows=4 n=129 k=128"};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static struct judge_report report;

static void open_topk(struct oracle *o, const char *shape, const char *input, int seed)
{
    char line[256];
    oracle_line(line, sizeof line, shape, input, seed);
    oracle_open(o, "topk", line, 0, 0);
}

static float *value_at(const struct oracle *o, int64_t i)
{
    return (float *)o->tensor[VALUES] + i;
}

static int64_t *index_at(const struct oracle *o, int64_t i)
{
    return (int64_t *)o->tensor[INDICES] + i;
}

static float x_at(const struct oracle *o, int64_t i)
{
    return ((const float *)o->tensor[X])[i];
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* --- by the definition --- */

static int descending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* The wanted values, [rows, k]. */
static float *sorted_values(const struct oracle *o)
{
    const int64_t rows = o->instance.extent[0], n = o->instance.extent[1], k = o->instance.extent[2];
    float *wanted = malloc((size_t)(rows * k) * sizeof *wanted), *row = malloc((size_t)n * sizeof *row);
    ck_assert(wanted && row);
    for (int64_t r = 0; r < rows; r++) {
        memcpy(row, (const float *)o->tensor[X] + r * n, (size_t)n * sizeof *row);
        qsort(row, (size_t)n, sizeof *row, descending);
        memcpy(wanted + r * k, row, (size_t)k * sizeof *row);
    }
    free(row);
    return wanted;
}

static bool unwritten(const struct oracle *o, int64_t i)
{
    return bits_of(*value_at(o, i)) == 0x7fa57fa5 || *index_at(o, i) == POISON64;
}

/* For all elements; `named` counts how often each place of a row is named. */
static bool *elements_right(const struct oracle *o, const float *wanted)
{
    const int64_t n = o->instance.extent[1], k = o->instance.extent[2];
    bool *right = calloc((size_t)o->elements, sizeof *right);
    int *named = calloc((size_t)n, sizeof *named);
    ck_assert(right && named);
    for (int64_t row = 0; row < o->elements / k; row++) {
        memset(named, 0, (size_t)n * sizeof *named);
        for (int64_t i = row * k; i < row * k + k; i++)
            if (*index_at(o, i) >= 0 && *index_at(o, i) < n)
                named[*index_at(o, i)]++;
        for (int64_t i = row * k; i < row * k + k; i++) {
            const int64_t index = *index_at(o, i);
            right[i] = !unwritten(o, i) && *value_at(o, i) == wanted[i] && index >= 0 && index < n &&
                       named[index] == 1 && bits_of(x_at(o, row * n + index)) == bits_of(*value_at(o, i));
        }
    }
    free(named);
    return right;
}

/* The whole report, and the witness of the element and its neighbours. */
static void expect_verdicts(struct oracle *o, const float *wanted, int64_t near, const char *fault)
{
    bool *right = elements_right(o, wanted);
    int64_t wrong = 0, missing = 0, first = -1, last = -1;
    char line[256];
    config_format(&o->config, line, sizeof line);
    for (int64_t i = 0; i < o->elements; i++)
        if (!right[i]) {
            wrong++;
            missing += unwritten(o, i);
            first = first < 0 ? i : first;
            last = i;
        }
    oracle_judge(o, &report);
    ck_assert_msg(report.wrong == wrong && report.unwritten == missing,
                  "%s near %lld of %s: %lld "
                  "wrong, %lld unwritten, by the definition %lld, %lld",
                  fault, (long long)near, line, (long long)report.wrong, (long long)report.unwritten,
                  (long long)wrong, (long long)missing);
    ck_assert_int_eq(report.first_wrong, first);
    ck_assert_int_eq(report.last_wrong, last);
    ck_assert(report.open == 0 && report.fits == (wrong ? 1 : 0));
    ck_assert(wrong == 0 || (isinf(report.worst_ratio) && !right[report.worst.index] &&
                             !oracle_witness(o, &report.worst).ok));
    for (int64_t i = near - 1; i <= near + 1; i++) {
        const struct judged e = {.index = (i + o->elements) % o->elements};
        ck_assert(oracle_witness(o, &e).ok == right[e.index]);
    }
    free(right);
}

/* --- honest outputs --- */

/* A hundred elements of every output (fewer elements: again and again). The enclosure and the witness must
 * want the same value. Elements of a row in one request share its witness. */
static void expect_wanted(struct oracle *o, const float *wanted)
{
    enum { ASKED = 100 };
    struct judged asked[ASKED];
    const struct judged *list[ASKED];
    struct witnessed witness[ASKED];
    for (int a = 0; a < ASKED; a += JUDGE_SAMPLES) {
        for (int s = 0; s < JUDGE_SAMPLES; s++)
            o->request.sample[s] = (o->elements - 1) * (a + s) / (ASKED - 1);
        oracle_judge(o, &report);
        for (int s = 0; s < JUDGE_SAMPLES; s++) {
            ck_assert_int_eq(report.sample[s].index, o->request.sample[s]);
            asked[a + s] = report.sample[s];
            list[a + s] = &asked[a + s];
        }
    }
    ck_assert_int_eq(o->reference->witness_list(&o->request, list, witness, ASKED), 0);
    for (int a = 0; a < ASKED; a++) {
        const struct judged *e = &asked[a];
        ck_assert_msg(e->mid == wanted[e->index] && e->rad == 0 && e->allowed == 0,
                      "element %lld: %g wanted, not %g", (long long)e->index, e->mid, wanted[e->index]);
        ck_assert(witness[a].value == e->mid && witness[a].inside && witness[a].ok);
    }
}

START_TEST(the_values_wanted_are_those_of_qsort_in_every_class)
{
    for (const char *const *input = oracle_inputs("topk"); *input; input++) {
        struct oracle o;
        open_topk(&o, shapes[_i], *input, 3);
        float *wanted = sorted_values(&o);
        expect_verdicts(&o, wanted, 0, "nothing written");
        oracle_honest(&o);
        expect_wanted(&o, wanted);
        expect_verdicts(&o, wanted, o.elements / 2, "no fault");
        ck_assert_int_eq(report.wrong, 0);
        free(wanted);
        oracle_close(&o);
    }
}
END_TEST

/* Above 4e5 columns a row is shared by a team of threads. */
START_TEST(a_very_long_row_is_shared_by_two_threads)
{
    struct oracle o;
    open_topk(&o, "rows=1 n=400003 k=100", _i ? "ties" : "normal", 5);
    ck_assert(o.reference->witness_cost(&o.request) > 2e5);
    float *wanted = sorted_values(&o);
    oracle_honest(&o);
    *index_at(&o, 50) = *index_at(&o, 49);
    omp_set_num_threads(2);
    expect_verdicts(&o, wanted, 50, "a duplicate");
    ck_assert_int_eq(report.wrong, 2);
    free(wanted);
    oracle_close(&o);
}
END_TEST

/* --- faults --- */

enum fault {
    SWAP_INDICES,
    SWAP_BOTH,
    DUPLICATE,
    NEIGHBOUR,
    EQUAL_BITS,
    ABOVE,
    BELOW,
    SIGN,
    OUTSIDE,
    NEGATIVE,
    VALUE_POISON,
    INDEX_POISON,
    BOTH_POISON,
    NOT_A_NUMBER,
    INFINITE,
    TIE_MISSING,
    FAULTS
};
static const char *const fault_names[] = {"indices swapped",
                                          "elements swapped",
                                          "an index twice",
                                          "the next place",
                                          "a place of equal bits",
                                          "a value above",
                                          "a value below",
                                          "the sign changed",
                                          "an index of n",
                                          "a negative index",
                                          "a value unwritten",
                                          "an index unwritten",
                                          "an element unwritten",
                                          "NaN",
                                          "infinity",
                                          "a tie missing"};

/* A place of row r that no element names, with the bits of element i; -1: none. */
static int64_t free_place(const struct oracle *o, int64_t i)
{
    const int64_t n = o->instance.extent[1], k = o->instance.extent[2], row = i / k;
    for (int64_t place = 0; place < n; place++) {
        int64_t j = row * k;
        while (j < row * k + k && *index_at(o, j) != place)
            j++;
        if (j == row * k + k && bits_of(x_at(o, row * n + place)) == bits_of(*value_at(o, i)))
            return place;
    }
    return -1;
}

static void swap(void *a, void *b, size_t size)
{
    char kept[8];
    memcpy(kept, a, size);
    memcpy(a, b, size);
    memcpy(b, kept, size);
}

/* Breaks element i; `other` is another of its row, or i itself in a row of one. */
static void plant(struct oracle *o, enum fault fault, int64_t i, int64_t other)
{
    const int64_t n = o->instance.extent[1], k = o->instance.extent[2], place = free_place(o, i);
    const int64_t poison = POISON64; /* and its lower half, which belongs to a value */
    float *value = value_at(o, i);
    int64_t *index = index_at(o, i);
    switch (fault) {
    case SWAP_INDICES: swap(index, index_at(o, other), sizeof *index); break;
    case SWAP_BOTH:
        swap(index, index_at(o, other), sizeof *index);
        swap(value, value_at(o, other), sizeof *value);
        break;
    case DUPLICATE: *index = *index_at(o, other); break;
    case NEIGHBOUR: *index = (*index + 1) % n; break;
    case EQUAL_BITS: *index = place < 0 ? *index : place; break;
    case ABOVE: *value = nextafterf(*value, INFINITY); break;
    case BELOW: *value = nextafterf(*value, -INFINITY); break;
    case SIGN: *value = -*value; break;
    case OUTSIDE: *index = n; break;
    case NEGATIVE: *index -= n; break;
    case VALUE_POISON: memcpy(value, &poison, sizeof *value); break;
    case INDEX_POISON: *index = POISON64; break;
    case BOTH_POISON:
        memcpy(value, &poison, sizeof *value);
        *index = POISON64;
        break;
    case NOT_A_NUMBER: *value = NAN; break;
    case INFINITE: *value = INFINITY; break;
    default: /* the next value in place of this one, all the way down */
        for (int64_t j = i; (j + 1) % k; j++) {
            *value_at(o, j) = *value_at(o, j + 1);
            *index_at(o, j) = *index_at(o, j + 1);
        }
    }
}

static void try_fault(struct oracle *o, const float *wanted, enum fault fault, int64_t i, int64_t other)
{
    void *values = malloc((size_t)o->bytes[VALUES]), *indices = malloc((size_t)o->bytes[INDICES]);
    ck_assert(values && indices);
    memcpy(values, o->tensor[VALUES], (size_t)o->bytes[VALUES]);
    memcpy(indices, o->tensor[INDICES], (size_t)o->bytes[INDICES]);
    plant(o, fault, i, other);
    expect_verdicts(o, wanted, i, fault_names[fault]);
    memcpy(o->tensor[VALUES], values, (size_t)o->bytes[VALUES]);
    memcpy(o->tensor[INDICES], indices, (size_t)o->bytes[INDICES]);
    free(values);
    free(indices);
}

/* Faults at the ends of the output and anywhere, several of each kind. */
static void try_faults(const char *shape, const char *input, int rounds)
{
    struct oracle o;
    struct pcg *pcg = pcg_new(9, "test/topk");
    open_topk(&o, shape, input, 6);
    float *wanted = sorted_values(&o);
    const int64_t k = o.instance.extent[2];
    oracle_honest(&o);
    for (int round = 0; round < rounds; round++)
        for (int fault = 0; fault < FAULTS; fault++) {
            const int64_t i = round == 0   ? o.elements - 1
                              : round == 1 ? 0
                                           : (int64_t)pcg_below(pcg, (uint64_t)o.elements);
            const int64_t other = i / k * k + (int64_t)pcg_below(pcg, (uint64_t)k);
            try_fault(&o, wanted, (enum fault)fault, i, other);
        }
    free(wanted);
    oracle_close(&o);
    pcg_free(pcg);
}

START_TEST(every_fault_gets_the_verdict_of_the_definition)
{
    for (const char *const *input = oracle_inputs("topk"); *input; input++) {
        try_faults("rows=3 n=40 k=9", *input, 8);
        try_faults("rows=2 n=12 k=12", *input, 5);
        try_faults("rows=5 n=65 k=1", *input, 4);
        try_faults("rows=2 n=700 k=300", *input, 3);
    }
}
END_TEST

/* --- worked examples --- */

/* x = {5, 1, 5, -0, 0, 5}, the three largest and then all six. */
static void judge_example(int64_t k, const float *values, const int64_t *indices, int64_t wrong)
{
    static const float x[] = {5, 1, 5, -0.0f, 0, 5};
    struct oracle o;
    open_topk(&o, k == 3 ? "rows=1 n=6 k=3" : "rows=1 n=6 k=6", "normal", 1);
    memcpy(o.tensor[X], x, sizeof x);
    memcpy(o.tensor[VALUES], values, (size_t)k * sizeof *values);
    memcpy(o.tensor[INDICES], indices, (size_t)k * sizeof *indices);
    oracle_judge(&o, &report);
    ck_assert_msg(report.wrong == wrong, "%lld wrong, not %lld", (long long)report.wrong, (long long)wrong);
    oracle_close(&o);
}

START_TEST(ties_may_come_in_any_order_but_each_once)
{
    const float fives[] = {5, 5, 5}, short_of_one[] = {5, 5, 1};
    judge_example(3, fives, (const int64_t[]){0, 2, 5}, 0);
    judge_example(3, fives, (const int64_t[]){5, 0, 2}, 0);
    judge_example(3, fives, (const int64_t[]){0, 2, 0}, 2);
    judge_example(3, fives, (const int64_t[]){2, 2, 2}, 3);
    judge_example(3, fives, (const int64_t[]){0, 2, 1}, 1);
    judge_example(3, short_of_one, (const int64_t[]){0, 2, 1}, 1);
}
END_TEST

START_TEST(zeros_of_either_sign_tie_but_carry_their_own_bits)
{
    const float plus[] = {5, 5, 5, 1, 0, -0.0f}, minus[] = {5, 5, 5, 1, -0.0f, 0};
    const float both[] = {5, 5, 5, 1, 0, 0};
    const int64_t last_first[] = {0, 2, 5, 1, 4, 3}, first_last[] = {0, 2, 5, 1, 3, 4};
    judge_example(6, plus, last_first, 0);
    judge_example(6, minus, first_last, 0);
    judge_example(6, plus, first_last, 2);
    judge_example(6, both, last_first, 1);
}
END_TEST

TCase *topk_case(void)
{
    TCase *topk = tcase_create("topk");
    tcase_add_loop_test(topk, the_values_wanted_are_those_of_qsort_in_every_class, 0, SHAPES);
    tcase_add_loop_test(topk, a_very_long_row_is_shared_by_two_threads, 0, 2);
    tcase_add_test(topk, every_fault_gets_the_verdict_of_the_definition);
    tcase_add_test(topk, ties_may_come_in_any_order_but_each_once);
    tcase_add_test(topk, zeros_of_either_sign_tie_but_carry_their_own_bits);
    tcase_set_timeout(topk, 120);
    return topk;
}
