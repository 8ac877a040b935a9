/* The small problems of tests/forms on a GPU. Their enclosures there agree with those of the host, MPFR
 * evaluates elements that lie there, and candidates that work in place have their outcomes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forms_session.h"
#include "reference/judge.h"
#include "suites.h"
#include "verify/session/session_timing.h"
#include "verify/device/memory.h"

static struct judge_report host, gpu;

/* The oracle's tensors in device memory. */
struct upload {
    struct judge_request request;
    void *tensor[PROBLEM_MAX_TENSORS], *got;
};

static void *upload_one(const void *from, int64_t bytes)
{
    const struct memory *memory = memory_of(BACKEND_CUDA);
    void *there;
    ck_assert_int_eq(memory->take(&there, (size_t)bytes), 0);
    ck_assert_int_eq(memory->from_host(there, from, (size_t)bytes), 0);
    return there;
}

static void upload_open(struct upload *u, const struct oracle *o)
{
    *u = (struct upload){.request = o->request};
    for (int t = 0; t < o->tensors; t++)
        u->request.context.tensor[t] = u->tensor[t] = upload_one(o->tensor[t], o->bytes[t]);
    u->request.got = u->got = upload_one(o->got, o->bytes[o->output]);
}

static void upload_close(const struct upload *u, const struct oracle *o)
{
    const struct memory *memory = memory_of(BACKEND_CUDA);
    for (int t = 0; t < o->tensors; t++)
        memory->release(u->tensor[t]);
    memory->release(u->got);
}

static void compare_samples(const struct oracle *o)
{
    for (int s = 0; s < JUDGE_SAMPLES; s++) {
        const struct judged *a = &host.sample[s], *b = &gpu.sample[s];
        ck_assert_msg(a->index == b->index && a->kept == b->kept && a->changed == b->changed &&
                          (a->mid == b->mid || (isnan(a->mid) && isnan(b->mid)) ||
                           fabs(a->mid - b->mid) <= a->rad + b->rad),
                      "%s element %lld: host %.17g +- %.3g, GPU %.17g +- %.3g", o->config.problem->name,
                      (long long)a->index, a->mid, a->rad, b->mid, b->rad);
        ck_assert(isnan(a->mid) || fabs(a->allowed - b->allowed) <= 1e-4 * a->allowed);
    }
}

static void hear_samples(const struct oracle *o, struct upload *u)
{
    const struct memory *memory = memory_of(BACKEND_CUDA);
    struct device_pages *fetcher =
        device_pages_open(&u->request, o->bytes, o->tensors, memory->to_host, memory->gather);
    ck_assert_ptr_nonnull(fetcher);
    for (int s = 0; s < JUDGE_SAMPLES; s++) {
        struct witnessed answer;
        ck_assert_int_eq(o->reference->witness(&u->request, &gpu.sample[s], &answer), 0);
        ck_assert_msg(answer.inside, "%s element %lld: GPU %.17g +- %.3g, MPFR %.17g",
                      o->config.problem->name, (long long)gpu.sample[s].index, gpu.sample[s].mid,
                      gpu.sample[s].rad, answer.value);
    }
    device_pages_close(fetcher);
}

/* With every eleventh element off. */
static void compare(struct oracle *o)
{
    struct upload u;
    form_honest(o);
    for (int64_t i = 3; i < o->elements; i += 11)
        oracle_put_bits(o, i, oracle_bits(o, i) ^ 0x40);
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        o->request.sample[s] = (o->elements - 1) * s / (JUDGE_SAMPLES - 1);
    upload_open(&u, o);
    oracle_judge(o, &host);
    ck_assert_int_eq(o->reference->judge_cuda(&u.request, &gpu), 0);
    ck_assert_int_eq(host.wrong, gpu.wrong);
    ck_assert_int_eq(host.changed, gpu.changed);
    ck_assert_int_eq(host.first_wrong, gpu.first_wrong);
    ck_assert_int_eq(host.last_wrong, gpu.last_wrong);
    ck_assert_int_eq(host.published_wrong, gpu.published_wrong);
    compare_samples(o);
    hear_samples(o, &u);
    upload_close(&u, o);
}

