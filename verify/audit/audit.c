#include "audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "verify/system/clock.h"
#include "verify/system/interrupt.h"
#include "verify/session/judging.h"

/* Kinds of expected outputs: for the judged inputs, for the previous call's inputs, and for a null kernel's
 * changed inputs. */
enum { EXPECTED, PREVIOUS, OTHER, EXPECTATIONS };

/* A judgement's output, and the null kernel's replacement. */
struct nulled {
    int tensor;
    struct null_source source;
    float *value[EXPECTATIONS], *input, *out;
};

/* State while one configuration is audited. */
struct auditing {
    struct session *session;
    struct audit *audit;
    const struct drawn *drawn;
    bool seen;
    const struct problem *problem;
    int judgements;
    struct instance instance;                  /* input draw 1, which is judged */
    struct nulled output[PROBLEM_MAX_TENSORS]; /* by judgement */
    void *staging;                             /* host memory with room for any tensor */
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
    return a->problem->tensors[tensor].dtype;
}

static bool is_drawn(const struct auditing *a, int tensor)
{
    return session_tensor(a->session, tensor).own != NULL;
}

/* Computes the expected outputs for the session's current inputs, as floats. */
static bool expect(struct auditing *a, int which)
{
    struct session *s = a->session;
    struct judging judging;
    for (int k = 0; k < a->judgements; k++) {
        const struct nulled *o = &a->output[k];
        const struct session_tensor slot = session_tensor(s, o->tensor);
        if (!session_expect(s, judging_of(a, &judging), k, slot.spare))
            return false;
        const int error = session_memory(s)->to_host(a->staging, slot.spare, 0, (int64_t)slot.bytes);
        if (error)
            return session_failed(s, "reading the expected output", error);
        null_decode(type_of(a, o->tensor), o->source.shape, a->staging, o->value[which]);
    }
    return true;
}

static bool load(struct auditing *a, int content)
{
    instance_clear(&a->instance);
    if (config_instantiate(&a->drawn->config, content, &a->instance) != 0)
        return session_failed(a->session, "drawing the configuration", -1);
    return slots_fill(a->session, &a->drawn->config, &a->instance, content);
}

/* --- inputs of null kernels with less work --- */

/* Changes one input in the session's memory. */
static bool change_input(struct auditing *a, enum null_kind kind, int tensor)
{
    struct session *s = a->session;
    const size_t bytes = bytes_of(a, tensor);
    void *own = session_tensor(s, tensor).own;
    int error = session_memory(s)->to_host(a->staging, own, 0, (int64_t)bytes);
    if (!error) {
        null_change(kind, a->problem, &a->instance.tensor[tensor], type_of(a, tensor), a->staging);
        error = session_memory(s)->from_host(own, a->staging, bytes);
    }
    return error ? session_failed(s, "changing an input", error) : true;
}

/* Changes one input, computes the outputs, and restores the input. */
static bool expect_changed(struct auditing *a, int tensor)
{
    return change_input(a, NULL_HALF, tensor) && expect(a, OTHER) && load(a, 1);
}

/* Rounds all fp32 inputs to bf16. */
static bool expect_rounded(struct auditing *a)
{
    for (int t = 0; a->problem->tensors[t].name; t++)
        if (type_of(a, t) == DTYPE_F32 && is_drawn(a, t) && !change_input(a, NULL_BF16, t))
            return false;
    return expect(a, OTHER) && load(a, 1);
}

/* --- the output for a smaller shape --- */

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

/* Uses a separate session, since shapes differ. */
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
        ok = true;
        for (int k = 0; k < b.judgements; k++) {
            b.output[k].source.shape = &b.instance.tensor[b.output[k].tensor];
            b.output[k].source.count = instance_tensor_count(b.output[k].source.shape);
            ok = ok && b.output[k].source.count <= a->output[k].source.count;
        }
        ok = ok && slots_create(b.session, &b.instance, why, sizeof why) == 0 &&
             slots_fill(b.session, &config, &b.instance, 1) && expect(&b, OTHER);
    }
    for (int k = 0; k < a->judgements; k++)
        a->output[k].source.others = ok ? b.output[k].source.count : 0;
    instance_clear(&b.instance);
    session_close(b.session);
    return true; /* no such configuration, or no memory: uses zeros */
}

