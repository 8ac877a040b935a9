/* Proof that an answer was not computed.
 *
 * A call's output is wrong, and has exactly the bits of the answer to an earlier call's different inputs. A
 * cache whose key is the address, or a part of the values, behaves like that. So may a kernel that drops the
 * single differing element, or one whose wrong answer looks like another's right one (NaN everywhere). Such
 * kernels do it again in a process that has never seen the other inputs; a cache cannot. */
#include <stdio.h>
#include <stdlib.h>

#include "gen/contract/space.h"
#include "proof.h"
#include "session_internal.h"
#include "verify/util/defence.h"

/* Placement of the tensors in a call. */
static enum placement placement_of(const struct buffers *b, const struct call *call)
{
    const int ring = call->set - b->now->first_set;
    for (enum placement placement = PLACE_LOW; placement < PLACE_MIXED; placement++) {
        bool same = true;
        for (int t = 0; t < b->tensors; t++)
            same = same && call->offset[t] == region_offset(&b->now->slot[t].region[ring], placement);
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
    const int ring = like->set - s->buffers.now->first_set;
    const enum placement placement = placement_of(&s->buffers, like);
    *passed = false;
    worker_restart(&s->worker);
    if (!buffers_place(&s->buffers, ring, placement, content, &call))
        return false;
    call_arguments(s->options.problem, judging->instance, &call);
    if (!worker_map(&s->worker, &ended))
        return s->status.code == SESSION_OK;
    const enum child_status status =
        child_call(s->worker.child, &call, worker_call_limit(&s->worker), &answer, text, sizeof text);
    if (status != CHILD_OK)
        worker_failed(&s->worker, status, text, &ended);
    *passed = status == CHILD_OK && answer.returned == 0;
    return s->status.code == SESSION_OK;
}

/* Is the output without the changed element equal to `got`? */
static bool answers_the_same(struct session *s, const struct judging *judging, const struct content *content,
                             const struct call *call, bool *same)
{
    struct content plain = *content;
    plain.near.present = false;
    if (!call_anew(s, judging, &plain, call, same) || !*same)
        return s->status.code == SESSION_OK;
    if (!buffers_keep(&s->buffers, call, true))
        return false;
    unsigned differ;
    if (!buffers_compare(&s->buffers, &differ))
        return false;
    *same = differ == 0;
    return true;
}

/* Is the output with the changed element right now? It is judged in place of the other. */
static bool is_right_now(struct session *s, const struct judging *judging, const struct content *content,
                         const struct call *call, bool *right)
{
    struct output_result *output = calloc((size_t)s->judge.judgements, sizeof *output);
    struct config_result *scratch = calloc(1, sizeof *scratch);
    struct call_result result = {.output = output};
    struct totals totals = {scratch, -1};
    bool ok = output && scratch ? call_anew(s, judging, content, call, right)
                                : status_failed(&s->status, "proving a replay", -1);
    if (ok && *right) {
        ok = buffers_keep(&s->buffers, call, true);
        buffers_swap(&s->buffers);
        struct judging brief = session_judging(s, judging->config, judging->instance, judging->call);
        brief.acquit_only = true;
        brief.pattern = NULL; /* it belongs to another call */
        ok = ok && judge_call(&s->judge, &brief, &result, &totals);
        buffers_swap(&s->buffers);
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
    *proved = false;
    if ((!content || answers_the_same(s, judging, content, call, &same)) && same)
        is_right_now(s, judging, content, call, proved);
    return s->status.code == SESSION_OK;
}

bool replay_prove_fresh(struct session *s, const struct judging *judging, const struct call *call, int k,
                        const struct judge_report *report, bool *proved)
{
    char line[RESULT_LINE_SIZE];
    const bool several = s->judge.judgements > 1;
    /* One proof suffices. Each needs a process or two, which would take all of the time if every answer is a
     * replay. */
    *proved = evidence_has(&s->evidence, FINDING_REPLAY);
    if (*proved)
        return true;
    if (!prove(s, judging, NULL, call, proved))
        return false;
    if (!*proved)
        return true;
    config_format(judging->config, line, sizeof line);
    evidence_find(
        &s->evidence, FINDING_REPLAY,
        "%.110s: with fresh inputs at the same addresses it returned, bit for bit, its answer to the "
        "previous inputs (%lld of %lld elements%s%s wrong); in a process of its own it answers rightly",
        line, (long long)report->wrong, (long long)report->elements, several ? " of " : "",
        several ? s->options.problem->tensors[s->judge.judgement[k].output].name : "");
    return true;
}

bool replay_prove(struct session *s, const struct judging *judging, const struct content *content,
                  const struct call *call, const struct near *near, const char *where)
{
    char line[RESULT_LINE_SIZE], element[160];
    bool proved = false;
    if (!defence_is_on(DEFENCE_REPLAY) || evidence_has(&s->evidence, FINDING_REPLAY))
        return true;
    if (!prove(s, judging, content, call, &proved))
        return false;
    if (!proved)
        return true;
    config_format(judging->config, line, sizeof line);
    content_describe_near(s->options.problem, judging->instance, near, element, sizeof element);
    evidence_find(
        &s->evidence, FINDING_REPLAY,
        "%.110s%s: with %.90s it returned, bit for bit, its answer to the inputs before; in a process of its "
        "own, without those, it answers rightly",
        line, where, element);
    return true;
}
