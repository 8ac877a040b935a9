/* The right answers of an imported task, from the process that evaluates its graph (verify/oracle). */
#include <stdio.h>
#include <string.h>

#include "session_internal.h"

static bool open_oracle(struct session *s)
{
    const struct session_options *options = &s->options;
    const struct oracle_options wanted = {.problem = options->problem,
                                          .python = options->python,
                                          .cuda = options->device->backend == BACKEND_CUDA,
                                          .threads = options->threads,
                                          .memory = options->memory};
    if (!s->oracle)
        s->oracle = oracle_begin(&wanted);
    return s->oracle || session_failed(s, "the oracle", -1);
}

bool told_ask(struct session *s, const struct judging *j, bool *untold)
{
    struct oracle_question question = {.instance = j->instance, .to_host = s->memory->to_host};
    *untold = false;
    if (!s->options.problem->task)
        return true;
    if (!open_oracle(s))
        return false;
    for (int t = 0; t < s->tensors; t++) {
        const struct slot *slot = &s->now->slot[t];
        question.tensor[t] =
            s->options.problem->tensors[t].role == TENSOR_INPUT ? slot_content(slot) : slot->got;
    }
    switch (oracle_ask(s->oracle, &question, &s->answer)) {
    case ORACLE_OK: return true;
    case ORACLE_UNTOLD: *untold = true; return false;
    case ORACLE_SHORT: return session_break(s, SESSION_SHORT, "memory ran out: %.500s", s->answer.text);
    case ORACLE_FAILED: break;
    }
    return session_break(s, SESSION_BROKEN, "%.900s", s->answer.text);
}

void told_request(const struct session *s, struct judge_request *request)
{
    const struct oracle_output *output = &s->answer.output[request->output];
    request->want = output->want;
    request->allowed = output->allowed;
    request->given = output->elements;
}

void told_add(const struct session *s, struct told *told)
{
    bool constant = true;
    if (!s->options.problem->task)
        return;
    for (int t = 0; t < s->tensors; t++) {
        const struct oracle_output *output = &s->answer.output[t];
        told->fp64 |= output->want && !output->enclosed;
        told->ensemble |= output->want && output->ensemble;
        constant &= !output->want || output->constant;
    }
    told->constant = told->present ? told->constant && constant : constant;
    told->present = true;
}
