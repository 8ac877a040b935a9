/* Judging one call: every element by its enclosure, then MPFR for what that leaves open, for the worst
 * element, and for a sample that audits the enclosure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/random/pcg.h"
#include "gen/contract/space.h"
#include "pattern.h"
#include "session_internal.h"

/* Terms that MPFR may take for the audit of one configuration beside its worst element. */
static const double audit_terms = 4e5;

static int find_output(const struct problem *problem)
{
    for (int t = 0; problem->tensors[t].name; t++)
        if (problem->tensors[t].role == TENSOR_OUTPUT)
            return t;
    return -1;
}

/* Elements whose enclosures are to be audited: anywhere (near < 0), or where an element is expensive, in
 * the row of the worst one, which MPFR has to evaluate anyway. */
static void choose_samples(const struct session *s, const struct judging *j, int64_t near, int64_t elements,
                           struct judge_request *request)
{
    char purpose[96];
    snprintf(purpose, sizeof purpose, "%s/audit/%d", s->options.problem->name, j->call);
    struct pcg *pcg = pcg_new(j->config->seed, purpose);
    for (int i = 0; i < JUDGE_SAMPLES; i++) {
        const uint64_t pick = pcg ? pcg_below(pcg, (uint64_t)elements) : 0;
        request->sample[i] = near < 0 ? (int64_t)pick : s->reference->same_row(request, near, pick);
    }
    pcg_free(pcg);
}

static void make_request(const struct session *s, const struct judging *j, struct judge_request *request)
{
    const struct problem *problem = s->options.problem;
    memset(request, 0, sizeof *request);
    request->problem = problem;
    request->output = find_output(problem);
    memcpy(request->context.extent, j->instance->extent, sizeof request->context.extent);
    memcpy(request->context.scalar, j->instance->scalar, sizeof request->context.scalar);
    for (int t = 0; t < s->tensors; t++)
        request->context.tensor[t] = s->slot[t].own;
    request->context.data = j->instance->data;
    request->context.e4m3 = reference_e4m3();
    request->got = s->slot[request->output].own;
    request->width = instance_tensor_width(&j->instance->tensor[request->output]);
    request->pitch = j->instance->tensor[request->output].pitch;
    request->arithmetics = s->arithmetics;
    request->poison = memory_poison_element(problem->tensors[request->output].dtype);
    request->atol = problem->published_atol;
    request->rtol = problem->published_rtol;
    for (int i = 0; i < JUDGE_SAMPLES; i++)
        request->sample[i] = -1;
}

/* --- witnessing --- */

enum { TRIALS = 1 + JUDGE_SAMPLES + JUDGE_OPEN };

struct trials {
    const struct judged *element[TRIALS];
    struct witnessed answer[TRIALS];
    enum { TRIAL_AUDIT, TRIAL_WORST, TRIAL_OPEN } reason[TRIALS];
    int count;
};

static void add_trial(struct trials *trials, const struct judged *element, int reason)
{
    trials->element[trials->count] = element;
    trials->reason[trials->count++] = reason;
}

static bool is_expensive(const struct session *s, const struct judge_request *request)
{
    return s->reference->row_of(request, 0) >= 0 &&
           s->reference->witness_cost(request) * JUDGE_SAMPLES > audit_terms;
}

static void list_trials(const struct session *s, const struct judging *j, const struct judge_request *request,
                        const struct judge_report *report, struct trials *trials)
{
    const bool brief = j->brief && is_expensive(s, request);
    if (report->wrong > 0 && (j->acquit_only || brief))
        return;
    if (report->worst.index >= 0 && ((j->thorough && !brief) || report->wrong > 0))
        add_trial(trials, &report->worst, TRIAL_WORST);
    for (int i = 0; i < JUDGE_SAMPLES; i++)
        if (report->sample[i].index >= 0)
            add_trial(trials, &report->sample[i], TRIAL_AUDIT);
    /* a call that is wrong for sure is not made more so by those on the border, each of which may cost a second */
    for (int64_t i = 0; i < report->open && i < JUDGE_OPEN && report->wrong == 0; i++)
        add_trial(trials, &report->opens[i], TRIAL_OPEN);
}

/* A witness outside its enclosure, or one that acquits an element that the enclosure condemned, means
 * that the oracle itself is wrong: no verdict then. */
