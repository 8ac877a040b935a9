/* The tensors of a configuration in a session, and their judgement. Also for callers that replace a
 * candidate's outputs by their own. */
#ifndef UNSEEN_JUDGING_H
#define UNSEEN_JUDGING_H

#include "reference/judge.h"
#include "session.h"
#include "verify/device/memory.h"

/* Records an error. Every function that can fail for reasons of ours calls it and returns false. */
bool session_break(struct session *s, enum session_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an error of memory.h or reference/; running out of memory costs only this configuration. */
bool session_failed(struct session *s, const char *what, int error);
/* Allocates all tensors of the configuration. Returns 0, or -1 with the reason in `why`. */
int slots_create(struct session *s, const struct instance *instance, char *why, size_t why_size);
bool slots_fill(struct session *s, const struct config *config, const struct instance *instance, int content);

/* Frees the configuration's memory before the next configuration allocates its own. */
void session_unmap(struct session *s);

/* One tensor of the current configuration, in the backend's memory. */
struct session_tensor {
    void *own;   /* inputs and in-out tensors: contents that the candidate gets; else NULL */
    void *got;   /* outputs and in-out tensors: contents that are judged; else NULL */
    void *spare; /* outputs and in-out tensors: spare memory of the same size */
    size_t bytes;
};
struct session_tensor session_tensor(const struct session *s, int tensor);
const struct memory *session_memory(const struct session *s);
const struct session_options *session_given(const struct session *s); /* options that it was opened with */

/* Ends the work on a configuration and returns its status. SESSION_SHORT is returned once, since the next
 * configuration may fit. */
enum session_status session_end(struct session *s);

/* The judgements of the problem; *count is their number. */
const struct judgement *session_judgements(const struct session *s, int *count);

/* Result of one judgement for one call. */
struct output_result {
    enum outcome outcome; /* pass, wrong, unwritten; skipped: too many elements stayed open */
    struct judge_report report;
};

/* Result of one call. */
struct call_result {
    enum outcome outcome;
    struct reason reason;
    char detail[RESULT_DETAIL_SIZE];
    bool judged;                  /* whether the outputs were compared */
    struct output_result *output; /* by judgement */
};

struct judging {
    const struct config *config;
    const struct instance *instance;
    int call;
    bool thorough;    /* ask the witness about the worst element and an audit sample, even if all is well */
    bool acquit_only; /* ask the witness only if it could still acquit: no candidate is on trial */
    bool brief;       /* acquit_only wherever MPFR is expensive */
};
/* Totals over all calls of one configuration. */
struct totals {
    struct config_result *result;
    double worst_ratio;
};
/* Computes the expected output of judgement k, in its own dtype, into `expected` (memory of the backend). */
bool session_expect(struct session *s, const struct judging *judging, int k, void *expected);

/* Judges the snapshots of a call and adds to *totals; result->outcome says wrong or unwritten. */
bool session_judge(struct session *s, const struct judging *judging, struct call_result *result,
                   struct totals *totals);

#endif
