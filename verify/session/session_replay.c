/* Proof that an answer was not computed.
 *
 * A call's output is wrong, and has exactly the bits of the answer to an earlier call's different inputs. A
 * cache whose key is the address, or a part of the values, behaves like that. So may a kernel that drops the
 * single differing element, or one whose wrong answer looks like another's right one (NaN everywhere). Such
 * kernels do it again in a process that has never seen the other inputs; a cache cannot. */
#include <stdio.h>
#include <stdlib.h>

#include "gen/contract/space.h"
#include "session_internal.h"
#include "verify/system/defence.h"

/* Placement of the tensors in a call. */
static enum placement placement_of(const struct session *s, const struct call *call)
{
    const int ring = call->set - s->now->first_set;
    for (enum placement placement = PLACE_LOW; placement < PLACE_MIXED; placement++) {
        bool same = true;
        for (int t = 0; t < s->tensors; t++)
            same = same && call->offset[t] == region_offset(&s->now->slot[t].region[ring], placement);
        if (same)
            return placement;
    }
    return PLACE_MIXED;
}

/* Makes one call as the first of a process; *passed: it returned 0. */
static bool call_anew(struct session *s, const struct judging *judging, const struct content *content,
                      const struct call *like, bool *passed)
{
    struct call call = *like;
    struct call_result ended = {0};
    struct child_answer answer = {.returned = -1};
    char text[RESULT_DETAIL_SIZE];
    const int ring = like->set - s->now->first_set;
    const enum placement placement = placement_of(s, like);
    *passed = false;
    session_restart(s);
    if (!slots_place(s, ring, placement, content, &call))
        return false;
    session_arguments(s, judging->instance, &call);
    if (!session_child(s, &ended))
        return s->status == SESSION_OK;
    const enum child_status status =
        child_call(s->child, &call, session_call_limit(s), &answer, text, sizeof text);
    if (status != CHILD_OK)
        session_child_failed(s, status, text, &ended);
    *passed = status == CHILD_OK && answer.returned == 0;
    return s->status == SESSION_OK;
}

/* Is the output without the changed element equal to `got`? */
static bool answers_the_same(struct session *s, const struct judging *judging, const struct content *content,
                             const struct call *call, bool *same)
{
    struct content plain = *content;
    plain.near.present = false;
    if (!call_anew(s, judging, &plain, call, same) || !*same)
        return s->status == SESSION_OK;
    if (!slots_keep(s, call, true))
        return false;
    for (int t = 0; t < s->tensors && *same; t++) {
        const struct slot *slot = &s->now->slot[t];
        int64_t first = -1;
        const int error =
            slot->got ? s->memory->find_difference(slot->got, slot->before, slot->bytes, &first) : 0;
        if (error)
            return session_failed(s, "comparing outputs", error);
        *same = first < 0;
    }
    return true;
}

/* Is the output with the changed element right now? It is judged in place of the other. */
static bool is_right_now(struct session *s, const struct judging *judging, const struct content *content,
                         const struct call *call, bool *right)
{
    struct output_result *output = calloc((size_t)s->judgements, sizeof *output);
    struct config_result *scratch = calloc(1, sizeof *scratch);
    struct call_result result = {.output = output};
    struct totals totals = {scratch, -1};
    const struct judging brief = {
        .config = judging->config, .instance = judging->instance, .call = judging->call, .acquit_only = true};
    bool ok = output && scratch ? call_anew(s, judging, content, call, right)
                                : session_failed(s, "proving a replay", -1);
    if (ok && *right) {
        ok = slots_keep(s, call, true);
        slots_swap(s);
        ok = ok && session_judge(s, &brief, &result, &totals);
        slots_swap(s);
        *right = result.outcome == OUTCOME_PASS;
    }
    free(output);
    free(scratch);
    return ok;
}

/* Is a new process's answer right, and not that of the earlier call (`content`, as in replay_prove)? */
static bool prove(struct session *s, const struct judging *judging, const struct content *content,
                  const struct call *call, bool *proved)
{
    bool same = true;
    struct pattern *const pattern = s->pattern;
    *proved = false;
    s->pattern = NULL; /* it belongs to another call */
    if ((!content || answers_the_same(s, judging, content, call, &same)) && same)
        is_right_now(s, judging, content, call, proved);
    s->pattern = pattern;
    return s->status == SESSION_OK;
}

/* One proof suffices. Each needs a process or two, which would take all of the time if every answer is a
 * replay. */
static bool is_found(const struct session *s)
{
    bool found = false;
    for (int i = 0; i < s->findings; i++)
        found = found || s->finding[i].kind == FINDING_REPLAY;
    return found;
}

bool replay_prove_fresh(struct session *s, const struct judging *judging, const struct call *call, int k,
                        const struct judge_report *report, bool *proved)
{
    char line[RESULT_LINE_SIZE];
    const bool several = s->judgements > 1;
    *proved = is_found(s);
    if (*proved)
        return true;
    if (!prove(s, judging, NULL, call, proved))
        return false;
    if (!*proved)
        return true;
    config_format(judging->config, line, sizeof line);
    session_find(
        s, FINDING_REPLAY,
        "%.110s: with fresh inputs at the same addresses it returned, bit for bit, its answer to the "
        "previous inputs (%lld of %lld elements%s%s wrong); in a process of its own it answers rightly",
        line, (long long)report->wrong, (long long)report->elements, several ? " of " : "",
        several ? s->options.problem->tensors[s->judgement[k].output].name : "");
    return true;
}

bool replay_prove(struct session *s, const struct judging *judging, const struct content *content,
                  const struct call *call, const struct near *near, const char *where)
{
    char line[RESULT_LINE_SIZE], element[160];
    bool proved = false;
    if (!defence_is_on(DEFENCE_REPLAY) || is_found(s))
        return true;
    if (!prove(s, judging, content, call, &proved))
        return false;
    if (!proved)
        return true;
    config_format(judging->config, line, sizeof line);
    content_describe_near(s->options.problem, judging->instance, near, element, sizeof element);
    session_find(
        s, FINDING_REPLAY,
        "%.110s%s: with %.90s it returned, bit for bit, its answer to the inputs before; in a process of its "
        "own, without those, it answers rightly",
        line, where, element);
    return true;
}