START_TEST(both_enclosures_of_a_form_agree)
{
    for (const struct input_class *class = form_cases[_i].problem->classes; class->name; class ++) {
        struct oracle o;
        form_open(&o, &form_cases[_i], class->name);
        compare(&o);
        oracle_close(&o);
    }
}
END_TEST

START_TEST(a_fold_is_audited_in_part_on_the_gpu)
{
    struct oracle o;
    struct upload u;
    form_open(&o, &(struct form_case){&problem_norm, "y", "vectors=2 n=300007"}, "wide");
    upload_open(&u, &o);
    u.request.context.first_term = 1001;
    u.request.context.end_term = 9000;
    for (int s = 0; s < JUDGE_SAMPLES; s++)
        u.request.sample[s] = 1;
    u.request.only_row = 2;
    ck_assert_int_eq(o.reference->judge_cuda(&u.request, &gpu), 0);
    ck_assert(gpu.sample[0].mid > 0);
    hear_samples(&o, &u);
    upload_close(&u, &o);
    oracle_close(&o);
}
END_TEST

/* --- candidates --- */

#define APPEND_CUDA(after)                                                                                   \
    "#include <cuda_bf16.h>\n#include <cstdint>\n"                                                           \
    "__global__ void add(const float *x, const int32_t *slot, __nv_bfloat16 *cache, int64_t tokens, "        \
    "int64_t slots, int64_t dim)\n"                                                                          \
    "{ for (int64_t d = threadIdx.x; d < dim; d += blockDim.x) {\n"                                          \
    "    __nv_bfloat16 *at = &cache[slot[blockIdx.x] * dim + d];\n"                                          \
    "    *at = __float2bfloat16(__bfloat162float(*at) + x[blockIdx.x * dim + d]); }\n" after " }\n"          \
    "extern \"C\" int append(const float *x, const int32_t *slot, __nv_bfloat16 *cache, int64_t tokens,\n"   \
    "    int64_t slots, int64_t dim, cudaStream_t stream)\n"                                                 \
    "{ add<<<(unsigned)tokens, 64, 0, stream>>>(x, slot, cache, tokens, slots, dim); return 0; }\n"

static struct form_run run;

START_TEST(a_candidate_in_place_has_its_outcome_on_the_gpu)
{
    form_run_open(&run, &problem_append, "tokens=5 slots=12 dim=9 seed=4", APPEND_CUDA(""), true);
    form_run_check(&run, OUTCOME_PASS);
    ck_assert_int_eq(session_time(run.session, &run.config, 0.05, &run.result), SESSION_OK);
    ck_assert_msg(run.result.outcome == OUTCOME_PASS && run.result.timing.present, "%s", run.result.detail);
    form_run_close(&run);
    form_run_open(&run, &problem_append, "tokens=1 slots=12 dim=9 seed=4",
                  APPEND_CUDA("if (threadIdx.x == 0) cache[(slot[0] + 1) % slots * dim] = "
                              "__float2bfloat16(77.0f);"),
                  true);
    form_run_check(&run, OUTCOME_WRONG);
    ck_assert_msg(strstr(run.result.detail, "1 of them had to keep their bits") != NULL, "%s",
                  run.result.detail);
    form_run_close(&run);
}
END_TEST

TCase *gpu_forms_case(void)
{
    TCase *tcase = tcase_create("forms");
    forms_add();
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, both_enclosures_of_a_form_agree, 0, FORM_CASES);
    tcase_add_test(tcase, a_fold_is_audited_in_part_on_the_gpu);
    tcase_add_test(tcase, a_candidate_in_place_has_its_outcome_on_the_gpu);
    return tcase;
}
