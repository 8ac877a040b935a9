/* Lack of device memory: whether other processes may be the reason, and whether the candidate is. */
#ifndef UNSEEN_MEMORY_SHORT_H
#define UNSEEN_MEMORY_SHORT_H

#include "retry.h"

struct memory_shortage {
    double free_bytes; /* free device memory beside the current configuration's tensors, for the candidate */
    double least_free; /* the least of it at a refusal */
    bool wanted;       /* the last refusal was for lack of memory */
    int refused_alone; /* other refusals while no other process held memory */
};

struct worker;

/* Call it after work on tensors of that many bytes, before leaving the gate. Frees large GPU memory that the
 * candidate's process keeps (a workspace, a graph): another process may need it. */
void memory_give_back(struct worker *worker, double bytes);
/* Does it run again since it lacked memory, possibly because of other processes? */
bool memory_was_short(struct worker *worker, struct retry *retry, const struct config_result *result);
/* After the exclusive retry: a refusal for lack of memory becomes `skipped` if the judge's copies and other
 * programs left the candidate little. */
void memory_settle(struct worker *worker, struct config_result *result);
/* Is so much free on the device that a lack of memory cannot be caused by other processes? */
bool memory_is_plenty(const struct worker *worker);

#endif
