/* Questions to MPFR about one judgement of a call: open elements, the worst element, and a sample that audits
 * the enclosure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/random/pcg.h"
#include "gen/contract/space.h"
#include "expected_values.h"
#include "verify/util/clock.h"
#include "witness.h"

/* Terms that MPFR may use to audit one configuration, besides its worst element. */
static const double audit_terms = 4e5;

/* Terms of a fold that MPFR may use to confirm a wrong element. Beyond that the enclosure decides, and is
 * audited over some of the terms. */
static const double hearing_terms = 2e7;

static const struct reference *reference_of(const struct judge *judge, int k)
{
    return judge->judgement[k].reference;
}

/* An imported task has precomputed expected values; expected_values.c confirms them. */
static bool has_witness(const struct judge *judge, int k)
{
    return reference_of(judge, k)->witness_list != NULL;
}

bool witness_is_expensive(const struct judge *judge, int k, const struct judge_request *request)
{
    return has_witness(judge, k) && reference_of(judge, k)->row_of(request, 0) >= 0 &&
           reference_of(judge, k)->witness_cost(request) * JUDGE_SAMPLES > audit_terms;
}

/* An expensive fold is audited over as many terms as the audit allows, from a random position on. */
static void choose_terms(const struct reference *reference, struct pcg *pcg, int64_t index,
                         struct judge_request *request)
{
    const int64_t terms = reference->terms(request, index);
    const double fitting = audit_terms * (double)terms / reference->witness_cost(request);
    const int64_t count = fitting < 1 ? 1 : (int64_t)fitting;
    const int64_t first = pcg && terms > count ? (int64_t)pcg_below(pcg, (uint64_t)(terms - count + 1)) : 0;
    request->context.first_term = first;
    request->context.end_term = first + count;
    for (int i = 1; i < JUDGE_SAMPLES; i++)
        request->sample[i] = -1;
}

/* The random stream of the first judgement is named by the problem; those of others also by their tensor. */
void witness_choose(const struct judge *judge, const struct judging *j, int k, int64_t near, int64_t elements,
                    struct judge_request *request)
{
    const struct problem *problem = judge->options.problem;
    char purpose[160];
    if (!has_witness(judge, k))
        return;
    snprintf(purpose, sizeof purpose, "%s/audit/%d%s%s", problem->name, j->call, k ? "/" : "",
             k ? problem->tensors[request->output].name : "");
    struct pcg *pcg = pcg_new(j->config->seed, purpose);
    for (int i = 0; i < JUDGE_SAMPLES; i++) {
        const uint64_t pick = pcg ? pcg_below(pcg, (uint64_t)elements) : 0;
        request->sample[i] = near < 0 ? (int64_t)pick : reference_of(judge, k)->same_row(request, near, pick);
    }
    if (near >= 0 && reference_of(judge, k)->terms)
        choose_terms(reference_of(judge, k), pcg, near, request);
    pcg_free(pcg);
}

enum { TRIALS = 1 + JUDGE_SAMPLES + JUDGE_OPEN };

struct trials {
    const struct judged *element[TRIALS];
    struct witnessed answer[TRIALS];
    enum { TRIAL_AUDIT, TRIAL_WORST, TRIAL_OPEN } reason[TRIALS];
    int count, audits; /* the audits come first */
};

static void add_trial(struct trials *trials, const struct judged *element, int reason)
{
    trials->element[trials->count] = element;
    trials->reason[trials->count++] = reason;
}

static bool is_in_part(const struct judge_request *request)
{
    return request->context.end_term > 0;
}

