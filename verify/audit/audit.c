#include "audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/inputs/fill.h"
#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "verify/system/clock.h"
#include "verify/system/interrupt.h"
#include "verify/session/judging.h"

/* One configuration at work. `other` holds an output that a null kernel copies. */
struct auditing {
    struct session *session;
    struct audit *audit;
    const struct drawn *drawn;
    bool seen;
    struct instance instance; /* content 1, the one that is judged */
    struct null_source source;
    int output; /* the judged tensor */
    float *expected, *previous, *other, *input, *out;
    void *staging; /* host memory of the output's size, and of any input's */
};

static const struct judging *judging_of(const struct auditing *a, struct judging *judging)
{
    *judging = (struct judging){.config = &a->drawn->config, .instance = &a->instance, .acquit_only = true};
    return judging;
}

static size_t bytes_of(const struct auditing *a, int tensor)
{
    return session_tensor(a->session, tensor).bytes;
}

static enum dtype type_of(const struct auditing *a, int tensor)
{
    return session_given(a->session)->problem->tensors[tensor].dtype;
}

/* The right output for the inputs that the session holds, as values. */
static bool expect(struct auditing *a, float *out)
{
    struct session *s = a->session;
    struct judging judging;
    const struct session_tensor slot = session_tensor(s, a->output);
    if (!session_expect(s, judging_of(a, &judging), slot.spare))
        return false;
    const int error = session_memory(s)->to_host(a->staging, slot.spare, 0, (int64_t)slot.bytes);
    if (error)
        return session_failed(s, "reading the expected output", error);
    null_decode(type_of(a, a->output), a->staging, a->source.count, out);
    return true;
}

static bool load(struct auditing *a, int content)
{
    instance_clear(&a->instance);
    if (config_instantiate(&a->drawn->config, content, &a->instance) != 0)
        return session_failed(a->session, "drawing the configuration", -1);
    return slots_fill(a->session, &a->drawn->config, &a->instance, content);
}

/* --- inputs for less work --- */

static void halve_integers(int32_t *value, int64_t count)
{
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++)
        value[i] = value[i] > 1 ? value[i] / 2 : 1;
}

static void halve_axis(const struct instance_tensor *tensor, enum dtype dtype, const struct halving *half,
                       void *data)
{
    int64_t inner = 1;
    for (int d = half->axis + 1; d < tensor->rank; d++)
        inner *= tensor->dim[d];
    const int64_t length = tensor->dim[half->axis], count = instance_tensor_count(tensor);
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++)
        if (i / inner % length >= (length + 1) / 2)
            fill_store(dtype, data, i, half->value);
}

static void round_to_bf16(float *value, int64_t count)
{
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        uint16_t bits;
        fill_store(DTYPE_BF16, &bits, 0, value[i]);
        null_decode(DTYPE_BF16, &bits, 1, &value[i]);
    }
}

static void change(enum null_kind kind, const struct auditing *a, int tensor, void *data)
{
    const struct problem *problem = session_given(a->session)->problem;
    const struct instance_tensor *shape = &a->instance.tensor[tensor];
    if (kind == NULL_BF16)
        round_to_bf16(data, instance_tensor_count(shape));
    else if (type_of(a, tensor) == DTYPE_I32)
        halve_integers(data, instance_tensor_count(shape));
    else
        halve_axis(shape, type_of(a, tensor), &problem->half, data);
}

/* One input changed, the output for it, and the input put back. */
static bool expect_changed(struct auditing *a, enum null_kind kind, int tensor)
{
    struct session *s = a->session;
    const size_t bytes = bytes_of(a, tensor);
    int error = session_memory(s)->to_host(a->staging, session_tensor(s, tensor).own, 0, (int64_t)bytes);
    if (!error) {
        change(kind, a, tensor, a->staging);
        error = session_memory(s)->from_host(session_tensor(s, tensor).own, a->staging, bytes);
    }
    if (error)
        return session_failed(s, "changing an input", error);
    a->source.others = a->source.count;
    return expect(a, a->other) && load(a, 1);
}

/* bf16 operands of fp32 problems: every fp32 input. */
static bool expect_rounded(struct auditing *a)
{
    for (int t = 0; t < a->output; t++)
        if (type_of(a, t) == DTYPE_F32 && t > 0) {
            struct session *s = a->session;
            int error =
                session_memory(s)->to_host(a->staging, session_tensor(s, t).own, 0, (int64_t)bytes_of(a, t));
            round_to_bf16(a->staging, (int64_t)(bytes_of(a, t) / sizeof(float)));
            if (!error)
                error = session_memory(s)->from_host(session_tensor(s, t).own, a->staging, bytes_of(a, t));
            if (error)
                return session_failed(s, "changing an input", error);
        }
    return expect_changed(a, NULL_BF16, 0);
}

