/* Expected values of an imported task, from the process that evaluates its graph (verify/torch). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "expected_values.h"
#include "verify/util/clock.h"

static struct oracle_options wanted_by(const struct judge_options *options)
{
    return (struct oracle_options){.problem = options->problem,
                                   .python = options->interpreter,
                                   .cuda = options->device->backend == BACKEND_CUDA,
                                   .threads = options->threads,
                                   .memory = options->memory};
}

void judge_prepare(const struct judge_options *options, int count)
{
    const struct oracle_options wanted = wanted_by(options);
    if (options->problem->oracle)
        oracle_pool_prepare(options->oracles, &wanted, count);
}

static bool open_oracle(struct judge *judge)
{
    const struct oracle_options wanted = wanted_by(&judge->options);
    if (!judge->oracle)
        judge->oracle = oracle_take(judge->options.oracles, &wanted);
    return judge->oracle || status_failed(judge->status, "the oracle", -1);
}

static enum oracle_status ask(struct judge *judge, const struct judging *j)
{
    struct oracle_question question = {.instance = j->instance,
                                       .to_host = memory_of(judge_backend(judge, j))->to_host};
    for (int t = 0; t < judge->tensors; t++) {
        question.tensor[t] = j->tensor[t].content;
        question.after[t] = j->tensor[t].got;
    }
    return oracle_ask(judge->oracle, &question, &judge->answer);
}

bool expected_ask(struct judge *judge, const struct judging *j, bool *missing)
{
    *missing = false;
    if (!judge->options.problem->oracle)
        return true;
    if (!open_oracle(judge))
        return false;
    switch (ask(judge, j)) {
    case ORACLE_OK: return true;
    case ORACLE_UNTOLD: *missing = true; return false;
    case ORACLE_SHORT:
        return status_break(judge->status, SESSION_SHORT, "memory ran out: %.500s", judge->answer.text);
    case ORACLE_FAILED: break;
    }
    return status_break(judge->status, SESSION_BROKEN, "%.900s", judge->answer.text);
}

bool expected_admits(struct judge *judge, const struct config *before, const struct config *after)
{
    struct instance first, then;
    char text[RESULT_DETAIL_SIZE];
    if (!judge->options.problem->task)
        return true;
    if (!open_oracle(judge) || config_measure(before, &first))
        return false;
    enum oracle_status status = config_measure(after, &then) ? ORACLE_SHORT : ORACLE_OK;
    if (status == ORACLE_OK) {
        status = oracle_admits(judge->oracle, &first, &then, text, sizeof text);
        instance_clear(&then);
    }
    instance_clear(&first);
    if (status == ORACLE_FAILED)
        status_break(judge->status, SESSION_BROKEN, "%.900s", text);
    return status == ORACLE_OK;
}

/* Begins an error of unseen_torch/oracle/graph.py: the task's own model has raised it, both without values
 * and with them. */
static const char untraced[] = "the forward pass cannot be traced: ";

bool expected_excuse(struct judge *judge, const struct judging *j, struct call_result *result)
{
    if (!judge->options.problem->oracle ||
        (result->outcome != OUTCOME_REFUSED && result->outcome != OUTCOME_CRASH))
        return true;
    if (!open_oracle(judge))
        return false;
    if (ask(judge, j) != ORACLE_UNTOLD || strncmp(judge->answer.text, untraced, sizeof untraced - 1) != 0)
        return true;
    result->outcome = OUTCOME_SKIPPED;
    result->reason.cause = CAUSE_NO_REFERENCE;
    snprintf(result->detail, sizeof result->detail, "the task's own model does not run here: %.240s",
             judge->answer.text + sizeof untraced - 1);
    return true;
}

void expected_request(const struct judge *judge, struct judge_request *request)
{
    const struct oracle_output *output = &judge->answer.output[request->output];
    request->want = output->want;
    request->allowed = output->allowed;
    request->given = output->elements;
}

/* The expected value must agree with MPFR's within a quarter of the allowed error; if that is 0, within its
 * last places. */
static bool agrees(const struct judged *worst, double value)
{
    if (isnan(worst->mid) || isinf(worst->mid))
        return isnan(value) ? isnan(worst->mid) : worst->mid == value || fabs(value) > 0x1p1000;
    return fabs(value - worst->mid) <= fmax(worst->allowed / 4, 0x1p-45 * fabs(worst->mid));
}

bool expected_confirm(struct judge *judge, const struct judging *j, int k, struct judge_report *report,
                      struct config_result *total, struct worst *worst)
{
    const struct judged *const element = &report->worst;
    char text[1200], line[RESULT_LINE_SIZE];
    double value;
    if (report->wrong == 0 || j->acquit_only || element->index < 0)
        return true;
    const double start = clock_seconds();
    const enum oracle_status status =
        oracle_hear(judge->oracle, judge->judgement[k].output, element->index, &value, text, sizeof text);
    judge->seconds->witness += clock_seconds() - start;
    if (status == ORACLE_FAILED)
        return status_break(judge->status, SESSION_BROKEN, "%.900s", text);
    if (status != ORACLE_OK)
        return true; /* it has no witness; `witnessed` tells so in the report */
    config_format(j->config, line, sizeof line);
    if (!agrees(element, value))
        return status_break(
            judge->status, SESSION_BROKEN,
            "internal error: element %lld of %s (%s), call %d: the graph in fp64 gives %.17g, in MPFR "
            "%.17g, allowed %.3g\n---> please report this line; no verdict can be trusted",
            (long long)element->index, judge->options.problem->tensors[judge->judgement[k].output].name, line,
            j->call, element->mid, value, element->allowed);
    worst->want = value;
    worst->error = fabs(element->got - value);
    worst->witnessed = true;
    total->witnessed++;
    if (!element->unwritten && worst->error <= element->allowed) {
        report->wrong = 0;
        report->first_wrong = report->last_wrong = -1;
    }
    return true;
}

void expected_add_quality(const struct judge *judge, struct oracle_quality *told)
{
    bool constant = true;
    if (!judge->options.problem->oracle)
        return;
    for (int t = 0; t < judge->tensors; t++) {
        const struct oracle_output *output = &judge->answer.output[t];
        told->fp64 |= output->want && !output->enclosed;
        told->ensemble |= output->want && output->ensemble;
        told->open |= output->want && output->open;
        constant &= !output->want || output->constant;
    }
    told->constant = told->present ? told->constant && constant : constant;
    told->present = true;
}