static void list_trials(const struct judge *judge, const struct judging *j, int k,
                        const struct judge_request *request, const struct judge_report *report,
                        struct trials *trials)
{
    const struct reference *reference = reference_of(judge, k);
    const bool brief = j->brief && witness_is_expensive(judge, k, request), in_part = is_in_part(request);
    const bool endless = reference->terms && reference->witness_cost(request) > hearing_terms;
    if (report->wrong > 0 && (j->acquit_only || brief))
        return;
    for (int i = 0; i < JUDGE_SAMPLES; i++)
        if (report->sample[i].index >= 0)
            add_trial(trials, &report->sample[i], TRIAL_AUDIT);
    trials->audits = trials->count;
    if (report->worst.index >= 0 && ((j->thorough && !brief && !in_part) || (report->wrong > 0 && !endless)))
        add_trial(trials, &report->worst, TRIAL_WORST);
    /* if a call is certainly wrong, elements on the border add nothing, and each may cost a second */
    for (int64_t i = 0; i < report->open && i < JUDGE_OPEN && report->wrong == 0; i++)
        add_trial(trials, &report->opens[i], TRIAL_OPEN);
}

/* If MPFR's value is outside its enclosure, or acquits an element that the enclosure rejected, the oracle
 * itself is wrong: then there is no verdict. */
static bool hear_trials(struct judge *judge, const struct judging *j, int k, const struct trials *trials,
                        struct judge_report *report, struct worst *worst)
{
    char line[RESULT_LINE_SIZE];
    config_format(j->config, line, sizeof line);
    for (int i = 0; i < trials->count; i++) {
        const struct judged *e = trials->element[i];
        const struct witnessed *answer = &trials->answer[i];
        const bool condemned = trials->reason[i] == TRIAL_WORST && report->wrong > 0;
        if (!answer->inside || (condemned && answer->ok))
            return status_break(
                judge->status, SESSION_BROKEN,
                "internal error: element %lld of %s%s%s (%s), call "
                "%d: enclosure %.17g +- %.3g, MPFR witness %.17g, candidate %.9g, allowed %.3g\n"
                "---> please report this line; no verdict can be trusted",
                (long long)e->index, j->config->problem->name, k ? " " : "",
                k ? judge->options.problem->tensors[judge->judgement[k].output].name : "", line, j->call,
                e->mid, e->rad, answer->value, e->got, e->allowed);
        if (trials->reason[i] == TRIAL_WORST) {
            worst->want = answer->value + e->shift;
            worst->witnessed = true;
        }
        if (trials->reason[i] == TRIAL_OPEN && !answer->ok) {
            report->wrong++;
            if (report->first_wrong < 0 || e->index < report->first_wrong)
                report->first_wrong = e->index;
        }
    }
    return true;
}

/* Audits use only some of a fold's terms; all other questions use all terms. */
static int ask(const struct reference *reference, const struct judge_request *request, struct trials *t)
{
    const int together = is_in_part(request) ? t->audits : t->count;
    struct judge_request whole = *request;
    const int error = reference->witness_list(request, t->element, t->answer, together);
    if (error || together == t->count)
        return error;
    whole.context.first_term = whole.context.end_term = 0;
    return reference->witness_list(&whole, t->element + together, t->answer + together, t->count - together);
}

bool witness_hear(struct judge *judge, const struct judging *j, int k, struct judge_request *request,
                  struct judge_report *report, struct config_result *total, struct worst *worst)
{
    if (!has_witness(judge, k))
        return expected_confirm(judge, j, k, report, total, worst);
    const double start = clock_seconds();
    struct trials *trials = calloc(1, sizeof *trials);
    struct device_pages *fetcher = NULL;
    int64_t bytes[PROBLEM_MAX_TENSORS];
    bool ok = trials != NULL;

    if (ok)
        list_trials(judge, j, k, request, report, trials);
    for (int t = 0; t < judge->tensors; t++)
        bytes[t] = (int64_t)j->tensor[t].bytes;
    if (ok && trials->count && judge_backend(judge, j) == BACKEND_CUDA) {
        const struct memory *const memory = memory_of(BACKEND_CUDA);
        fetcher = device_pages_open(request, bytes, judge->tensors, memory->to_host, memory->gather);
        ok = fetcher != NULL;
    }
    ok = ok && ask(reference_of(judge, k), request, trials) == 0;
    if (!ok) {
        status_failed(judge->status, "the MPFR witness", -1);
    } else {
        ok = hear_trials(judge, j, k, trials, report, worst);
        total->witnessed += trials->count;
    }
    device_pages_close(fetcher);
    free(trials);
    judge->seconds->witness += clock_seconds() - start;
    return ok;
}