/* --- judging --- */

static void count(struct audit_count *c, bool pass)
{
    c->configs++;
    c->pass += pass;
}

/* Writes the null kernel's output to the place of a call's snapshots. */
static bool place(struct auditing *a)
{
    struct session *s = a->session;
    for (int k = 0; k < a->judgements; k++) {
        const struct nulled *o = &a->output[k];
        const struct session_tensor slot = session_tensor(s, o->tensor);
        null_encode(type_of(a, o->tensor), o->source.shape, o->out, a->staging);
        const int error = session_memory(s)->from_host(slot.got, a->staging, slot.bytes);
        if (error)
            return session_failed(s, "placing an output", error);
    }
    return true;
}

static bool judge(struct auditing *a, enum null_kind kind)
{
    struct session *s = a->session;
    struct judging judging;
    struct output_result *output = calloc((size_t)a->judgements, sizeof *output);
    struct call_result call = {.output = output};
    struct config_result result = {0};
    struct totals totals = {&result, -1};
    const bool ok = output ? place(a) && session_judge(s, judging_of(a, &judging), &call, &totals)
                           : session_failed(s, "judging a null output", -1);
    if (ok) {
        const bool pass = call.outcome == OUTCOME_PASS;
        if (a->seen)
            count(&a->audit->published[kind], result.published_pass);
        count(&a->audit->ours[kind], pass);
        if (pass && a->audit->ours[kind].pass == 1)
            config_format(&a->drawn->config, a->audit->passed[kind], RESULT_LINE_SIZE);
    }
    free(output);
    return ok;
}

static bool prepare(struct auditing *a, enum null_kind kind, const struct space *space)
{
    for (int k = 0; k < a->judgements; k++) {
        struct nulled *o = &a->output[k];
        o->source.other = o->value[kind == NULL_PREVIOUS ? PREVIOUS : OTHER];
        o->source.others = o->source.count;
    }
    if (kind == NULL_HALF)
        return expect_changed(a, a->problem->half.tensor);
    if (kind == NULL_BF16)
        return expect_rounded(a);
    return kind == NULL_SMALLER ? expect_smaller(a, space) : true;
}

/* Compares values after rounding to the tensor's dtype. */
static bool same_values(const struct auditing *a, const struct nulled *o)
{
    const struct instance_tensor dense = {.rank = 1, .dim = {o->source.count}};
    const size_t bytes = (size_t)o->source.count * dtype_size(type_of(a, o->tensor));
    void *want = malloc(bytes + 1);
    bool same = false;
    if (want) {
        null_encode(type_of(a, o->tensor), &dense, o->value[EXPECTED], want);
        null_encode(type_of(a, o->tensor), &dense, o->out, a->staging);
        same = memcmp(want, a->staging, bytes) == 0;
    }
    free(want);
    return same;
}

/* Outputs equal to the expected ones say nothing about the check: for a row of one element, or a sequence of
 * one token, a null kernel happens to be right. */
static bool are_expected(const struct auditing *a)
{
    for (int k = 0; k < a->judgements; k++)
        if (!same_values(a, &a->output[k]))
            return false;
    return true;
}

static void audit_kinds(struct auditing *a, const struct space *space)
{
    for (int kind = 0; kind < NULL_KINDS && !is_interrupted(); kind++) {
        if (!a->audit->applies[kind])
            continue;
        if (!prepare(a, kind, space))
            return;
        for (int k = 0; k < a->judgements; k++)
            if (a->output[k].source.count > 0)
                null_make(kind, &a->output[k].source, a->output[k].out);
        if (!are_expected(a) && !judge(a, kind))
            return;
    }
}

