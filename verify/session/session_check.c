/* Checks one configuration, and again as the table of retries says (retry.h). */
#include "mixture.h"
#include "pair.h"
#include "retry.h"
#include "session_internal.h"

/* A process that has raised an exception is kept, since a new one takes seconds to load and compile. */
static enum session_status check_in_process(struct session *s, const struct config *config,
                                            const struct mix *mix, struct config_result *result)
{
    struct retry retry = retry_begin(RETRY_STEP_PROCESS, result);
    const bool raised = s->worker.exception.before;
    const int findings = s->evidence.findings;
    s->worker.exception.now = false;
    enum session_status status = check_calls(s, config, mix, false, result);
    const unsigned facts =
        raised && !exception_is_known(&s->worker.exception, result) ? RETRY_EXCEPTION_BEFORE : RETRY_NO_FACTS;
    if (status == SESSION_OK && retry_again(&retry, result, facts)) {
        worker_restart(&s->worker);
        *result = retry.before;
        s->worker.exception.now = false;
        s->evidence.findings = findings;
        if (s->evidence.pattern)
            s->evidence.pattern->present = false;
        status = check_calls(s, config, mix, false, result);
    }
    if (status == SESSION_OK)
        exception_keep(&s->worker.exception, result);
    return status;
}

/* Checks beside other processes, or in exclusive possession of device memory. */
static enum session_status check_in_gate(struct session *s, const struct config *config,
                                         const struct mix *mix, struct config_result *result)
{
    struct retry retry = retry_begin(RETRY_STEP_MEMORY, result);
    if (!memory_gate_enter(s->options.room))
        return s->status.code;
    enum session_status status = check_in_process(s, config, mix, result);
    if (status == SESSION_OK && !mix && result->outcome == OUTCOME_PASS && !sibling_check(s, config, result))
        status = s->status.code;
    memory_gate_leave(s->options.room);
    if (status != SESSION_OK || !memory_was_short(&s->worker, &retry, result) ||
        !memory_gate_enter_alone(s->options.room))
        return status;
    *result = retry.before;
    (void)enclosure_cache_clear(s->judge.cache[s->options.device->backend]);
    status = check_in_process(s, config, mix, result);
    memory_settle(&s->worker, result);
    memory_gate_leave_alone(s->options.room);
    return status;
}

static enum session_status check(struct session *s, const struct config *config, const struct mix *mix,
                                 struct config_result *result)
{
    result->killed_once = false;
    struct retry retry = retry_begin(RETRY_STEP_SIGNAL, result);
    enum session_status status = check_in_gate(s, config, mix, result);
    if (status != SESSION_OK || !retry_again(&retry, result, RETRY_NO_FACTS))
        return status;
    *result = retry.before;
    status = check_in_gate(s, config, mix, result);
    result->killed_once = result->reason.cause != CAUSE_KILLED;
    return status;
}

enum session_status session_check(struct session *s, const struct config *config,
                                  struct config_result *result)
{
    return check(s, config, NULL, result);
}

enum session_status session_check_mix(struct session *s, const struct mix *mix, struct config_result *result)
{
    return check(s, &mix->of->own_config, mix, result);
}
