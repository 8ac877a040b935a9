/* Stored enclosures: a judgement that reads them has the report of one that computes them, to the last bit.
 * For every output of every problem, in every input class, on either backend. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "stored.h"

static const struct oracle_case cases[] = {
    {"softmax", "rows=4 cols=33"},
    {"topk", "rows=3 n=40 k=3"},
    {"rms_norm", "rows=3 cols=50 eps=published"},
    {"layer_norm", "rows=3 cols=50 eps=published"},
    {"gemm_fp8", "m=66 n=13 k=65"},
    {"gemm_bf16", "m=5 n=70 k=65 trans_b=0"},
    {"gemm_f32", "m=5 n=19 k=65 trans_b=1"},
    {"gemm_w4a16", "m=3 n=17 k=98 group=32 zero=drawn"},
    {"moe_up", "tokens=67 hidden_dim=9 inter_dim=66 experts=3 routing=odd"},
    {"conv2d_bf16",
     "n=1 groups=2 c_per_group=3 o_per_group=2 h=9 w=7 kh=3 kw=2 stride_h=1 stride_w=2 pad_h=1 "
     "pad_w=0 dil_h=1 dil_w=1"},
    {"conv2d_f32", "n=2 groups=1 c_per_group=3 o_per_group=4 h=6 w=7 kh=3 kw=3 stride_h=2 stride_w=1 pad_h=1 "
                   "pad_w=1 dil_h=1 dil_w=2"},
    {"paged_attention", "batch=3 heads=4 kv_heads=2 head_dim=64 page_size=8 max_len=21 lengths=ragged "
                        "table=shared past=nan"},
    {"attention",
     "batch=2 kv_heads=1 group=2 head_dim=64 max_len=9 causal=1 kv=few lengths=equal scale=root"},
    {"kda", "batch=2 t=67 heads=1 dk=6 dv=3 decay=long beta=sigmoid"},
    {"cross_entropy", "rows=4 vocab=50 pad=1 ignore=published ignored=some labels=spread"},
    {"rope_cache",
     "tokens=7 heads=3 kv_heads=1 head_dim=64 page_size=8 pages=3 max_position=40 rotated=quarter "
     "style=pairs slots=padded positions=sequential"},
};
enum { CASES = sizeof cases / sizeof *cases };

static struct judge_report computed, storing, reading;

static void compare(const char *what, const char *line, const struct judge_report *a,
                    const struct judge_report *b)
{
    const struct judged *const x = &a->worst, *const y = &b->worst;
    ck_assert_msg(a->wrong == b->wrong && a->unwritten == b->unwritten && a->open == b->open &&
                      a->changed == b->changed && a->first_wrong == b->first_wrong &&
                      a->last_wrong == b->last_wrong && a->published_wrong == b->published_wrong,
                  "%s, %s: %lld and %lld wrong", what, line, (long long)a->wrong, (long long)b->wrong);
    ck_assert_msg(a->fits == b->fits && a->worst_ratio == b->worst_ratio && a->strain == b->strain,
                  "%s, %s: worst ratio %.17g and %.17g", what, line, a->worst_ratio, b->worst_ratio);
    ck_assert_msg(x->index == y->index && x->unwritten == y->unwritten && x->kept == y->kept &&
                      x->changed == y->changed && memcmp(&x->got, &y->got, 5 * sizeof x->got) == 0,
                  "%s, %s: element %lld, %.17g, and element %lld, %.17g", what, line, (long long)x->index,
                  x->mid, (long long)y->index, y->mid);
}

/* Judges the same output by computing, by computing and storing, and by reading. */
static void judge_thrice(struct layout *layout, const struct reference *reference,
                         struct judge_request *request, bool store, const char *line)
{
    double *const memory = request->store;
    request->store = NULL;
    ck_assert_int_eq(layout_judge(layout, reference, request, &computed), 0);
    request->store = memory;
    if (store) {
        ck_assert_int_eq(layout_judge(layout, reference, request, &storing), 0);
        compare("storing", line, &computed, &storing);
    }
    request->store = NULL;
    request->stored = memory;
    ck_assert_int_eq(layout_judge(layout, reference, request, &reading), 0);
    compare("reading", line, &computed, &reading);
    request->stored = NULL;
    request->store = memory;
}

/* One wrong element in the middle of the output. */
static void spoil(struct layout *layout, int output)
{
    const size_t at = layout->bytes[output] / 2 / 8 * 8;
    const uint64_t bits = 0x4123456789abcdefu;
    if (layout->bytes[output] >= at + sizeof bits)
        ck_assert_int_eq(layout->memory->from_host((char *)layout->got[output] + at, &bits, sizeof bits), 0);
}

static void check_output(struct layout *layout, const struct judgement *judgement, const char *line)
{
    struct judge_request request;
    const int output = judgement->output;
    void *memory = NULL;
    layout_request(layout, output, 90, &request);
    request.elements = instance_tensor_count(&layout->instance.tensor[output]);
    const size_t bytes = (size_t)(request.elements * judgement->reference->stored_doubles) * sizeof(double);
    ck_assert_int_eq(layout->memory->take(&memory, bytes), 0);
    request.store = memory;
    judge_thrice(layout, judgement->reference, &request, true, line);
    request.store = NULL;
    request.expected = layout->got[output];
    ck_assert_int_eq(layout_judge(layout, judgement->reference, &request, &computed), 0);
    request.expected = NULL;
    request.store = memory;
    judge_thrice(layout, judgement->reference, &request, false, line);
    spoil(layout, output);
    judge_thrice(layout, judgement->reference, &request, false, line);
    layout->memory->release(memory);
}

static int check_case(const struct oracle_case *c, enum backend backend)
{
    const struct problem *const problem = problem_find(c->problem);
    int checked = 0;
    for (const char *const *input = oracle_inputs(c->problem); *input; input++) {
        struct judgement judgement[PROBLEM_MAX_TENSORS];
        struct space_error error = {""};
        struct config config;
        struct layout layout;
        char line[512];
        int missing;
        oracle_line(line, sizeof line, c->line, *input, 17);
        ck_assert_msg(config_parse(&config, problem, line, "test", &error) == 0, "%s", error.text);
        ck_assert_int_eq(layout_open(&layout, memory_of(backend), &config, 0), 0);
        const int count = reference_list(problem, judgement, &missing);
        for (int k = 0; k < count; k++)
            if (judgement[k].reference->stored_doubles > 0) {
                check_output(&layout, &judgement[k], line);
                checked++;
            }
        layout_close(&layout);
    }
    return checked;
}

void check_stored(enum backend backend)
{
    int checked = 0;
    for (int i = 0; i < CASES; i++)
        checked += check_case(&cases[i], backend);
    ck_assert_int_ge(checked, 100);
}

START_TEST(read_enclosures_give_the_report_of_computed_ones)
{
    check_stored(BACKEND_HOST);
}
END_TEST

/* Enclosures that follow from the candidate's outputs must not serve another candidate. */
START_TEST(enclosures_that_read_outputs_are_not_stored)
{
    ck_assert_int_eq(reference_find(problem_find("softmax"), 1)->stored_doubles, 0);
    ck_assert_int_eq(reference_find(problem_find("topk"), 1)->stored_doubles, 0);
}
END_TEST

TCase *stored_case(void)
{
    TCase *tests = tcase_create("stored");
    tcase_add_test(tests, read_enclosures_give_the_report_of_computed_ones);
    tcase_add_test(tests, enclosures_that_read_outputs_are_not_stored);
    tcase_set_timeout(tests, 60);
    return tests;
}