static float *take_values(int64_t count)
{
    return malloc((size_t)count * sizeof(float) + 1);
}

static bool take_arrays(struct auditing *a)
{
    size_t most = 1;
    bool ok = true;
    for (int t = 0; a->problem->tensors[t].name; t++)
        most = bytes_of(a, t) > most ? bytes_of(a, t) : most;
    a->staging = malloc(most);
    for (int k = 0; k < a->judgements; k++) {
        struct nulled *o = &a->output[k];
        for (int i = 0; i < EXPECTATIONS; i++)
            ok = (o->value[i] = take_values(o->source.count)) != NULL && ok;
        o->out = take_values(o->source.count);
        o->input = take_values(o->source.inputs);
        ok = ok && o->out && o->input;
    }
    return (ok && a->staging) ||
           session_break(a->session, SESSION_SHORT, "memory ran out: the outputs of null kernels");
}

static void free_arrays(struct auditing *a)
{
    for (int k = 0; k < a->judgements; k++) {
        for (int i = 0; i < EXPECTATIONS; i++)
            free(a->output[k].value[i]);
        free(a->output[k].out);
        free(a->output[k].input);
    }
    free(a->staging);
}

/* The tensor that a copying kernel copies: the first one, or the previous contents of an in-out tensor. */
static int copied_tensor(const struct session *s, int output)
{
    return session_tensor(s, output).own ? output : 0;
}

static bool read_inputs(struct auditing *a)
{
    struct session *s = a->session;
    for (int k = 0; k < a->judgements; k++) {
        struct nulled *o = &a->output[k];
        const int from = copied_tensor(s, o->tensor);
        const int error = session_memory(s)->to_host(a->staging, session_tensor(s, from).own, 0,
                                                     (int64_t)bytes_of(a, from));
        if (error)
            return session_failed(s, "reading an input", error);
        null_decode(type_of(a, from), &a->instance.tensor[from], a->staging, o->input);
        o->source.expected = o->value[EXPECTED];
        o->source.input = o->input;
    }
    return true;
}

static void describe_outputs(struct auditing *a)
{
    const struct judgement *list = session_judgements(a->session, &a->judgements);
    for (int k = 0; k < a->judgements; k++) {
        const int tensor = list[k].output, from = copied_tensor(a->session, tensor);
        a->output[k].tensor = tensor;
        a->output[k].source =
            (struct null_source){.problem = a->problem,
                                 .shape = &a->instance.tensor[tensor],
                                 .count = instance_tensor_count(&a->instance.tensor[tensor]),
                                 .inputs = instance_tensor_count(&a->instance.tensor[from]),
                                 .seed = a->drawn->config.seed};
    }
}

/* Outputs without a judgement of their own stay zero: indices that name the first position. */
static void audit_config(struct auditing *a, const struct space *space)
{
    struct session *s = a->session;
    describe_outputs(a);
    bool ok = take_arrays(a);
    for (int t = 0; ok && a->problem->tensors[t].name; t++) {
        const struct session_tensor slot = session_tensor(s, t);
        ok = !slot.got || session_memory(s)->poison(slot.got, slot.bytes, 0) == 0;
    }
    ok = ok && load(a, 0) && expect(a, PREVIOUS) && load(a, 1) && expect(a, EXPECTED) && read_inputs(a);
    if (ok)
        audit_kinds(a, space);
    free_arrays(a);
}

static void audit_one(struct session *s, struct audit *audit, const struct drawn *drawn, bool seen,
                      const struct space *space)
{
    struct auditing a = {
        .session = s, .audit = audit, .drawn = drawn, .seen = seen, .problem = session_given(s)->problem};
    char why[RESULT_DETAIL_SIZE];
    if (config_instantiate(&drawn->config, 1, &a.instance) != 0) {
        session_failed(s, "drawing the configuration", -1);
        return;
    }
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
    struct session_options options = run_session_options(task, &run);
    options.tolerance.given = false; /* audits the published check, not the user's */
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
