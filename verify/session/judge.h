/* The judge of a problem: expected values, enclosures of every element, and MPFR. It knows no candidate and
 * no process. All functions take an instance and the tensors of a call, so that one judge serves any number
 * of candidates in turns. An answer of the oracle is reused while inputs stay the same. */
#ifndef UNSEEN_SESSION_JUDGE_H
#define UNSEEN_SESSION_JUDGE_H

#include "gen/contract/space.h"
#include "call_result.h"
#include "content.h"
#include "shared.h"
#include "status.h"
#include "verify/device/device.h"
#include "verify/torch/pool.h"

struct judge_options {
    const struct problem *problem;
    const struct device *device;
    struct space_tolerance tolerance; /* replaces the published tolerances in the published check */
    /* interpreter that computes expected values of an imported task; NULL: python3 */
    const char *interpreter;
    int threads;                 /* of the oracle */
    double memory;               /* most bytes of main memory of the oracle's process; 0: no limit */
    struct oracle_pool *oracles; /* for an imported task; NULL: the judge has its own oracle */
    struct shared_judge *shared; /* enclosures of earlier judges; NULL: none are kept */
};

struct judge {
    struct judge_options options;
    int tensors;
    struct judgement judgement[PROBLEM_MAX_TENSORS];
    int judgements;
    /* by backend, of which a GPU's judge uses both; NULL: enclosures are not kept */
    struct enclosure_cache *cache[BACKENDS];
    struct cached_enclosures *in_cache; /* of the output that is judged now; NULL: none */
    struct arithmetics arithmetics;
    struct oracle *oracle;         /* of an imported task; NULL before the first question */
    struct oracle_answer answer;   /* expected values for the inputs of the last question */
    struct phase_seconds *seconds; /* where its time is added: `judge` and `witness` */
    struct status *status;
};

/* One call to be judged. */
struct judging {
    const struct config *config;
    const struct instance *instance;
    int call;
    struct judged_tensor tensor[PROBLEM_MAX_TENSORS];
    bool on_host; /* the tensors are in main memory, although the device is a GPU */
    /* the draw that the inputs hold, with its replaced element; NULL: they hold other values, so
     * enclosures are not kept */
    const struct content *drawn;
    bool thorough;    /* ask the witness about the worst element and an audit sample, even if all is well */
    bool acquit_only; /* ask the witness only if it could still acquit: no candidate is on trial */
    bool brief;       /* acquit_only wherever MPFR is expensive */
    /* where to describe the wrong elements, unless they are described already; NULL: nowhere */
    struct pattern *pattern;
};

/* Totals over all calls of one configuration. */
struct totals {
    struct config_result *result;
    double worst_ratio;
};
/* Does every output of the problem have a judgement? If not, text says which is missing, and no candidate
 * can be run. */
bool judge_covers(const struct problem *problem, char *text, size_t text_size);

/* An output without a judgement breaks the status: it would be unprotected. */
void judge_open(struct judge *judge, const struct judge_options *options, struct phase_seconds *seconds,
                struct status *status);
void judge_close(struct judge *judge);
/* Begins to start `count` oracles. Call it on the thread that opened options->oracles. */
void judge_prepare(const struct judge_options *options, int count);

/* The backend that judges the call. */
static inline enum backend judge_backend(const struct judge *judge, const struct judging *judging)
{
    return judging->on_host ? BACKEND_HOST : judge->options.device->backend;
}

/* Computes the expected output of judgement k, in its own dtype, into `expected`, which is memory of
 * judge_backend. */
bool judge_expect(struct judge *judge, const struct judging *judging, int k, void *expected);
/* Judges the outputs of a call and adds to *totals; result->outcome says wrong or unwritten. */
bool judge_call(struct judge *judge, const struct judging *judging, struct call_result *result,
                struct totals *totals);
/* Fills a judgement's request for the tensors of a call. */
void judge_request(const struct judge *judge, const struct judging *judging, int k,
                   struct judge_request *request);

#endif
