/* Judges one call, output by output: every element by its enclosure, then by MPFR (witness.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "expected_values.h"
#include "judge_elements.h"
#include "verify/util/clock.h"
#include "witness.h"

bool judge_covers(const struct problem *problem, char *text, size_t text_size)
{
    struct judgement judgement[PROBLEM_MAX_TENSORS];
    int missing;
    (void)reference_list(problem, judgement, &missing);
    if (missing < 0)
        return true;
    const char *const name = problem->tensors[missing].name;
    snprintf(text, text_size,
             "nothing judges %s, which %s writes\n---> write its mathematics in reference_%s.h beside "
             "reference.h (see reference/context.h), and JUDGED(%s, %s) on the problem's line of "
             "registry.def",
             name, problem->name, name, problem->name, name);
    return false;
}

void judge_open(struct judge *judge, const struct judge_options *options, struct phase_seconds *seconds,
                struct status *status)
{
    char text[600];
    int missing;
    *judge = (struct judge){.options = *options,
                            .tensors = problem_tensor_count(options->problem),
                            .seconds = seconds,
                            .status = status};
    judge->judgements = reference_list(options->problem, judge->judgement, &missing);
    for (enum backend backend = 0; backend < BACKENDS; backend++)
        judge->cache[backend] = shared_judge_enclosures(options->shared, options->device, backend);
    error_arithmetics(options->problem, options->device->capability, &judge->arithmetics);
    if (!judge_covers(options->problem, text, sizeof text))
        status_break(status, SESSION_BAD, "%s", text);
}

void judge_close(struct judge *judge)
{
    oracle_give(judge->options.oracles, judge->oracle);
    judge->oracle = NULL;
}

void judge_request(const struct judge *judge, const struct judging *j, int k, struct judge_request *request)
{
    const struct problem *problem = judge->options.problem;
    memset(request, 0, sizeof *request);
    request->problem = problem;
    request->output = judge->judgement[k].output;
    memcpy(request->context.extent, j->instance->extent, sizeof request->context.extent);
    memcpy(request->context.scalar, j->instance->scalar, sizeof request->context.scalar);
    for (int t = 0; t < judge->tensors; t++)
        request->context.tensor[t] = j->tensor[t].content;
    request->context.data = j->instance->data;
    request->context.e4m3 = reference_e4m3();
    request->got = j->tensor[request->output].got;
    request->width = instance_tensor_width(&j->instance->tensor[request->output]);
    request->pitch = j->instance->tensor[request->output].pitch;
    request->arithmetics = judge->arithmetics;
    request->poison = memory_poison_element(problem->tensors[request->output].dtype);
    const struct space_tolerance *const own = &judge->options.tolerance;
    request->atol = own->given ? own->atol : problem->published_atol;
    request->rtol = own->given ? own->rtol : problem->published_rtol;
    expected_request(judge, request);
    for (int i = 0; i < JUDGE_SAMPLES; i++)
        request->sample[i] = -1;
}

static void describe_worst(const struct judge *judge, const struct judging *j, int output,
                           const struct judge_report *report, struct worst *worst)
{
    const struct instance_tensor *tensor = &j->instance->tensor[output];
    const double want = report->worst.mid + report->worst.shift;
    int64_t rest = report->worst.index;
    *worst = (struct worst){.present = report->worst.index >= 0,
                            .tensor = judge->options.problem->tensors[report->worst.tensor].name,
                            .index = report->worst.index,
                            .rank = tensor->rank,
                            .got = report->worst.got,
                            .want = want,
                            .allowed = report->worst.allowed,
                            .error = fabs(report->worst.got - want)};
    for (int d = tensor->rank - 1; d >= 0 && worst->present; d--) {
        worst->at[d] = rest % tensor->dim[d];
        rest /= tensor->dim[d];
    }
}

static void describe_place(const struct instance_tensor *tensor, int64_t index, char *at, size_t size)
{
    int64_t stride = instance_tensor_count(tensor);
    size_t used = 0;
    at[0] = '\0';
    for (int d = 0; d < tensor->rank && used < size; d++) {
        stride /= tensor->dim[d];
        used += (size_t)snprintf(at + used, size - used, "%s%lld", d ? "," : "", (long long)(index / stride));
        index %= stride;
    }
}

static enum cause cause_of(int output, const struct judge_report *report)
{
    return report->unwritten || report->worst.tensor == output ? CAUSE_VALUE : CAUSE_INDEX;
}

/* Puts the sentence about a wrong length first, since it explains wrong elements. */
static void describe_length(const char *of, const struct judge_report *report, char *detail)
{
    char rest[RESULT_DETAIL_SIZE];
    snprintf(rest, sizeof rest, "%s", detail);
    const int used = snprintf(detail, RESULT_DETAIL_SIZE, "%.60s has the length %.0f, %.0f is right%s", of,
                              report->worst.got, report->worst.mid, rest[0] ? "; " : "");
    snprintf(detail + used, RESULT_DETAIL_SIZE - (size_t)used, "%s", rest);
}

