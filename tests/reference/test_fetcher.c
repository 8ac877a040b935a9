/* Tensors in another memory: the witness gets the same values from them as from host memory, and asks for
 * them in few calls. A bus made of memcpy counts those, and fails on demand. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

TCase *fetcher_case(void);

enum { PAGES_MOST = 1 << 16, TRIED = 4 };

static struct bus {
    bool fail_copy, fail_gather;
    const struct judge_request *request;
    const int64_t *bytes; /* of each tensor */
    int tensors;
    int copies, gathers, outside; /* outside: of a tensor */
    int pages;
    const char *page[PAGES_MOST]; /* each that was brought */
} bus;

static bool lies_inside(const char *from, int64_t bytes)
{
    for (int t = 0; t < bus.tensors; t++) {
        const char *tensor = bus.request->context.tensor[t];
        if (from >= tensor && from + bytes <= tensor + bus.bytes[t])
            return true;
    }
    return false;
}

static void count_pages(const char *from, int64_t bytes, int *calls)
{
#pragma omp critical(bus)
    {
        ++*calls;
        bus.outside += !lies_inside(from, bytes);
        for (int64_t at = 0; at < bytes && bus.pages < PAGES_MOST; at += DEVICE_PAGES_PAGE)
            bus.page[bus.pages++] = from + at;
    }
}

/* The content that a failing call leaves behind. */
static void leave_rubbish(char *to, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        to[i] = (char)(i * i % 61);
}

static int bus_copy(void *to, const void *source, int64_t offset, int64_t bytes)
{
    count_pages((const char *)source + offset, bytes, &bus.copies);
    if (bus.fail_copy)
        leave_rubbish(to, bytes);
    else
        memcpy(to, (const char *)source + offset, (size_t)bytes);
    return bus.fail_copy;
}

static int bus_gather(const struct reference_piece *piece, int64_t count)
{
    int calls = 0;
    for (int64_t i = 0; i < count; i++) {
        count_pages(piece[i].from, piece[i].bytes, &calls);
        if (bus.fail_gather)
            leave_rubbish(piece[i].to, piece[i].bytes);
        else
            memcpy(piece[i].to, piece[i].from, (size_t)piece[i].bytes);
    }
#pragma omp atomic
    bus.gathers++;
    return bus.fail_gather;
}

static int order_pages(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    return (x > y) - (x < y);
}

static void expect_each_page_once(void)
{
    ck_assert_int_lt(bus.pages, PAGES_MOST);
    ck_assert_int_eq(bus.outside, 0);
    qsort(bus.page, (size_t)bus.pages, sizeof *bus.page, order_pages);
    for (int i = 1; i < bus.pages; i++)
        ck_assert_ptr_ne(bus.page[i - 1], bus.page[i]);
}

static struct device_pages *open_bus(struct judge_request *request, const int64_t *bytes, int tensors)
{
    bus = (struct bus){.request = request, .bytes = bytes, .tensors = tensors};
    struct device_pages *fetcher = device_pages_open(request, bytes, tensors, bus_copy, bus_gather);
    ck_assert_ptr_nonnull(fetcher);
    return fetcher;
}

/* --- the same answers --- */

