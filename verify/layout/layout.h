/* One content of a configuration laid out in the judging process, outside of any session: inputs filled, outputs poisoned,
 * on either back end. For what looks at a definition itself rather than at a candidate. */
#ifndef UNSEEN_LAYOUT_H
#define UNSEEN_LAYOUT_H

#include "reference/judge.h"
#include "verify/device/memory.h"

struct layout {
    const struct problem *problem;
    const struct memory *memory;
    struct config config;
    int content;
    struct instance instance;
    void *held[PROBLEM_MAX_TENSORS]; /* inputs and in-out tensors: what they hold before a call */
    /* Outputs and in-out tensors: what a call leaves; before one poison, or of an in-out tensor what it held. */
    void *got[PROBLEM_MAX_TENSORS];
    size_t bytes[PROBLEM_MAX_TENSORS];
};

/* 0; -1 when out of memory, or an error of `memory`. layout_close is safe after any of them. */
int layout_open(struct layout *layout, const struct memory *memory, const struct config *config, int content);
void layout_close(struct layout *layout);

/* What judges the output tensor `output` of the layout by the arithmetic of a compute capability; no samples. */
void layout_request(const struct layout *layout, int output, int capability, struct judge_request *request);

/* On the back end of the layout's memory; as the reference returns. */
int layout_judge(const struct layout *layout, const struct reference *reference,
                 const struct judge_request *request, struct judge_report *report);

/* MPFR's answers on elements that were judged, wherever the tensors lie; -1 when out of memory. */
int layout_witness(const struct layout *layout, const struct reference *reference,
                   const struct judge_request *request, const struct judged *const *element,
                   struct witnessed *answer, int count);

#endif