/* Adds a sentence about one output. */
static void describe_wrong(const struct judge *judge, const struct judging *j, int output,
                           const struct judge_report *report, char *detail)
{
    const char *const name = judge->options.problem->tensors[output].name,
                      *const length_of = judge->options.problem->tensors[output].length_of;
    const size_t used = strlen(detail), size = RESULT_DETAIL_SIZE - used;
    const char *comma = used ? "; " : "";
    char at[21 * PROBLEM_MAX_RANK], changed[64] = "";
    if (length_of && !report->unwritten) {
        describe_length(length_of, report, detail);
        return;
    }
    describe_place(&j->instance->tensor[output], report->first_wrong, at, sizeof at);
    if (report->changed)
        snprintf(changed, sizeof changed, "; %lld of them had to keep their bits",
                 (long long)report->changed);
    if (report->unwritten)
        snprintf(detail + used, size, "%s%lld of %lld elements of %s never written%s, the first at [%s]",
                 comma, (long long)report->unwritten, (long long)report->elements, name,
                 report->wrong > report->unwritten ? " and more wrong" : "", at);
    else
        snprintf(detail + used, size, "%s%lld of %lld elements of %s wrong, the first at [%s]%s%s", comma,
                 (long long)report->wrong, (long long)report->elements, name, at, changed,
                 cause_of(output, report) == CAUSE_VALUE
                     ? ""
                     : "; where the value is right its index is out of the row, carries other bits, or is "
                       "named twice");
}

static const char *arithmetic_name(const struct judge *judge, int arithmetic)
{
    return arithmetic < judge->arithmetics.count ? judge->arithmetics.item[arithmetic].name : "wrong";
}

/* Counts unwritten elements of a one-byte dtype whose poison may be a stored value. A wrong value is the
 * poison by chance in about one element of 256. So elements count as unwritten if half of the wrong ones hold
 * it. */
static void doubt_unwritten(enum dtype dtype, struct judge_report *report)
{
    if (dtype_holds_poison(dtype) && report->unwritten * 2 < report->wrong)
        report->unwritten = 0;
}

/* Accumulates over the calls of a configuration: the worst element, the loosest arithmetic. */
static void add_up(const struct judge *judge, const struct judge_report *report, const struct worst *worst,
                   struct totals *totals)
{
    struct config_result *total = totals->result;
    total->judged += report->elements;
    total->wrong += report->wrong;
    total->open += report->open;
    total->published_pass =
        (!total->published_judged || total->published_pass) && report->published_wrong == 0;
    total->published_judged = true;
    if (report->elements > 0) {
        struct greatest_errors *const errors = &total->errors;
        errors->present = true;
        errors->absolute = fmax(errors->absolute, report->most_absolute);
        errors->relative = fmax(errors->relative, report->most_relative);
    }
    if (worst->present && (!total->worst.present || report->worst_ratio > totals->worst_ratio)) {
        total->worst = *worst;
        totals->worst_ratio = report->worst_ratio;
    }
    if (!total->fits || report->fits > total->arithmetic) {
        total->arithmetic = report->fits;
        total->fits = arithmetic_name(judge, report->fits);
    }
}

bool judge_expect(struct judge *judge, const struct judging *j, int k, void *expected)
{
    struct judge_request request;
    bool untold;
    if (!expected_ask(judge, j, &untold))
        return untold ? status_break(judge->status, SESSION_SHORT, "%.500s", judge->answer.text) : false;
    struct judge_report *report = malloc(sizeof *report);
    judge_request(judge, j, k, &request);
    request.expected = expected;
    const int error = report ? judge_compute(judge, j, k, &request, report) : -1;
    free(report);
    return error ? status_failed(judge->status, "computing the expected output", error) : true;
}

/* --- which elements are wrong --- */

/* The output whose pattern is described: that of the worst element. */
static int worst_output(const struct judge *judge, const struct call_result *result)
{
    int worst = -1;
    for (int k = 0; k < judge->judgements; k++) {
        const struct judge_report *report = &result->output[k].report;
        if (report->wrong > 0 &&
            (worst < 0 || report->worst_ratio > result->output[worst].report.worst_ratio))
            worst = k;
    }
    return worst;
}

static void describe_pattern(const struct judge *judge, const struct judging *j, int output,
                             const unsigned char *wrong)
{
    const struct instance_tensor *tensor = &j->instance->tensor[output];
    const struct tensor *named = &judge->options.problem->tensors[output];
    char text[sizeof j->pattern->text];
    pattern_describe(wrong, tensor->dim, tensor->rank, named->shape, j->pattern);
    memcpy(text, j->pattern->text, sizeof text);
    if (j->pattern->present && judge->judgements > 1)
        snprintf(j->pattern->text, sizeof j->pattern->text, "%s: %.250s", named->name, text);
}

