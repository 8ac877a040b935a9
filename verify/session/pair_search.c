/* Failures that need two configurations: one passes in a process of its own, and fails after another one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expected_values.h"
#include "pair.h"
#include "session_internal.h"
#include "sibling.h"

bool pair_call_fails(struct session *s, const struct config *config, bool fresh, struct config_result *result)
{
    if (fresh)
        worker_restart(&s->worker);
    memset(result, 0, sizeof *result);
    result->config = *config;
    s->worker.keeps_model = fresh;
    return check_calls(s, config, NULL, true, result) == SESSION_OK &&
           retry_find(RETRY_STEP_SIBLING, result, RETRY_NO_FACTS);
}

bool pair_fails_after(struct session *s, const struct config *config, const struct config *after, int times,
                      struct config_result *result)
{
    bool fails = true;
    for (int i = 0; i < times && fails; i++)
        fails = !pair_call_fails(s, after, true, result) && s->status.code == SESSION_OK &&
                pair_call_fails(s, config, false, result);
    return fails;
}

static bool passes_alone(struct session *s, const struct config *config, int times,
                         struct config_result *result)
{
    bool passes = true;
    for (int i = 0; i < times && passes; i++)
        passes = !pair_call_fails(s, config, true, result) && s->status.code == SESSION_OK &&
                 result->outcome == OUTCOME_PASS;
    return passes;
}

/* Copies the failure of `config`, and records the configuration that preceded it. */
static void tell(const struct problem *problem, const struct config *config, const struct config *after,
                 const struct config_result *found, struct config_result *result)
{
    char before[80];
    pair_record(problem, config, after, &result->pair);
    sibling_axes(problem, after, config, before, sizeof before);
    result->outcome = found->outcome;
    result->reason = found->reason;
    result->reason.stage = STAGE_TWIN;
    result->worst = found->worst;
    snprintf(result->detail, sizeof result->detail,
             "%s after %s (%.60s) in the same process, right in a process of its own: %.100s",
             outcome_name(found->outcome), before, result->pair.relation, found->detail);
}

enum session_status session_check_after(struct session *s, const struct config *config,
                                        const struct config *after, struct config_result *result)
{
    struct config_result *const found = calloc(1, sizeof *found), *const other = malloc(sizeof *other);
    const bool twinless = s->worker.past.siblings_off;
    s->worker.past.siblings_off = true;
    const int times = retry_times(RETRY_STEP_AFTER);
    bool depends = false;
    if (found && other && memory_gate_enter(s->options.room)) {
        depends = pair_fails_after(s, config, after, times, found) && passes_alone(s, config, times, other) &&
                  expected_admits(&s->judge, after, config);
        memory_gate_leave(s->options.room);
    }
    enum session_status status = s->status.code;
    if (status == SESSION_OK && depends)
        tell(s->options.problem, config, after, found, result);
    else if (status == SESSION_OK) {
        worker_restart(&s->worker);
        status = session_check(s, config, result);
    }
    s->worker.past.siblings_off = twinless;
    free(found);
    free(other);
    return status;
}

/* --- finding the preceding configuration --- */

/* Lists earlier configurations that may collide with it, most recent first. Returns their number, at most
 * `most`. */
static int list_suspects(const struct worker *w, const struct config *config, struct config *suspect,
                         int most)
{
    const int from = w->past.count > PAST_CONFIGS ? w->past.count - PAST_CONFIGS : 0;
    int count = 0;
    for (int i = w->past.count - 1; i >= from && count < most; i--) {
        const struct config *const past = &w->past.item[i % PAST_CONFIGS];
        if (!config_same_point(past, config) && sibling_may_collide(w->options->problem, config, past))
            suspect[count++] = *past;
    }
    return count;
}

/* Once a pair was found, more such pairs are likely, and are found with fewer attempts. */
enum { SUSPECTS = 12, FEWER = 4, SEARCHES = 6, IN_VAIN = 3 };

/* It passes in a process of its own, while other failures of this candidate depend on earlier calls. */
static void tell_company(struct config_result *result)
{
    char found[161];
    snprintf(found, sizeof found, "%.160s", result->detail);
    result->reason.stage = STAGE_TWIN;
    snprintf(result->detail, sizeof result->detail,
             "%s after other configurations in the same process, right in a process of its own: %s",
             outcome_name(result->outcome), found);
}

static void search(struct session *s, const struct config *config, struct config_result *result)
{
    struct config_result *const found = calloc(1, sizeof *found);
    struct config *const suspect = calloc(SUSPECTS, sizeof *suspect);
    const bool known = s->worker.past.pairs > 0;
    const int times = retry_times(known ? RETRY_STEP_FOUND : RETRY_STEP_SEARCH),
              findings = s->evidence.findings;
    const int suspects =
        found && suspect ? list_suspects(&s->worker, config, suspect, known ? FEWER : SUSPECTS) : 0;
    if ((suspects > 0 || known) && found && !passes_alone(s, config, times, found)) {
        s->worker.past.in_vain++;
    } else if (suspects > 0 || known) {
        s->worker.past.in_vain = 0;
        for (int i = 0; i < suspects && s->status.code == SESSION_OK && !result->pair.present; i++)
            if (pair_fails_after(s, config, &suspect[i], times, found))
                tell(s->options.problem, config, &suspect[i], found, result);
        s->worker.past.pairs += result->pair.present;
        s->worker.past.searches += !result->pair.present && !known;
        if (known && !result->pair.present)
            tell_company(result);
    }
    s->evidence.findings = findings;
    free(found);
    free(suspect);
}

enum session_status session_attribute(struct session *s, const struct config *config,
                                      struct config_result *result)
{
    const bool twinless = s->worker.past.siblings_off;
    const enum retry_step step = s->worker.past.pairs > 0 ? RETRY_STEP_FOUND : RETRY_STEP_SEARCH;
    if (s->status.code != SESSION_OK || result->pair.present || !retry_find(step, result, RETRY_NO_FACTS) ||
        !s->options.space || s->options.python || s->worker.past.in_vain >= IN_VAIN ||
        s->worker.past.searches >= SEARCHES || s->evidence.pattern || !defence_is_on(DEFENCE_TWIN) ||
        !memory_gate_enter(s->options.room))
        return s->status.code;
    s->worker.past.siblings_off = true;
    search(s, config, result);
    s->worker.past.siblings_off = twinless;
    memory_gate_leave(s->options.room);
    return s->status.code;
}
