/* A configuration's tensors in a session, and their judgement: what every call goes through, also for who puts
 * outputs of its own in the place of a candidate's. */
#ifndef UNSEEN_JUDGING_H
#define UNSEEN_JUDGING_H

#include "reference/judge.h"
#include "session.h"
#include "verify/device/memory.h"

/* Every function that can fail for reasons of ours returns false after session_break. */
bool session_break(struct session *s, enum session_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an error of memory.h or reference/: out of memory costs only this configuration. */
bool session_failed(struct session *s, const char *what, int error);
/* Memory for all tensors of the configuration. 0; -1 where there is none, and `why` says so. */
int slots_create(struct session *s, const struct instance *instance, char *why, size_t why_size);
bool slots_fill(struct session *s, const struct config *config, const struct instance *instance, int content);

/* Give the configuration's memory back, before the next one asks for its own. */
void session_unmap(struct session *s);

/* One tensor of the configuration at hand; memory of the back end. */
struct session_tensor {
    void *own;   /* inputs and in-out: what the candidate gets; else NULL */
    void *got;   /* outputs and in-out: what is judged; else NULL */
    void *spare; /* the same: as much again */
    size_t bytes;
};
struct session_tensor session_tensor(const struct session *s, int tensor);
const struct memory *session_memory(const struct session *s);
const struct session_options *session_given(const struct session *s); /* what it was opened with */

/* How the work on a configuration ended. SESSION_SHORT is said once: the next configuration may have room. */
enum session_status session_end(struct session *s);

/* The judgements of the problem, *count of them. */
const struct judgement *session_judgements(const struct session *s, int *count);

/* What one of them says of a call. */
struct output_result {
    enum outcome outcome; /* pass, wrong, unwritten; skipped: too much was left open */
    struct judge_report report;
};

/* What one call came to. */
struct call_result {
    enum outcome outcome;
    struct reason reason;
    char detail[RESULT_DETAIL_SIZE];
    bool judged;                  /* the outputs were compared */
    struct output_result *output; /* by judgement */
};

struct judging {
    const struct config *config;
    const struct instance *instance;
    int call;
    bool thorough;    /* witness the worst element and an audit sample even when all is well */
    bool acquit_only; /* witness only what could still acquit: nobody's candidate is on trial */
    bool brief;       /* the same where MPFR is expensive */
};
/* Over all calls of one configuration. */
struct totals {
    struct config_result *result;
    double worst_ratio;
};
/* What the right output of judgement k holds, in its own format, into `expected` (memory of the back end). */
bool session_expect(struct session *s, const struct judging *judging, int k, void *expected);

/* Judge the snapshots of a call; adds to *totals, and result->outcome says wrong or unwritten. */
bool session_judge(struct session *s, const struct judging *judging, struct call_result *result,
                   struct totals *totals);

#endif
