#include "session_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "verify/task/task.h"

bool session_judges(const struct problem *problem, char *text, size_t text_size)
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

/* Every output must have a judgement; an unjudged output would be unprotected. */
static void find_judgements(struct session *s)
{
    char text[600];
    int missing;
    s->judgements = reference_list(s->options.problem, s->judgement, &missing);
    if (!session_judges(s->options.problem, text, sizeof text))
        session_break(s, SESSION_BAD, "%s", text);
}

struct session *session_open(const struct session_options *options)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->options = *options;
    s->memory = memory_of(options->device->backend);
    find_judgements(s);
    s->tensors = problem_tensor_count(options->problem);
    error_arithmetics(options->problem, options->device->capability, &s->arithmetics);
    for (int i = 0; i < SESSION_POOL; i++) {
        setup_clear(&s->setup[i]);
        s->setup[i].first_set = i * SESSION_RING;
    }
    s->now = s->setup;
    return s;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    child_stop(s->child);
    child_stop(s->own.child);
    ahead_drop(s);
    oracle_give(s->options.oracles, s->oracle);
    for (int i = 0; i < SESSION_POOL; i++) {
        s->now = &s->setup[i];
        slots_destroy(s);
    }
    free(s);
}

void session_limit(struct session *s, double seconds)
{
    s->options.timeout = seconds;
}

void session_copy(struct session *s, void *const *to)
{
    s->copies = to;
}

int session_admitted(const struct session *s)
{
    return s->arithmetics.admitted;
}

int session_losses(const struct session *s)
{
    return s->losses;
}

const char *session_error(const struct session *s)
{
    return s->error;
}

const struct finding *session_findings(const struct session *s, int *count)
{
    *count = s->findings;
    return s->finding;
}

void session_seconds(const struct session *s, struct phase_seconds *add_to)
{
    add_to->start += s->seconds.start;
    add_to->fill += s->seconds.fill;
    add_to->run += s->seconds.run;
    add_to->judge += s->seconds.judge;
    add_to->witness += s->seconds.witness;
    add_to->time += s->seconds.time;
}

double session_not_timing(const struct session *s)
{
    return s->seconds.judge + s->seconds.witness + s->seconds.start;
}

bool session_break(struct session *s, enum session_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (s->status == SESSION_OK) { /* only the first reason is kept */
        vsnprintf(s->error, sizeof s->error, format, arguments);
        s->status = status;
    }
    va_end(arguments);
    return false;
}

bool session_failed(struct session *s, const char *what, int error)
{
    bool here;
    const char *const trouble = s->options.problem->task ? imported_trouble(&here) : "";
    if (*trouble)
        return session_break(s, here ? SESSION_SHORT : SESSION_BROKEN, "%.1000s", trouble);
    if (error < 0 || s->memory->is_shortage(error))
        return session_break(s, SESSION_SHORT, "memory ran out: %s", what);
    return session_break(s, SESSION_BROKEN, "%s failed: %s", what, s->memory->explain(error));
}

void session_skip(struct config_result *result, enum cause cause)
{
    result->outcome = OUTCOME_SKIPPED;
    result->reason = (struct reason){.cause = cause, .stage = STAGE_NOT_RUN};
}

struct session_tensor session_tensor(const struct session *s, int tensor)
{
    const struct slot *slot = &s->now->slot[tensor];
    return (struct session_tensor){slot->own, slot->got, slot->before, slot->bytes};
}

const struct judgement *session_judgements(const struct session *s, int *count)
{
    *count = s->judgements;
    return s->judgement;
}

const struct memory *session_memory(const struct session *s)
{
    return s->memory;
}

const struct session_options *session_given(const struct session *s)
{
    return &s->options;
}

enum session_status session_end(struct session *s)
{
    const enum session_status status = s->status;
    if (status == SESSION_SHORT)
        s->status = SESSION_OK;
    return status;
}

void session_settle(struct session *s, struct config_result *result)
{
    if (session_end(s) != SESSION_SHORT)
        return;
    session_skip(result, CAUSE_MEMORY);
    snprintf(result->detail, sizeof result->detail, "%.300s", s->error);
}

void session_find(struct session *s, enum finding_kind kind, const char *format, ...)
{
    va_list arguments;
    for (int i = 0; i < s->findings; i++)
        if (s->finding[i].kind == kind)
            return; /* one proof per kind is enough */
    if (s->findings == SESSION_FINDINGS)
        return;
    struct finding *finding = &s->finding[s->findings++];
    finding->kind = kind;
    va_start(arguments, format);
    vsnprintf(finding->evidence, sizeof finding->evidence, format, arguments);
    va_end(arguments);
}