/* Cheap elements, which threads take side by side, and expensive ones, which a team shares. */
static const struct oracle_case cases[] = {
    {"softmax", "rows=9 cols=3001"},
    {"softmax", "rows=3 cols=20011"},
    {"topk", "rows=5 n=5003 k=37"},
    {"gemm_fp8", "m=130 n=3 k=1111"},
    {"gemm_bf16", "m=5 n=2100 k=517 trans_b=0"},
    {"gemm_f32", "m=5 n=1030 k=300 trans_b=0"},
    {"gemm_w4a16", "m=3 n=4100 k=254 group=64 zero=drawn"},
    {"moe_up", "tokens=40 hidden_dim=133 inter_dim=2100 experts=9 routing=zipf"},
    {"paged_attention", "batch=3 heads=6 kv_heads=2 head_dim=80 page_size=1 max_len=300 lengths=ragged "
                        "table=shuffled past=invalid"},
    {"paged_attention", "batch=2 heads=2 kv_heads=1 head_dim=64 page_size=1 max_len=3001 lengths=ragged "
                        "table=shared past=invalid"},
    {"kda", "batch=2 t=70 heads=3 dk=64 dv=64 decay=long beta=sigmoid"},
    {"kda", "batch=1 t=300 heads=3 dk=96 dv=64 decay=long beta=sigmoid"},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Elements of the judged output, their enclosures, and the witness's values from host memory. */
struct trial {
    struct oracle o;
    struct judge_report report;
    const struct judged *element[TRIED];
};

static struct trial trial;

static void open_trial(const struct oracle_case *c, const char *input)
{
    struct oracle *o = &trial.o;
    char line[256];
    oracle_line(line, sizeof line, c->line, input, 5);
    oracle_open(o, c->problem, line, 0, 0);
    oracle_honest(o);
    for (int s = 0; s < TRIED; s++)
        o->request.sample[s] = (o->elements - 1) * s / (TRIED - 1);
    oracle_judge(o, &trial.report);
    for (int s = 0; s < TRIED; s++)
        trial.element[s] = &trial.report.sample[s];
    omp_set_num_threads(3);
}

static void hear(struct witnessed *answer)
{
    memset(answer, 0, TRIED * sizeof *answer);
    ck_assert_int_eq(trial.o.reference->witness_list(&trial.o.request, trial.element, answer, TRIED), 0);
}

START_TEST(the_witness_reads_the_same_through_a_fetcher)
{
    struct witnessed direct[TRIED], fetched[TRIED];
    open_trial(&cases[_i], "normal");
    hear(direct);
    struct device_pages *fetcher = open_bus(&trial.o.request, trial.o.bytes, trial.o.tensors);
    hear(fetched);
    for (int s = 0; s < TRIED; s++) {
        ck_assert_msg(memcmp(&direct[s].value, &fetched[s].value, sizeof direct->value) == 0,
                      "element %lld of %s: %a, and %a through a fetcher", (long long)trial.element[s]->index,
                      cases[_i].problem, direct[s].value, fetched[s].value);
        ck_assert(direct[s].inside && fetched[s].inside);
        ck_assert(direct[s].ok && fetched[s].ok);
    }
    expect_each_page_once();
    device_pages_close(fetcher);
    oracle_close(&trial.o);
}
END_TEST

/* --- in few calls --- */

/* Elements that read a page or more for each of thousands of terms, and their allowed number of calls. */
static const struct {
    struct oracle_case of;
    int pages, calls;
} scattered[] = {
    {{"paged_attention", "batch=1 heads=39 kv_heads=39 head_dim=80 page_size=1 max_len=4000 table=shuffled"},
     4200,
     24},
    {{"kda", "batch=1 t=1500 heads=8 dk=128 dv=64 decay=long beta=sigmoid"}, 3300, 16},
    {{"gemm_f32", "m=3 n=1100 k=3000 trans_b=0"}, 3000, 10},
    {{"gemm_bf16", "m=3 n=2100 k=3000 trans_b=0"}, 3000, 10},
    {{"gemm_w4a16", "m=3 n=4200 k=6000 group=32 zero=drawn"}, 3000, 12},
    {{"moe_up", "tokens=3 hidden_dim=1500 inter_dim=2100 experts=2 routing=even"}, 3000, 12},
};
enum { SCATTERED = sizeof scattered / sizeof *scattered };

START_TEST(what_lies_scattered_comes_in_few_calls)
{
    struct oracle o;
    char line[256];
    oracle_line(line, sizeof line, scattered[_i].of.line, "normal", 7);
    oracle_open(&o, scattered[_i].of.problem, line, 0, 0);
    omp_set_num_threads(3);
    const struct judged question = {.index = o.elements - 1};
    struct device_pages *fetcher = open_bus(&o.request, o.bytes, o.tensors);
    const double fetched = oracle_witness(&o, &question).value;
    ck_assert_msg(bus.pages >= scattered[_i].pages, "%s: %d pages", line, bus.pages);
    ck_assert_msg(bus.copies + bus.gathers <= scattered[_i].calls, "%s: %d pages by %d copies and %d batches",
                  line, bus.pages, bus.copies, bus.gathers);
    expect_each_page_once();
    device_pages_close(fetcher);
    o.request.context.fetcher = NULL;
    ck_assert(oracle_witness(&o, &question).value == fetched);
    oracle_close(&o);
}
END_TEST

/* --- calls that fail --- */

static const struct oracle_case failing[] = {
    {"gemm_f32", "m=5 n=1030 k=300 trans_b=0"},
    {"moe_up", "tokens=9 hidden_dim=133 inter_dim=300 experts=1 routing=even"},
    {"paged_attention", "batch=1 heads=2 kv_heads=1 head_dim=64 page_size=1 max_len=300 table=shuffled"},
    {"kda", "batch=1 t=70 heads=3 dk=64 dv=64 decay=long beta=one"},
};
enum { FAILING = sizeof failing / sizeof *failing };

/* Missing data are zeros, and then so are these sums. */
static void expect_outside(void)
{
    struct witnessed answer[TRIED];
    hear(answer);
    for (int s = 0; s < TRIED; s++) {
        ck_assert_msg(answer[s].value == 0, "%s: %g", trial.o.reference->problem->name, answer[s].value);
        ck_assert(!answer[s].inside && !answer[s].ok);
    }
}

START_TEST(what_fails_to_come_shows_in_the_audit)
{
    open_trial(&failing[_i], "normal");
    struct device_pages *fetcher = open_bus(&trial.o.request, trial.o.bytes, trial.o.tensors);
    bus.fail_gather = true;
    expect_outside();
    ck_assert_int_gt(bus.gathers, 0);
    device_pages_close(fetcher);
    oracle_close(&trial.o);
}
END_TEST

/* softmax is read page by page. With nothing but zeros all elements are the same. */
START_TEST(a_copy_that_fails_shows_in_the_audit)
{
    struct witnessed answer[TRIED];
    open_trial(&(struct oracle_case){"softmax", "rows=9 cols=3001"}, "normal");
    struct device_pages *fetcher = open_bus(&trial.o.request, trial.o.bytes, trial.o.tensors);
    bus.fail_copy = true;
    hear(answer);
    ck_assert_int_gt(bus.copies, 0);
    for (int s = 0; s < TRIED; s++) {
        ck_assert_double_eq_tol(answer[s].value, 1 / 3001.0, 1e-15);
        ck_assert(!answer[s].inside);
    }
    device_pages_close(fetcher);
    oracle_close(&trial.o);
}
END_TEST

/* --- the fetcher alone --- */

enum { LONG = 3000 * DEVICE_PAGES_PAGE + 20, WORDS = LONG / 4 };

static uint32_t *open_words(struct judge_request *request)
{
    uint32_t *word = malloc(LONG);
    ck_assert_ptr_nonnull(word);
    for (uint32_t i = 0; i < WORDS; i++)
        word[i] = 2654435761u * (i + 1);
    *request = (struct judge_request){.context.tensor = {word}};
    return word;
}

static uint32_t word_of(const void *address)
{
    return *(const uint32_t *)address;
}

START_TEST(recording_reads_zeros_and_tells_the_truth_where_asked)
{
    struct judge_request request;
    uint32_t *word = open_words(&request);
    struct device_pages *fetcher = open_bus(&request, &(int64_t){LONG}, 1);
    device_pages_record(fetcher);
    ck_assert_uint_eq(word_of(device_pages_read(fetcher, 0, LONG - 4)), 0);
    ck_assert_uint_eq(word_of(device_pages_read(fetcher, 0, 40 * DEVICE_PAGES_PAGE)), 0);
    ck_assert_int_eq(bus.copies + bus.gathers, 0);
    ck_assert_uint_eq(word_of(device_pages_read_now(fetcher, 0, 8)), word[2]);
    ck_assert_uint_eq(word_of(device_pages_read(fetcher, 0, 12)), word[3]); /* it is there now */
    ck_assert_uint_eq(word_of(device_pages_read_now(fetcher, 0, 40 * DEVICE_PAGES_PAGE)),
                      word[40 * DEVICE_PAGES_PAGE / 4]); /* though it has been noted */
    device_pages_gather();
    ck_assert_uint_eq(word_of(device_pages_read(fetcher, 0, LONG - 4)), word[WORDS - 1]);
    ck_assert_int_eq(bus.pages, 3);
    expect_each_page_once();
    ck_assert_uint_eq(word_of(device_pages_read(fetcher, 0, 100 * DEVICE_PAGES_PAGE)),
                      word[100 * DEVICE_PAGES_PAGE / 4]);
    device_pages_close(fetcher);
    free(word);
}
END_TEST

START_TEST(what_is_read_in_order_is_read_ahead)
{
    struct judge_request request;
    uint32_t *word = open_words(&request);
    struct device_pages *fetcher = open_bus(&request, &(int64_t){LONG}, 1);
    for (int64_t i = 0; i < WORDS; i += 100)
        ck_assert_uint_eq(word_of(device_pages_read(fetcher, 0, 4 * i)), word[i]);
    ck_assert_int_le(bus.copies, 3000 / 16 + 3);
    ck_assert_int_eq(bus.pages, 3001); /* the last is short */
    expect_each_page_once();
    device_pages_close(fetcher);
    free(word);
}
END_TEST

/* Each thread notes pages that others note too, and reads some that they have noted and not yet got. */
START_TEST(threads_that_want_the_same_pages_do_not_wait_forever)
{
    struct judge_request request;
    uint32_t *word = open_words(&request);
    int wrong = 0;
    for (int round = 0; round < 20; round++) {
        struct device_pages *fetcher = open_bus(&request, &(int64_t){LONG}, 1);
#pragma omp parallel num_threads(4) reduction(+ : wrong)
        {
            const int64_t step = 4 * (1021 + 512 * omp_get_thread_num());
            device_pages_record(fetcher);
            for (int64_t at = 0; at < LONG; at += step) {
                (void)device_pages_read(fetcher, 0, at);
                const int64_t other = LONG - at - 4;
                if (at / step % 64 == 63)
                    wrong += word_of(device_pages_read_now(fetcher, 0, other)) != word[other / 4];
            }
            device_pages_gather();
            for (int64_t at = 0; at < LONG; at += step)
                wrong += word_of(device_pages_read(fetcher, 0, at)) != word[at / 4];
        }
        expect_each_page_once();
        device_pages_close(fetcher);
    }
    ck_assert_int_eq(wrong, 0);
    free(word);
}
END_TEST

TCase *fetcher_case(void)
{
    TCase *tcase = tcase_create("fetcher");
    tcase_add_loop_test(tcase, the_witness_reads_the_same_through_a_fetcher, 0, CASES);
    tcase_add_loop_test(tcase, what_lies_scattered_comes_in_few_calls, 0, SCATTERED);
    tcase_add_loop_test(tcase, what_fails_to_come_shows_in_the_audit, 0, FAILING);
    tcase_add_test(tcase, a_copy_that_fails_shows_in_the_audit);
    tcase_add_test(tcase, recording_reads_zeros_and_tells_the_truth_where_asked);
    tcase_add_test(tcase, what_is_read_in_order_is_read_ahead);
    tcase_add_test(tcase, threads_that_want_the_same_pages_do_not_wait_forever);
    tcase_set_timeout(tcase, 60);
    return tcase;
}