/* Judges the same elements again, to mark which are wrong. */
static bool observe(struct judge *judge, const struct judging *j, int k)
{
    struct judge_request request;
    const int output = judge->judgement[k].output;
    const int64_t elements = instance_tensor_count(&j->instance->tensor[output]);
    struct judge_report *report = malloc(sizeof *report);
    unsigned char *wrong = malloc((size_t)elements);
    void *mask = NULL;
    const struct memory *const memory = memory_of(judge_backend(judge, j));
    int error = report && wrong ? memory->take(&mask, (size_t)elements) : -1;
    if (error && j->on_host)
        error = -1;
    if (!error)
        error = memory->poison(mask, (size_t)elements, 0);
    judge_request(judge, j, k, &request);
    request.wrong = mask;
    if (!error)
        error = judge_compute(judge, j, k, &request, report);
    if (!error)
        error = memory->to_host(wrong, mask, 0, elements);
    if (!error)
        describe_pattern(judge, j, output, wrong);
    if (mask)
        memory->release(mask);
    free(report);
    free(wrong);
    return error ? status_failed(judge->status, "finding the wrong elements", error) : true;
}

/* --- the judgement --- */

/* Judges one output of a call: its report, MPFR's answers, and its contribution to the configuration. */
static bool judge_output(struct judge *judge, const struct judging *j, int k, struct output_result *output,
                         struct totals *totals)
{
    struct judge_request request;
    struct worst worst;
    const double start = clock_seconds();
    judge_request(judge, j, k, &request);
    if (instance_tensor_count(&j->instance->tensor[request.output]) == 0) {
        /* there was nothing to write, and buffers_inspect saw nothing written */
        output->report = (struct judge_report){
            .first_wrong = -1, .last_wrong = -1, .worst_ratio = -1, .worst = {.index = -1}};
        worst = (struct worst){.present = false};
        add_up(judge, &output->report, &worst, totals);
        return true;
    }
    struct judging asked = *j;
    const int error = judge_elements(judge, &asked, k, &request, &output->report);
    judge->seconds->judge += clock_seconds() - start;
    if (error)
        return status_failed(judge->status, "judging", error);
    doubt_unwritten(judge->options.problem->tensors[request.output].dtype, &output->report);
    describe_worst(judge, j, request.output, &output->report, &worst);
    const bool heard = witness_hear(judge, &asked, k, &request, &output->report, totals->result, &worst);
    judge_elements_end(judge, &asked, heard);
    if (!heard)
        return false;
    add_up(judge, &output->report, &worst, totals);
    output->outcome = output->report.unwritten           ? OUTCOME_UNWRITTEN
                      : output->report.wrong > 0         ? OUTCOME_WRONG
                      : output->report.open > JUDGE_OPEN ? OUTCOME_SKIPPED
                                                         : OUTCOME_PASS;
    return true;
}

/* Combines outputs: unwritten elements take precedence, then wrong ones; open ones count only if nothing is
 * wrong. */
static void sum_up(const struct judge *judge, const struct judging *j, struct call_result *result)
{
    static const enum outcome order[] = {OUTCOME_UNWRITTEN, OUTCOME_WRONG, OUTCOME_SKIPPED, OUTCOME_PASS};
    int rank = 3;
    for (int k = 0; k < judge->judgements; k++)
        for (int r = 0; r < rank; r++)
            if (result->output[k].outcome == order[r])
                rank = r;
    result->outcome = order[rank];
    for (int k = 0; k < judge->judgements; k++) {
        const struct judge_report *report = &result->output[k].report;
        const int output = judge->judgement[k].output;
        if (report->wrong > 0) {
            if (result->reason.cause == CAUSE_NONE)
                result->reason.cause = cause_of(output, report);
            describe_wrong(judge, j, output, report, result->detail);
        } else if (result->outcome == OUTCOME_SKIPPED && report->open > JUDGE_OPEN) {
            result->reason.cause = CAUSE_OPEN;
            snprintf(result->detail, sizeof result->detail,
                     "the enclosure leaves %lld elements open, more than MPFR is asked for",
                     (long long)report->open);
        }
    }
}

/* Expected values are not available, so the configuration is not judged. */
static void leave_out(const struct judge *judge, struct call_result *result)
{
    result->outcome = OUTCOME_SKIPPED;
    result->reason.cause = CAUSE_NO_REFERENCE;
    snprintf(result->detail, sizeof result->detail, "%.300s", judge->answer.text);
}

bool judge_call(struct judge *judge, const struct judging *j, struct call_result *result,
                struct totals *totals)
{
    const double start = clock_seconds();
    bool untold;
    const bool told = expected_ask(judge, j, &untold);
    judge->seconds->judge += clock_seconds() - start;
    if (untold)
        leave_out(judge, result);
    if (!told)
        return untold;
    expected_add_quality(judge, &totals->result->oracle_quality);
    for (int k = 0; k < judge->judgements; k++)
        if (!judge_output(judge, j, k, &result->output[k], totals))
            return false;
    result->judged = true;
    sum_up(judge, j, result);
    const int worst = worst_output(judge, result);
    return worst < 0 || !j->pattern || j->pattern->present || observe(judge, j, worst);
}
