#include "audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"
#include "verify/session/buffers.h"
#include "verify/session/judge.h"

/* Kinds of expected outputs: for the judged inputs, for the previous call's inputs, and for a null kernel's
 * changed inputs. */
enum { EXPECTED, PREVIOUS, OTHER, EXPECTATIONS };

/* A judgement's output, and the null kernel's replacement. */
struct nulled {
    int tensor;
    struct null_source source;
    float *value[EXPECTATIONS], *input, *out;
};

/* A judge and the tensors of one configuration, without any candidate. */
struct workplace {
    struct status status;
    struct buffers buffers;
    struct judge judge;
    struct phase_seconds seconds;
};

static void open_workplace(struct workplace *w, const struct judge_options *options)
{
    *w = (struct workplace){.status.imported = options->problem->task != NULL};
    w->buffers = (struct buffers){
        .problem = options->problem, .device = options->device, .workers = 1, .status = &w->status};
    buffers_open(&w->buffers);
    w->status.memory = w->buffers.memory;
    judge_open(&w->judge, options, &w->seconds, &w->status);
}

static void close_workplace(struct workplace *w)
{
    buffers_close(&w->buffers);
    judge_close(&w->judge);
}

/* State while one configuration is audited. */
struct auditing {
    struct workplace *at;
    struct audit *audit;
    const struct drawn *drawn;
    bool seen;
    const struct problem *problem;
    int judgements;
    struct instance instance;                  /* input draw 1, which is judged */
    struct nulled output[PROBLEM_MAX_TENSORS]; /* by judgement */
    void *staging;                             /* host memory with room for any tensor */
};

static struct judging judging_of(const struct auditing *a)
{
    struct judging judging = {.config = &a->drawn->config, .instance = &a->instance, .acquit_only = true};
    buffers_judged(&a->at->buffers, judging.tensor);
    return judging;
}

static const struct slot *slot_of(const struct auditing *a, int tensor)
{
    return &a->at->buffers.now->slot[tensor];
}

static size_t bytes_of(const struct auditing *a, int tensor)
{
    return slot_of(a, tensor)->bytes;
}

static enum dtype type_of(const struct auditing *a, int tensor)
{
    return a->problem->tensors[tensor].dtype;
}

static bool is_drawn(const struct auditing *a, int tensor)
{
    return slot_of(a, tensor)->own != NULL;
}

/* Computes the expected outputs for the session's current inputs, as floats. */
static bool expect(struct auditing *a, int which)
{
    const struct memory *const memory = a->at->buffers.memory;
    const struct judging judging = judging_of(a);
    for (int k = 0; k < a->judgements; k++) {
        const struct nulled *o = &a->output[k];
        const struct slot *const slot = slot_of(a, o->tensor);
        if (!judge_expect(&a->at->judge, &judging, k, slot->before))
            return false;
        const int error = memory->to_host(a->staging, slot->before, 0, (int64_t)slot->bytes);
        if (error)
            return status_failed(&a->at->status, "reading the expected output", error);
        null_decode(type_of(a, o->tensor), o->source.shape, a->staging, o->value[which]);
    }
    return true;
}

static bool load(struct auditing *a, int content)
{
    instance_clear(&a->instance);
    if (config_instantiate(&a->drawn->config, content, &a->instance) != 0)
        return status_failed(&a->at->status, "drawing the configuration", -1);
    return buffers_fill(&a->at->buffers, &a->drawn->config, &a->instance, content);
}

/* --- inputs of null kernels with less work --- */