/* --- the output of a smaller shape --- */

static struct config smaller(const struct config *config, const struct space *space)
{
    struct config out = *config;
    for (int i = 0; config->problem->axes[i].name; i++) {
        struct config tried = out;
        if (config->problem->axes[i].kind != AXIS_NUMBER || out.value[i] < 2)
            continue;
        tried.value[i] /= 2;
        if (space_contains(space, &tried, NULL))
            out = tried;
    }
    return out;
}

/* In a session of its own, since it has other shapes. */
static bool expect_smaller(struct auditing *a, const struct space *space)
{
    const struct config config = smaller(&a->drawn->config, space);
    const struct drawn drawn = {.config = config};
    struct auditing b = *a;
    char why[RESULT_DETAIL_SIZE];
    bool ok = false;
    b.instance = (struct instance){0};
    b.drawn = &drawn;
    b.session = session_open(session_given(a->session));
    if (b.session && config_instantiate(&config, 1, &b.instance) == 0) {
        b.source.count = instance_tensor_count(&b.instance.tensor[b.output]);
        ok = b.source.count <= a->source.count &&
             slots_create(b.session, &b.instance, why, sizeof why) == 0 &&
             slots_fill(b.session, &config, &b.instance, 1) && expect(&b, b.other);
    }
    a->source.others = ok ? b.source.count : 0;
    instance_clear(&b.instance);
    session_close(b.session);
    return true; /* no such configuration, or no room: zeros then */
}

/* --- judging --- */

static void count(struct audit_count *c, bool pass)
{
    c->configs++;
    c->pass += pass;
}

static bool judge(struct auditing *a, enum null_kind kind)
{
    struct session *s = a->session;
    const struct session_tensor slot = session_tensor(s, a->output);
    struct judging judging;
    struct judge_report *report = calloc(1, sizeof *report);
    struct call_result call = {.report = report};
    struct config_result result = {0};
    struct totals totals = {&result, -1};
    null_encode(type_of(a, a->output), a->out, a->source.count, a->staging);
    const int error = report ? session_memory(s)->from_host(slot.own, a->staging, slot.bytes) : -1;
    const bool ok = error ? session_failed(s, "placing an output", error)
                          : session_judge(s, judging_of(a, &judging), &call, &totals);
    if (ok) {
        const bool pass = call.outcome == OUTCOME_PASS;
        if (a->seen)
            count(&a->audit->published[kind], result.published_pass);
        count(&a->audit->ours[kind], pass);
        if (pass && a->audit->ours[kind].pass == 1)
            config_format(&a->drawn->config, a->audit->passed[kind], RESULT_LINE_SIZE);
    }
    free(report);
    return ok;
}

static bool prepare(struct auditing *a, enum null_kind kind, const struct space *space)
{
    const struct halving *half = &session_given(a->session)->problem->half;
    a->source.other = kind == NULL_PREVIOUS ? a->previous : a->other;
    a->source.others = a->source.count;
    if (kind == NULL_HALF)
        return expect_changed(a, kind, half->tensor);
    if (kind == NULL_BF16)
        return expect_rounded(a);
    return kind == NULL_SMALLER ? expect_smaller(a, space) : true;
}

/* An output that happens to be the expected one is honest, whatever made it: a row of one element, a
 * sequence of one token. It says nothing about the check. */
static bool is_expected(const struct auditing *a)
{
    void *want = malloc(bytes_of(a, a->output));
    bool same = false;
    if (want) {
        null_encode(type_of(a, a->output), a->expected, a->source.count, want);
        null_encode(type_of(a, a->output), a->out, a->source.count, a->staging);
        same = memcmp(want, a->staging, bytes_of(a, a->output)) == 0;
    }
    free(want);
    return same;
}

static void audit_kinds(struct auditing *a, const struct space *space)
{
    for (int kind = 0; kind < NULL_KINDS && !is_interrupted(); kind++) {
        if (!a->audit->applies[kind])
            continue;
        if (!prepare(a, kind, space))
            return;
        null_make(kind, &a->source, a->out);
        if (!is_expected(a) && !judge(a, kind))
            return;
    }
}

