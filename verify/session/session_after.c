/* Failures that need two configurations: one passes in a process of its own, and fails after another one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session_internal.h"
#include "sibling.h"

void past_add(struct session *s, const struct config *config)
{
    s->past.item[s->past.count++ % SESSION_PAST] = *config;
}

/* May the failure come from a stale plan or table? */
static bool may_depend(const struct config_result *result)
{
    return outcome_fails(result->outcome) && result->outcome != OUTCOME_TIMEOUT &&
           result->outcome != OUTCOME_EXCEEDED && result->reason.stage != STAGE_LOADING &&
           result->reason.cause != CAUSE_KILLED;
}

/* Makes one call in a new process, or in the current one. */
static bool call_fails(struct session *s, const struct config *config, bool fresh,
                       struct config_result *result)
{
    if (fresh)
        session_restart(s);
    memset(result, 0, sizeof *result);
    result->config = *config;
    s->keeps_model = fresh;
    return session_check_first(s, config, result) == SESSION_OK && outcome_is_rejected(result->outcome) &&
           result->outcome != OUTCOME_REFUSED && result->outcome != OUTCOME_TIMEOUT;
}

/* Does `config` fail after `after`, which itself passes, in each of `times` new processes? */
static bool fails_after(struct session *s, const struct config *config, const struct config *after, int times,
                        struct config_result *result)
{
    bool fails = true;
    for (int i = 0; i < times && fails; i++)
        fails = !call_fails(s, after, true, result) && s->status == SESSION_OK &&
                call_fails(s, config, false, result);
    return fails;
}

static bool passes_alone(struct session *s, const struct config *config, int times,
                         struct config_result *result)
{
    bool passes = true;
    for (int i = 0; i < times && passes; i++)
        passes = !call_fails(s, config, true, result) && s->status == SESSION_OK &&
                 result->outcome == OUTCOME_PASS;
    return passes;
}

/* Copies the failure of `config`, and records the configuration that preceded it. */
static void tell(const struct session *s, const struct config *config, const struct config *after,
                 const struct config_result *found, struct config_result *result)
{
    char before[80];
    session_pair(s, config, after, &result->pair);
    sibling_axes(s->options.problem, after, config, before, sizeof before);
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
    const bool twinless = s->twinless;
    s->twinless = true;
    bool depends = false;
    if (found && other && room_enter(s->options.room)) {
        depends = fails_after(s, config, after, 1, found) && passes_alone(s, config, 1, other) &&
                  told_admits(s, after, config);
        room_leave(s->options.room);
    }
    enum session_status status = s->status;
    if (status == SESSION_OK && depends)
        tell(s, config, after, found, result);
    else if (status == SESSION_OK) {
        session_restart(s);
        status = session_check_settled(s, config, result);
    }
    s->twinless = twinless;
    free(found);
    free(other);
    return status;
}

/* --- finding the preceding configuration --- */

/* Lists earlier configurations that may collide with it, most recent first. Returns their number, at most
 * `most`. */
static int list_suspects(const struct session *s, const struct config *config, struct config *suspect,
                         int most)
{
    const int from = s->past.count > SESSION_PAST ? s->past.count - SESSION_PAST : 0;
    int count = 0;
    for (int i = s->past.count - 1; i >= from && count < most; i--) {
        const struct config *const past = &s->past.item[i % SESSION_PAST];
        if (!config_same_point(past, config) && sibling_may_collide(s->options.problem, config, past))
            suspect[count++] = *past;
    }
    return count;
}

/* Once a pair was found, more such pairs are likely, and are found with fewer attempts. */
enum { SUSPECTS = 12, FEWER = 4, TIMES = 3, SEARCHES = 6, IN_VAIN = 3 };

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
    const bool known = s->past.pairs > 0;
    const int times = known ? 1 : TIMES, findings = s->findings;
    const int suspects = found && suspect ? list_suspects(s, config, suspect, known ? FEWER : SUSPECTS) : 0;
    if ((suspects > 0 || known) && found && !passes_alone(s, config, times, found)) {
        s->past.in_vain++;
    } else if (suspects > 0 || known) {
        s->past.in_vain = 0;
        for (int i = 0; i < suspects && s->status == SESSION_OK && !result->pair.present; i++)
            if (fails_after(s, config, &suspect[i], times, found))
                tell(s, config, &suspect[i], found, result);
        s->past.pairs += result->pair.present;
        s->past.searches += !result->pair.present && !known;
        if (known && !result->pair.present)
            tell_company(result);
    }
    s->findings = findings;
    free(found);
    free(suspect);
}

enum session_status session_attribute(struct session *s, const struct config *config,
                                      struct config_result *result)
{
    const bool twinless = s->twinless;
    if (s->status != SESSION_OK || result->pair.present || !may_depend(result) || !s->options.space ||
        s->options.python || s->past.in_vain >= IN_VAIN || s->past.searches >= SEARCHES || s->pattern ||
        !defence_is_on(DEFENCE_TWIN) || !room_enter(s->options.room))
        return s->status;
    s->twinless = true;
    search(s, config, result);
    s->twinless = twinless;
    room_leave(s->options.room);
    return s->status;
}