void session_twins(struct session *s, bool on)
{
    s->twinless = !on;
}

void session_arguments(const struct session *s, const struct instance *instance, struct call *call)
{
    session_arguments_of(s->options.problem, instance, call);
}

void session_arguments_of(const struct problem *problem, const struct instance *instance, struct call *call)
{
    call->arguments = problem_argument_count(problem);
    for (int i = 0; i < call->arguments; i++)
        call->argument[i] = argument_of(problem, instance, i);
}

bool session_is_state(const struct session *s, int t)
{
    const struct python *const python = s->options.python;
    const char *const name = s->options.problem->tensors[t].name;
    const size_t length = strlen(name);
    for (const char *p = python ? strstr(python->state, name) : NULL; p; p = strstr(p + 1, name))
        if ((p == python->state || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
            return true;
    return false;
}

/* Did the candidate report a lack of memory? A module by an exception of that kind
 * (verify/python/shortage.py), a kernel by the runtime's code. */
static bool wants_memory(const struct session *s, const struct child_answer *answer)
{
    return (s->options.python || s->options.device->backend == BACKEND_CUDA) &&
           answer->returned == RETURNED_SHORT;
}

void session_refused(struct session *s, const struct child_answer *answer, struct call_result *result)
{
    s->wanted_memory = wants_memory(s, answer);
    s->least_free = fmin(s->free_bytes, (double)s->memory->available());
    result->outcome = OUTCOME_REFUSED;
    result->reason.cause = CAUSE_RETURN;
    if (*answer->words)
        snprintf(result->detail, sizeof result->detail, "%.300s", answer->words);
    else
        snprintf(result->detail, sizeof result->detail, "returned %d", answer->returned);
}

/* --- the child process --- */

static const struct {
    enum child_status status;
    enum outcome outcome;
    enum cause cause;
} outcome_of[] = {
    {CHILD_OVERRUN, OUTCOME_OVERRUN, CAUSE_GUARD}, {CHILD_CRASH, OUTCOME_CRASH, CAUSE_END},
    {CHILD_TIMEOUT, OUTCOME_TIMEOUT, CAUSE_TIME},  {CHILD_GARBAGE, OUTCOME_CRASH, CAUSE_CHANNEL},
    {CHILD_MEMORY, OUTCOME_SKIPPED, CAUSE_MEMORY}, {CHILD_EXCEEDED, OUTCOME_EXCEEDED, CAUSE_LIMIT},
    {CHILD_SHORT, OUTCOME_SKIPPED, CAUSE_MEMORY},  {CHILD_OVER, OUTCOME_SKIPPED, CAUSE_BUDGET},
    {CHILD_KILLED, OUTCOME_CRASH, CAUSE_KILLED},   {CHILD_RAISED, OUTCOME_CRASH, CAUSE_END},
};

/* Records whose guard was hit, and on which side. */
static void explain_fault(const struct child_fault *fault, struct reason *reason)
{
    reason->tensor = fault->slot;
    reason->side = fault->slot < 0 ? SIDE_NONE : fault->below ? SIDE_BELOW : SIDE_ABOVE;
}

void session_restart(struct session *s)
{
    child_stop(s->child);
    s->child = NULL;
    s->raised.before = false;
    for (int i = 0; i < SESSION_POOL; i++)
        s->setup[i].mapped = false;
}

/* Handles the failure of the child process: it is gone, unless it only raised an exception. Sets the outcome,
 * or aborts the run. */
void session_child_failed(struct session *s, enum child_status status, const char *text,
                          struct call_result *result)
{
    const struct child_fault fault = s->child ? child_fault(s->child) : (struct child_fault){.slot = -1};
    if (status == CHILD_RAISED && s->raised.may_live)
        s->raised.before = s->raised.now = true;
    else
        session_restart(s);
    s->losses += status == CHILD_OVERRUN || status == CHILD_CRASH || status == CHILD_EXCEEDED;
    snprintf(result->detail, sizeof result->detail, "%s", text);
    for (size_t i = 0; i < sizeof outcome_of / sizeof *outcome_of; i++)
        if (outcome_of[i].status == status) {
            result->outcome = outcome_of[i].outcome;
            result->reason.cause = outcome_of[i].cause;
            if (status == CHILD_OVERRUN)
                explain_fault(&fault, &result->reason);
            if (status == CHILD_GARBAGE)
                session_find(s, FINDING_CHANNEL,
                             "the candidate's process wrote on the channel "
                             "that only the runner answers on: %s",
                             text);
            return;
        }
    session_break(s, child_status_owner(status) == OWNER_CANDIDATE ? SESSION_BAD : SESSION_BROKEN, "%s",
                  text);
}

/* Time limit for loading. A short --timeout is meant for the kernel, while the loader must read files; so the
 * limit is larger, up to a factor. */
static double load_limit(double timeout)
{
    static const double times = 5, enough = 10;
    return fmax(timeout, fmin(times * timeout, enough));
}

struct child_options session_child_options(const struct session *s)
{
    return (struct child_options){
        .backend = s->options.device->backend,
        .device = s->options.device->ordinal,
        .object = s->options.object,
        .symbol = s->options.problem->name,
        .python = s->options.python,
        .own = s->own.at_hand,
        .load_timeout =
            s->options.python ? s->options.python->compile_timeout : load_limit(s->options.timeout),
        .memory = s->options.memory,
        .threads = s->options.threads,
        .log_path = s->options.log_path,
    };
}

/* A candidate that dies while it is loaded is at fault as in a call, even if it loaded before. */
static bool start_child(struct session *s, struct call_result *result)
{
    char text[RESULT_DETAIL_SIZE];
    const struct child_options options = session_child_options(s);
    const double start = clock_seconds();
    const enum child_status status = s->own.at_hand ? child_start(&s->child, &options, text, sizeof text)
                                                    : ahead_take(s, text, sizeof text);
    s->seconds.start += clock_seconds() - start;
    s->past.count = 0;
    if (status == CHILD_OK)
        return true;
    session_child_failed(s, status == CHILD_SHORT && session_has_memory(s) ? CHILD_LOAD : status, text,
                         result);
    result->reason.stage = STAGE_LOADING;
    if (outcome_fails(result->outcome))
        snprintf(result->detail, sizeof result->detail, "while it was being loaded: %.260s", text);
    return false;
}

/* Handles a process that cannot map the judge's tensors. If a process without the candidate can, the
 * candidate has damaged its own process. A lack of memory on a GPU is blamed on the machine, since other
 * processes may have used it meanwhile. */
static void map_failed(struct session *s, enum child_status status, const char *text,
                       struct call_result *result)
{
    const bool asks =
        status == CHILD_DEVICE || (status == CHILD_MEMORY && s->options.device->backend == BACKEND_HOST);
    char words[RESULT_DETAIL_SIZE];
    if (asks)
        session_restart(s); /* its memory may be what the control process needs */
    if (!asks || !control_maps(s, s->now)) {
        session_child_failed(s, status, text, result);
        return;
    }
    snprintf(words, sizeof words, "its process takes no tensors any more: %.200s", text);
    session_child_failed(s, CHILD_CRASH, words, result);
}

bool session_child(struct session *s, struct call_result *result)
{
    struct setup *setup = s->now;
    char text[RESULT_DETAIL_SIZE];
    enum child_status status = CHILD_OK;
    if (!s->child && !start_child(s, result))
        return false;
    if (setup->mapped)
        return true;
    for (int ring = 0; ring < setup->rings && status == CHILD_OK; ring++)
        for (int t = 0; t < s->tensors && status == CHILD_OK; t++)
            status = child_map_tensor(s->child, setup->first_set + ring, t, &setup->slot[t].region[ring],
                                      &setup->slot[t].tensor, text, sizeof text);
    if (status != CHILD_OK) {
        map_failed(s, status, text, result);
        return false;
    }
    setup->mapped = true;
    setup->called = false;
    return true;
}

/* Time limit of a call. A module may compile for each shape in its first call. The call looks the same to the
 * candidate. */
double session_call_limit(struct session *s)
{
    const bool first = !s->now->called;
    s->now->called = true;
    return s->options.python && first ? fmax(s->options.timeout, s->options.python->compile_timeout)
                                      : s->options.timeout;
}

static void unmap_child(struct session *s, enum child_status (*unmap)(struct child *, int, char *, size_t))
{
    char text[RESULT_DETAIL_SIZE];
    for (int ring = 0; ring < s->now->rings && s->now->mapped && s->child; ring++)
        if (unmap(s->child, s->now->first_set + ring, text, sizeof text) != CHILD_OK)
            session_restart(s);
}

void session_unmap_child(struct session *s)
{
    unmap_child(s, child_unmap);
}

void session_unmap(struct session *s)
{
    unmap_child(s, s->keeps_model ? child_unmap_and_keep : child_unmap);
    s->keeps_model = false;
    own_unmap(s);
    slots_destroy(s);
}
