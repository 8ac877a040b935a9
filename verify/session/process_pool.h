/* A pool of candidate processes that are started together in advance. */
#ifndef UNSEEN_PROCESS_POOL_H
#define UNSEEN_PROCESS_POOL_H

#include "gen/random/pcg.h"
#include "verify/worker/child.h"

enum { PROCESS_POOL_MOST = 8 };

struct process_pool {
    struct child *child[PROCESS_POOL_MOST]; /* started, and not yet used */
    int count;
    bool large;                   /* the current tensors are large: processes waiting beside them are ended */
    bool never;                   /* memory was short: no process waits any more */
    int drops;                    /* number of times that waiting processes were ended for large tensors */
    struct child_started trouble; /* a process that ended while loading; else its status is CHILD_OK */
};

struct worker;

/* Starts processes for one or two workers, enough for `each` restarts. Starts fewer, or none, if device
 * memory or cores are few, or starting is fast. The order of two workers is random for each pair, since a
 * context's placement changes the times of short kernels; random NULL: one worker. */
void process_pool_start(struct worker *const *workers, int count, int each, struct pcg *random);
/* Like child_start, but uses a waiting process, or returns the failure of one that ended while loading. After
 * several losses it starts further processes as well. */
enum child_status process_pool_take(struct worker *worker, char *text, size_t text_size);
void process_pool_drop(struct worker *worker);  /* frees their memory for another use */
void process_pool_never(struct worker *worker); /* the same, permanently */
/* Makes room for tensors that are about to be set up. */
void process_pool_make_room(struct worker *worker, double bytes);
void process_pool_anywhere(bool on); /* for tests: use the pool on any machine */

#endif