static bool hear_trials(struct session *s, const struct judging *j, const struct trials *trials,
                        struct judge_report *report, struct worst *worst)
{
    char line[RESULT_LINE_SIZE];
    config_format(j->config, line, sizeof line);
    for (int i = 0; i < trials->count; i++) {
        const struct judged *e = trials->element[i];
        const struct witnessed *answer = &trials->answer[i];
        const bool condemned = trials->reason[i] == TRIAL_WORST && report->wrong > 0;
        if (!answer->inside || (condemned && answer->ok))
            return session_break(
                s, SESSION_BROKEN,
                "internal error: element %lld of %s (%s), call "
                "%d: enclosure %.17g +- %.3g, MPFR witness %.17g, candidate %.9g, allowed %.3g\n"
                "---> please report this line; no verdict can be trusted",
                (long long)e->index, j->config->problem->name, line, j->call, e->mid, e->rad, answer->value,
                e->got, e->allowed);
        if (trials->reason[i] == TRIAL_WORST) {
            worst->want = answer->value + e->shift;
            worst->witnessed = true;
        }
        if (trials->reason[i] == TRIAL_OPEN && !answer->ok) {
            report->wrong++;
            if (report->first_wrong < 0 || e->index < report->first_wrong)
                report->first_wrong = e->index;
        }
    }
    return true;
}

static bool witness(struct session *s, const struct judging *j, struct judge_request *request,
                    struct judge_report *report, struct config_result *total, struct worst *worst)
{
    const double start = clock_seconds();
    struct trials *trials = calloc(1, sizeof *trials);
    struct fetcher *fetcher = NULL;
    int64_t bytes[PROBLEM_MAX_TENSORS];
    bool ok = trials != NULL;

    if (ok)
        list_trials(s, j, request, report, trials);
    for (int t = 0; t < s->tensors; t++)
        bytes[t] = (int64_t)s->slot[t].bytes;
    if (ok && trials->count && s->options.device->backend == BACKEND_CUDA) {
        fetcher = fetcher_open(request, bytes, s->tensors, s->memory->to_host, s->memory->gather);
        ok = fetcher != NULL;
    }
    ok = ok && s->reference->witness_list(request, trials->element, trials->answer, trials->count) == 0;
    if (!ok) {
        session_failed(s, "the MPFR witness", -1);
    } else {
        ok = hear_trials(s, j, trials, report, worst);
        total->witnessed += trials->count;
    }
    fetcher_close(fetcher);
    free(trials);
    s->seconds.witness += clock_seconds() - start;
    return ok;
}

/* --- the judgement --- */