/* Changes one input in the session's memory. */
static bool change_input(struct auditing *a, enum null_kind kind, int tensor)
{
    const struct memory *const memory = a->at->buffers.memory;
    const size_t bytes = bytes_of(a, tensor);
    void *own = slot_of(a, tensor)->own;
    int error = memory->to_host(a->staging, own, 0, (int64_t)bytes);
    if (!error) {
        null_change(kind, a->problem, &a->instance.tensor[tensor], type_of(a, tensor), a->staging);
        error = memory->from_host(own, a->staging, bytes);
    }
    return error ? status_failed(&a->at->status, "changing an input", error) : true;
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

/* Uses other memory and another judge, since shapes differ. */
static bool expect_smaller(struct auditing *a, const struct space *space)
{
    const struct config config = smaller(&a->drawn->config, space);
    const struct drawn drawn = {.config = config};
    struct workplace *const other = calloc(1, sizeof *other);
    struct auditing b = *a;
    char why[RESULT_DETAIL_SIZE];
    bool ok = false;
    b.instance = (struct instance){0};
    b.drawn = &drawn;
    b.at = other;
    if (other)
        open_workplace(other, &a->at->judge.options);
    if (other && config_instantiate(&config, 1, &b.instance) == 0) {
        ok = true;
        for (int k = 0; k < b.judgements; k++) {
            b.output[k].source.shape = &b.instance.tensor[b.output[k].tensor];
            b.output[k].source.count = instance_tensor_count(b.output[k].source.shape);
            ok = ok && b.output[k].source.count <= a->output[k].source.count;
        }
        ok = ok && buffers_create(&other->buffers, &b.instance, 1, false, why, sizeof why) == 0 &&
             buffers_fill(&other->buffers, &config, &b.instance, 1) && expect(&b, OTHER);
    }
    for (int k = 0; k < a->judgements; k++)
        a->output[k].source.others = ok ? b.output[k].source.count : 0;
    instance_clear(&b.instance);
    if (other)
        close_workplace(other);
    free(other);
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
    const struct memory *const memory = a->at->buffers.memory;
    for (int k = 0; k < a->judgements; k++) {
        const struct nulled *o = &a->output[k];
        const struct slot *const slot = slot_of(a, o->tensor);
        null_encode(type_of(a, o->tensor), o->source.shape, o->out, a->staging);
        const int error = memory->from_host(slot->got, a->staging, slot->bytes);
        if (error)
            return status_failed(&a->at->status, "placing an output", error);
    }
    return true;
}

static bool judge(struct auditing *a, enum null_kind kind)
{
    const struct judging judging = judging_of(a);
    struct output_result *output = calloc((size_t)a->judgements, sizeof *output);
    struct call_result call = {.output = output};
    struct config_result result = {0};
    struct totals totals = {&result, -1};
    const bool ok = output ? place(a) && judge_call(&a->at->judge, &judging, &call, &totals)
                           : status_failed(&a->at->status, "judging a null output", -1);
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
    const size_t bytes = (size_t)dtype_bytes(type_of(a, o->tensor), o->source.count);
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
           status_break(&a->at->status, SESSION_SHORT, "memory ran out: the outputs of null kernels");
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
static int copied_tensor(const struct auditing *a, int output)
{
    return slot_of(a, output)->own ? output : 0;
}

static bool read_inputs(struct auditing *a)
{
    const struct memory *const memory = a->at->buffers.memory;
    for (int k = 0; k < a->judgements; k++) {
        struct nulled *o = &a->output[k];
        const int from = copied_tensor(a, o->tensor);
        const int error = memory->to_host(a->staging, slot_of(a, from)->own, 0, (int64_t)bytes_of(a, from));
        if (error)
            return status_failed(&a->at->status, "reading an input", error);
        null_decode(type_of(a, from), &a->instance.tensor[from], a->staging, o->input);
        o->source.expected = o->value[EXPECTED];
        o->source.input = o->input;
    }
    return true;
}

static void describe_outputs(struct auditing *a)
{
    const struct judgement *const list = a->at->judge.judgement;
    a->judgements = a->at->judge.judgements;
    for (int k = 0; k < a->judgements; k++) {
        const int tensor = list[k].output, from = copied_tensor(a, tensor);
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
    const struct memory *const memory = a->at->buffers.memory;
    describe_outputs(a);
    bool ok = take_arrays(a);
    for (int t = 0; ok && a->problem->tensors[t].name; t++) {
        const struct slot *const slot = slot_of(a, t);
        ok = !slot->got || memory->poison(slot->got, slot->bytes, 0) == 0;
    }
    ok = ok && load(a, 0) && expect(a, PREVIOUS) && load(a, 1) && expect(a, EXPECTED) && read_inputs(a);
    if (ok)
        audit_kinds(a, space);
    free_arrays(a);
}

static void audit_one(struct workplace *at, struct audit *audit, const struct drawn *drawn, bool seen,
                      const struct space *space)
{
    struct auditing a = {
        .at = at, .audit = audit, .drawn = drawn, .seen = seen, .problem = at->judge.options.problem};
    char why[RESULT_DETAIL_SIZE];
    if (config_instantiate(&drawn->config, 1, &a.instance) != 0) {
        status_failed(&at->status, "drawing the configuration", -1);
        return;
    }
    if (buffers_create(&at->buffers, &a.instance, 1, false, why, sizeof why) == 0)
        audit_config(&a, space);
    else
        audit->skipped++;
    buffers_destroy(&at->buffers);
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
    const struct session_options session = run_session_options(task, &run);
    struct judge_options options = session_judge_options(&session);
    options.tolerance.given = false; /* audits the published check, not the user's */
    struct workplace *const at = calloc(1, sizeof *at);
    const int seen = task->seen_set.count, total = seen + task->unseen_set.count;
    const double start = clock_seconds();
    enum run_status status = at ? RUN_DONE : RUN_BROKEN;
    if (at)
        open_workplace(at, &options);
    else
        snprintf(error, error_size, "out of memory");
    memset(audit, 0, sizeof *audit);
    choose_kinds(task->problem, audit);
    for (int i = 0; at && i < total && status == RUN_DONE && !is_interrupted(); i++) {
        const struct drawn *drawn = i < seen ? &task->seen_set.item[i] : &task->unseen_set.item[i - seen];
        audit_one(at, audit, drawn, i < seen, &task->space);
        const enum session_status ended = status_end(&at->status);
        audit->skipped += ended == SESSION_SHORT;
        if (ended == SESSION_BAD || ended == SESSION_BROKEN) {
            snprintf(error, error_size, "%s", at->status.error);
            status = RUN_BROKEN;
        }
        if (progress)
            progress(i + 1, total);
    }
    if (at)
        close_workplace(at);
    free(at);
    audit->seconds = clock_seconds() - start;
    return is_interrupted() ? RUN_INTERRUPTED : status;
}
