#include "queue.h"

#include <stdlib.h>
#include <time.h>

#include "verify/util/interrupt.h"

enum { LOOK_MS = 20, WATCH_EVERY = 10, FREE = -1 };

/* One round over the list: all items that are `wanted`, at most `jobs` at a time. */
struct round {
    struct batch_queue *queue;
    const struct batch_judge *judge;
    bool *again; /* of each item: it was lost in the first round */
    int *slot;   /* item of each slot, or FREE */
    int jobs, attempt, next, running;
};

static bool is_wanted(const struct round *r, int index)
{
    return !r->queue->line[index] && (r->attempt == 1 || r->again[index]);
}

static void start_some(struct round *r)
{
    for (int i = 0; i < r->jobs; i++) {
        while (r->next < r->queue->list->count && !is_wanted(r, r->next))
            r->next++;
        if (r->slot[i] != FREE || r->next == r->queue->list->count)
            continue;
        r->slot[i] = r->next++;
        r->running++;
        r->judge->start(r->judge->data, i, r->slot[i], r->attempt);
    }
}

/* Takes what has ended. False: the batch ends. */
static bool take_some(struct round *r)
{
    for (int i = 0; i < r->jobs; i++) {
        json_t *const line = r->slot[i] == FREE ? NULL : r->judge->line(r->judge->data, i);
        if (!line || is_interrupted()) {
            json_decref(line);
            continue;
        }
        const int index = r->slot[i];
        r->slot[i] = FREE;
        r->running--;
        if (r->attempt == 1 && batch_line_is_lost(line)) {
            r->again[index] = true;
            json_decref(line);
            continue;
        }
        r->queue->line[index] = line;
        if (!r->queue->take(r->queue->data, index, line))
            return false;
    }
    return true;
}

static enum batch_queue_end run_round(struct round *r)
{
    const struct timespec pause = {0, LOOK_MS * 1000000L};
    for (int i = 0; i < r->jobs; i++)
        r->slot[i] = FREE;
    for (int look = 0;; look++) {
        if (is_interrupted())
            return BATCH_INTERRUPTED;
        start_some(r);
        if (r->running == 0)
            return BATCH_DONE;
        if (look % WATCH_EVERY == 0)
            r->queue->watch(r->queue->data, r->running);
        nanosleep(&pause, NULL);
        if (!take_some(r))
            return BATCH_STOPPED;
    }
}

enum batch_queue_end batch_queue_run(struct batch_queue *queue, const struct batch_judge *judge)
{
    const int jobs = queue->jobs;
    struct round r = {.queue = queue, .judge = judge, .jobs = jobs, .attempt = 1};
    enum batch_queue_end end = BATCH_STOPPED;
    r.again = calloc((size_t)queue->list->count + 1, sizeof *r.again);
    r.slot = calloc((size_t)jobs, sizeof *r.slot);
    if (r.again && r.slot)
        end = run_round(&r);
    if (end == BATCH_DONE) {
        r.jobs = 1;
        r.attempt = 2;
        r.next = 0;
        end = run_round(&r);
    }
    free(r.again);
    free(r.slot);
    return end;
}