static void describe_worst(const struct session *s, const struct judging *j, int output,
                           const struct judge_report *report, struct worst *worst)
{
    const struct instance_tensor *tensor = &j->instance->tensor[output];
    const double want = report->worst.mid + report->worst.shift;
    int64_t rest = report->worst.index;
    *worst = (struct worst){.present = report->worst.index >= 0,
                            .tensor = s->options.problem->tensors[report->worst.tensor].name,
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

static void describe_wrong(const struct session *s, const struct judging *j, int output,
                           const struct judge_report *report, struct call_result *result)
{
    const struct instance_tensor *tensor = &j->instance->tensor[output];
    char at[21 * PROBLEM_MAX_RANK] = "";
    int64_t stride = report->elements, rest = report->first_wrong;
    size_t used = 0;
    for (int d = 0; d < tensor->rank; d++) {
        stride /= tensor->dim[d];
        used +=
            (size_t)snprintf(at + used, sizeof at - used, "%s%lld", d ? "," : "", (long long)(rest / stride));
        rest %= stride;
    }
    result->outcome = report->unwritten ? OUTCOME_UNWRITTEN : OUTCOME_WRONG;
    result->reason.cause = report->unwritten || report->worst.tensor == output ? CAUSE_VALUE : CAUSE_INDEX;
    if (report->unwritten)
        snprintf(result->detail, sizeof result->detail,
                 "%lld of %lld elements of %s never written%s, "
                 "the first at [%s]",
                 (long long)report->unwritten, (long long)report->elements,
                 s->options.problem->tensors[output].name,
                 report->wrong > report->unwritten ? " and more wrong" : "", at);
    else
        snprintf(
            result->detail, sizeof result->detail,
            "%lld of %lld elements of %s wrong, the first "
            "at [%s]%s",
            (long long)report->wrong, (long long)report->elements, s->options.problem->tensors[output].name,
            at,
            result->reason.cause == CAUSE_VALUE
                ? ""
                : "; where the value is right its index is out of the row, carries other bits, or is named "
                  "twice");
}

const char *session_arithmetic_name(const struct session *s, int arithmetic)
{
    return arithmetic < s->arithmetics.count ? s->arithmetics.item[arithmetic].name : "wrong";
}

/* Sum up over the calls of a configuration: the worst element of all, the loosest arithmetic. */
static void add_up(const struct session *s, const struct judge_report *report, const struct worst *worst,
                   struct totals *totals)
{
    struct config_result *total = totals->result;
    total->judged += report->elements;
    total->wrong += report->wrong;
    total->open += report->open;
    total->published_pass =
        (!total->published_judged || total->published_pass) && report->published_wrong == 0;
    total->published_judged = true;
    if (worst->present && (!total->worst.present || report->worst_ratio > totals->worst_ratio)) {
        total->worst = *worst;
        totals->worst_ratio = report->worst_ratio;
    }
    if (!total->fits || report->fits > total->arithmetic) {
        total->arithmetic = report->fits;
        total->fits = session_arithmetic_name(s, report->fits);
    }
}

static int call_judge(const struct session *s, const struct judge_request *request,
                      struct judge_report *report)
{
    return s->options.device->backend == BACKEND_CUDA ? s->reference->judge_cuda(request, report)
                                                      : s->reference->judge_host(request, report);
}

/* Judge all elements and choose what the witness audits. Where one element is expensive, its row is
 * judged once more for the samples' enclosures. */
static int judge_elements(const struct session *s, const struct judging *j, struct judge_request *request,
                          struct judge_report *report)
{
    const int64_t elements = instance_tensor_count(&j->instance->tensor[request->output]);
    const bool expensive = is_expensive(s, request);
    if (j->thorough && !expensive)
        choose_samples(s, j, -1, elements, request);
    int error = call_judge(s, request, report);
    if (!error && j->thorough && expensive && !j->brief && report->worst.index >= 0) {
        struct judge_report *again = malloc(sizeof *again);
        const int64_t row = s->reference->row_of(request, report->worst.index);
        request->only_row = row + 1;
        choose_samples(s, j, report->worst.index, elements, request);
        error = again ? call_judge(s, request, again) : -1;
        if (!error)
            memcpy(report->sample, again->sample, sizeof report->sample);
        request->only_row = 0;
        free(again);
    }
    report->elements = elements;
    return error;
}

bool session_expect(struct session *s, const struct judging *j, void *expected)
{
    struct judge_request request;
    struct judge_report *report = malloc(sizeof *report);
    make_request(s, j, &request);
    request.expected = expected;
    const int error = report ? call_judge(s, &request, report) : -1;
    free(report);
    return error ? session_failed(s, "computing the expected output", error) : true;
}

void session_observe(struct session *s, struct pattern *pattern)
{
    s->pattern = pattern;
}

/* The same elements judged once more, for which of them are wrong. */
static bool observe(struct session *s, const struct judging *j, struct judge_request *request)
{
    const struct instance_tensor *tensor = &j->instance->tensor[request->output];
    const int64_t elements = instance_tensor_count(tensor);
    struct judge_report *report = malloc(sizeof *report);
    unsigned char *wrong = malloc((size_t)elements);
    void *mask = NULL;
    int error = report && wrong ? s->memory->take(&mask, (size_t)elements) : -1;
    if (!error)
        error = s->memory->poison(mask, (size_t)elements, 0);
    request->wrong = mask;
    if (!error)
        error = call_judge(s, request, report);
    if (!error)
        error = s->memory->to_host(wrong, mask, 0, elements);
    if (!error)
        pattern_describe(wrong, tensor->dim, tensor->rank, s->options.problem->tensors[request->output].shape,
                         s->pattern);
    request->wrong = NULL;
    if (mask)
        s->memory->release(mask);
    free(report);
    free(wrong);
    return error ? session_failed(s, "finding the wrong elements", error) : true;
}

bool session_judge(struct session *s, const struct judging *j, struct call_result *result,
                   struct totals *totals)
{
    struct judge_request request;
    struct worst worst;
    const double start = clock_seconds();
    make_request(s, j, &request);
    if (instance_tensor_count(&j->instance->tensor[request.output]) == 0) {
        *result->report = (struct judge_report){.first_wrong = -1, .last_wrong = -1, .worst = {.index = -1}};
        worst = (struct worst){.present = false};
        add_up(s, result->report, &worst, totals);
        result->judged = true; /* nothing was to be written, and slots_inspect saw nothing written */
        return true;
    }
    const int error = judge_elements(s, j, &request, result->report);
    s->seconds.judge += clock_seconds() - start;
    if (error)
        return session_failed(s, "judging", error);
    result->judged = true;
    describe_worst(s, j, request.output, result->report, &worst);
    if (!witness(s, j, &request, result->report, totals->result, &worst))
        return false;
    add_up(s, result->report, &worst, totals);
    if (result->report->wrong > 0) {
        describe_wrong(s, j, request.output, result->report, result);
        if (s->pattern && !s->pattern->present && !observe(s, j, &request))
            return false;
    } else if (result->report->open > JUDGE_OPEN) {
        result->outcome = OUTCOME_SKIPPED;
        result->reason.cause = CAUSE_OPEN;
        snprintf(result->detail, sizeof result->detail,
                 "the enclosure leaves %lld elements open, "
                 "more than MPFR is asked for",
                 (long long)result->report->open);
    }
    return true;
}
