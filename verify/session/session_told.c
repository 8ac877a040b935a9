/* Expected values of an imported task, from the process that evaluates its graph (verify/oracle). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "session_internal.h"

static struct oracle_options wanted_by(const struct session_options *options)
{
    return (struct oracle_options){.problem = options->problem,
                                   .python = options->interpreter,
                                   .cuda = options->device->backend == BACKEND_CUDA,
                                   .threads = options->threads,
                                   .memory = options->memory};
}

void session_prepare(const struct session_options *options, int count)
{
    const struct oracle_options wanted = wanted_by(options);
    if (options->problem->oracle)
        oracle_pool_prepare(options->oracles, &wanted, count);
}

static bool open_oracle(struct session *s)
{
    const struct oracle_options wanted = wanted_by(&s->options);
    if (!s->oracle)
        s->oracle = oracle_take(s->options.oracles, &wanted);
    return s->oracle || session_failed(s, "the oracle", -1);
}

static enum oracle_status ask(struct session *s, const struct judging *j)
{
    struct oracle_question question = {.instance = j->instance, .to_host = s->memory->to_host};
    for (int t = 0; t < s->tensors; t++) {
        const struct slot *slot = &s->now->slot[t];
        question.tensor[t] =
            s->options.problem->tensors[t].role == TENSOR_OUTPUT ? slot->got : slot_content(slot);
        question.after[t] = slot->got;
    }
    return oracle_ask(s->oracle, &question, &s->answer);
}

bool told_ask(struct session *s, const struct judging *j, bool *untold)
{
    *untold = false;
    if (!s->options.problem->oracle)
        return true;
    if (!open_oracle(s))
        return false;
    switch (ask(s, j)) {
    case ORACLE_OK: return true;
    case ORACLE_UNTOLD: *untold = true; return false;
    case ORACLE_SHORT: return session_break(s, SESSION_SHORT, "memory ran out: %.500s", s->answer.text);
    case ORACLE_FAILED: break;
    }
    return session_break(s, SESSION_BROKEN, "%.900s", s->answer.text);
}

bool told_admits(struct session *s, const struct config *before, const struct config *after)
{
    struct instance first, then;
    char text[RESULT_DETAIL_SIZE];
    if (!s->options.problem->task)
        return true;
    if (!open_oracle(s) || config_measure(before, &first))
        return false;
    enum oracle_status status = config_measure(after, &then) ? ORACLE_SHORT : ORACLE_OK;
    if (status == ORACLE_OK) {
        status = oracle_admits(s->oracle, &first, &then, text, sizeof text);
        instance_clear(&then);
    }
    instance_clear(&first);
    if (status == ORACLE_FAILED)
        session_break(s, SESSION_BROKEN, "%.900s", text);
    return status == ORACLE_OK;
}

/* Begins an error of verify/python/oracle/graph.py: the task's own model has raised it, both without values
 * and with them. */
static const char untraced[] = "the forward pass cannot be traced: ";

bool told_excuse(struct session *s, const struct judging *j, struct call_result *result)
{
    if (!s->options.problem->oracle ||
        (result->outcome != OUTCOME_REFUSED && result->outcome != OUTCOME_CRASH))
        return true;
    if (!open_oracle(s))
        return false;
    if (ask(s, j) != ORACLE_UNTOLD || strncmp(s->answer.text, untraced, sizeof untraced - 1) != 0)
        return true;
    result->outcome = OUTCOME_SKIPPED;
    result->reason.cause = CAUSE_NO_REFERENCE;
    snprintf(result->detail, sizeof result->detail, "the task's own model does not run here: %.240s",
             s->answer.text + sizeof untraced - 1);
    return true;
}

void told_request(const struct session *s, struct judge_request *request)
{
    const struct oracle_output *output = &s->answer.output[request->output];
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

bool told_hear(struct session *s, const struct judging *j, int k, struct judge_report *report,
               struct config_result *total, struct worst *worst)
{
    const struct judged *const element = &report->worst;
    char text[1200], line[RESULT_LINE_SIZE];
    double value;
    if (report->wrong == 0 || j->acquit_only || element->index < 0)
        return true;
    const double start = clock_seconds();
    const enum oracle_status status =
        oracle_hear(s->oracle, s->judgement[k].output, element->index, &value, text, sizeof text);
    s->seconds.witness += clock_seconds() - start;
    if (status == ORACLE_FAILED)
        return session_break(s, SESSION_BROKEN, "%.900s", text);
    if (status != ORACLE_OK)
        return true; /* it has no witness; `witnessed` tells so in the report */
    config_format(j->config, line, sizeof line);
    if (!agrees(element, value))
        return session_break(
            s, SESSION_BROKEN,
            "internal error: element %lld of %s (%s), call %d: the graph in fp64 gives %.17g, in MPFR "
            "%.17g, allowed %.3g\n---> please report this line; no verdict can be trusted",
            (long long)element->index, s->options.problem->tensors[s->judgement[k].output].name, line,
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

void told_add(const struct session *s, struct oracle_quality *told)
{
    bool constant = true;
    if (!s->options.problem->oracle)
        return;
    for (int t = 0; t < s->tensors; t++) {
        const struct oracle_output *output = &s->answer.output[t];
        told->fp64 |= output->want && !output->enclosed;
        told->ensemble |= output->want && output->ensemble;
        told->open |= output->want && output->open;
        constant &= !output->want || output->constant;
    }
    told->constant = told->present ? told->constant && constant : constant;
    told->present = true;
}
