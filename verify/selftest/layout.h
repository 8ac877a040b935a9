/* One input draw of a configuration in the judging process, outside of any session: inputs filled, outputs
 * poisoned, on either backend. For checks of a definition rather than of a candidate. */
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
    void *held[PROBLEM_MAX_TENSORS]; /* inputs and in-out tensors: contents before a call */
    /* Outputs and in-out tensors: contents after a call. Before a call they contain poison, or for an in-out
     * tensor its previous contents. */
    void *got[PROBLEM_MAX_TENSORS];
    size_t bytes[PROBLEM_MAX_TENSORS];
};

/* Returns 0, -1 when out of memory, or an error of `memory`. layout_close is safe after any of them. */
int layout_open(struct layout *layout, const struct memory *memory, const struct config *config, int content);
void layout_close(struct layout *layout);

/* Fills the request to judge tensor `output` of the layout, under the arithmetic of a compute capability,
 * without samples. */
void layout_request(const struct layout *layout, int output, int capability, struct judge_request *request);

/* Judges on the backend of the layout's memory; returns the reference's result. */
int layout_judge(const struct layout *layout, const struct reference *reference,
                 const struct judge_request *request, struct judge_report *report);

/* Asks MPFR about judged elements, wherever the tensors are; -1 when out of memory. */
int layout_witness(const struct layout *layout, const struct reference *reference,
                   const struct judge_request *request, const struct judged *const *element,
                   struct witnessed *answer, int count);

#endif
