/* Result of one call of a candidate. */
#ifndef UNSEEN_CALL_RESULT_H
#define UNSEEN_CALL_RESULT_H

#include "reference/judge.h"
#include "reports/record/result.h"

/* Result of one judgement for one call. */
struct output_result {
    enum outcome outcome; /* pass, wrong, unwritten; skipped: too many elements stayed open */
    struct judge_report report;
};

struct call_result {
    enum outcome outcome;
    struct reason reason;
    char detail[RESULT_DETAIL_SIZE];
    bool judged;                  /* whether the outputs were compared */
    struct output_result *output; /* by judgement */
};

/* One tensor of a call, in the backend's memory, as the judge sees it. */
struct judged_tensor {
    void *content; /* inputs and in-out tensors: contents before the call; outputs: as `got` */
    void *got;     /* outputs and in-out tensors: contents after the call; else NULL */
    size_t bytes;
};

#endif