static bool take_arrays(struct auditing *a)
{
    const size_t n = (size_t)a->source.count, inputs = (size_t)a->source.inputs;
    size_t most = bytes_of(a, a->output);
    for (int t = 0; t < a->output; t++)
        most = bytes_of(a, t) > most ? bytes_of(a, t) : most;
    a->expected = malloc(n * sizeof(float));
    a->previous = malloc(n * sizeof(float));
    a->other = malloc(n * sizeof(float));
    a->out = malloc(n * sizeof(float));
    a->input = malloc(inputs * sizeof(float));
    a->staging = malloc(most);
    return (a->expected && a->previous && a->other && a->out && a->input && a->staging) ||
           session_break(a->session, SESSION_SHORT, "memory ran out: the outputs of null kernels");
}

static void free_arrays(struct auditing *a)
{
    free(a->expected);
    free(a->previous);
    free(a->other);
    free(a->out);
    free(a->input);
    free(a->staging);
}

static bool read_input(struct auditing *a)
{
    struct session *s = a->session;
    const int error =
        session_memory(s)->to_host(a->staging, session_tensor(s, 0).own, 0, (int64_t)bytes_of(a, 0));
    if (error)
        return session_failed(s, "reading an input", error);
    null_decode(type_of(a, 0), a->staging, a->source.inputs, a->input);
    return true;
}

/* The outputs of a problem but the judged one stay at zero: indices that name the first place. */
static void audit_config(struct auditing *a, const struct space *space)
{
    struct session *s = a->session;
    bool ok = take_arrays(a);
    for (int t = a->output; ok && t < problem_tensor_count(session_given(s)->problem); t++)
        ok = session_memory(s)->poison(session_tensor(s, t).own, session_tensor(s, t).bytes, 0) == 0;
    ok = ok && load(a, 0) && expect(a, a->previous) && load(a, 1) && expect(a, a->expected) && read_input(a);
    a->source.expected = a->expected;
    a->source.input = a->input;
    if (ok)
        audit_kinds(a, space);
    free_arrays(a);
}

static int first_output(const struct problem *problem)
{
    int t = 0;
    while (problem->tensors[t].role == TENSOR_INPUT)
        t++;
    return t;
}

static void audit_one(struct session *s, struct audit *audit, const struct drawn *drawn, bool seen,
                      const struct space *space)
{
    struct auditing a = {.session = s,
                         .audit = audit,
                         .drawn = drawn,
                         .seen = seen,
                         .output = first_output(session_given(s)->problem)};
    char why[RESULT_DETAIL_SIZE];
    if (config_instantiate(&drawn->config, 1, &a.instance) != 0) {
        session_failed(s, "drawing the configuration", -1);
        return;
    }
    a.source = (struct null_source){.problem = session_given(s)->problem,
                                    .shape = &a.instance.tensor[a.output],
                                    .count = instance_tensor_count(&a.instance.tensor[a.output]),
                                    .inputs = instance_tensor_count(&a.instance.tensor[0]),
                                    .seed = drawn->config.seed};
    if (slots_create(s, &a.instance, why, sizeof why) == 0)
        audit_config(&a, space);
    else
        audit->skipped++;
    session_unmap(s);
    instance_clear(&a.instance);
}

static void choose_kinds(const struct problem *problem, struct audit *audit)
{
    const bool single =
        problem->arithmetic_class == ARITHMETIC_EXACT || problem->arithmetic_class == ARITHMETIC_F32;
    for (int kind = 0; kind < NULL_KINDS; kind++)
        audit->applies[kind] = kind != NULL_BF16 || single;
}

enum run_status audit_run(const struct task *task, struct audit *audit, void (*progress)(int done, int total),
                          char *error, size_t error_size)
{
    const struct run_options run = {.timeout = CALL_SECONDS};
    const struct session_options options = run_session_options(task, &run);
    struct session *s = session_open(&options);
    const int seen = task->seen_set.count, total = seen + task->unseen_set.count;
    const double start = clock_seconds();
    enum run_status status = s ? RUN_DONE : RUN_BROKEN;
    if (!s)
        snprintf(error, error_size, "out of memory");
    memset(audit, 0, sizeof *audit);
    choose_kinds(task->problem, audit);
    for (int i = 0; s && i < total && status == RUN_DONE && !is_interrupted(); i++) {
        const struct drawn *drawn = i < seen ? &task->seen_set.item[i] : &task->unseen_set.item[i - seen];
        audit_one(s, audit, drawn, i < seen, &task->space);
        const enum session_status ended = session_end(s);
        audit->skipped += ended == SESSION_SHORT;
        if (ended == SESSION_BAD || ended == SESSION_BROKEN) {
            snprintf(error, error_size, "%s", session_error(s));
            status = RUN_BROKEN;
        }
        if (progress)
            progress(i + 1, total);
    }
    session_close(s);
    audit->seconds = clock_seconds() - start;
    return is_interrupted() ? RUN_INTERRUPTED : status;
}
