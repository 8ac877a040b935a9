/* A second process of the candidate, in which its own allocations lie between guards and contain poison. */
#ifndef UNSEEN_GUARDED_ALLOC_H
#define UNSEEN_GUARDED_ALLOC_H

#include "call_result.h"
#include "verify/worker/child.h"

struct guarded_alloc {
    struct child *child; /* the process that is not current */
    bool at_hand;        /* the current process is the one with guarded allocations */
    bool raised;         /* exception.before of the process that is not current */
    bool off;            /* the candidate does not work with guarded allocations */
    char words[200];     /* its reason */
};

struct worker;

/* Should a call be made with the candidate's own allocations between guards? */
bool guarded_applies(const struct worker *worker);
/* Makes that call. result->outcome is PASS if nothing was found; *judged: `got` has an output to judge.
 * False: the status says why. */
bool guarded_call(struct worker *worker, const struct call *call, struct call_result *result, bool *judged);
void guarded_unmap(struct worker *worker); /* unmaps the current tensors from that process */
void guarded_end(struct worker *worker);   /* ends that process */

#endif
