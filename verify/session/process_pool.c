/* A pool of processes that are started together in advance. On a GPU a process needs 0.3 to 0.5 s for its
 * context, mostly in the driver. Comparisons use dozens of processes, and so do candidates that crash.
 * Waiting processes make no call. They run nothing while others are timed, unless the candidate starts
 * something when it is loaded; the process in use could do that as well. */
#include <math.h>
#include <stdio.h>

#include "verify/device/processors.h"
#include "worker.h"

/* Memory that a context with its modules may hold, and the part of free memory that all of them may use. */
static const double context_bytes = 1 << 30;
enum { PART = 8 };

static bool anywhere;

void process_pool_anywhere(bool on)
{
    anywhere = on;
}

static int room_for(const struct worker *w)
{
    if (anywhere)
        return CHILD_SEVERAL;
    if (w->options->device->backend != BACKEND_CUDA || w->options->python)
        return 0;
    const double fit = (double)w->buffers->memory->available() / PART / context_bytes;
    return (int)fmin(fmin(fit, processors_available()), CHILD_SEVERAL);
}

/* Takes a started process into the pool. If the candidate ends its process while loading, that counts. A
 * failure that may come from starting many at once (time, memory, device) is left to the next start. */
static void take_in(struct worker *w, const struct child_started *started)
{
    const enum child_status status = started->status;
    if (started->child)
        w->pool.child[w->pool.count++] = started->child;
    else if (w->pool.trouble.status == CHILD_OK && (status == CHILD_CRASH || status == CHILD_OVERRUN ||
                                                    status == CHILD_GARBAGE || status == CHILD_EXCEEDED))
        w->pool.trouble = *started;
}

void process_pool_start(struct worker *const *workers, int count, int each, struct pcg *random)
{
    struct child_options options[CHILD_SEVERAL];
    struct child_started started[CHILD_SEVERAL];
    int whose[CHILD_SEVERAL], all = 0;
    each = (int)fmin(fmin(each, PROCESS_POOL_MOST), room_for(workers[0]) / count);
    for (int k = 0; k < each; k++) {
        const int first = count > 1 ? (int)pcg_below(random, (uint64_t)count) : 0;
        for (int i = 0; i < count; i++) {
            struct worker *const w = workers[(first + i) % count];
            if (w->pool.never || k < w->pool.count)
                continue;
            whose[all] = (first + i) % count;
            options[all++] = worker_child_options(w);
        }
    }
    if (all > 0)
        child_start_several(started, options, all);
    for (int i = 0; i < all; i++)
        take_in(workers[whose[i]], &started[i]);
}

enum child_status process_pool_take(struct worker *w, char *text, size_t text_size)
{
    enum { LOSSES = 3, AT_ONCE = 4 }; /* a candidate that has lost several processes will lose more */
    const struct child_options options = worker_child_options(w);
    if (w->losses >= LOSSES && w->pool.count == 0 && !w->pool.large)
        process_pool_start(&w, 1, AT_ONCE, NULL);
    const enum child_status status = w->pool.trouble.status;
    if (status != CHILD_OK) {
        snprintf(text, text_size, "%s", w->pool.trouble.text);
        w->pool.trouble.status = CHILD_OK;
        return status;
    }
    if (w->pool.count == 0)
        return child_start(&w->child, &options, text, text_size);
    w->child = w->pool.child[--w->pool.count];
    return CHILD_OK;
}

void process_pool_drop(struct worker *w)
{
    while (w->pool.count > 0)
        child_stop(w->pool.child[--w->pool.count]);
}

void process_pool_never(struct worker *w)
{
    w->pool.never = true;
    process_pool_drop(w);
}

/* Beside large tensors, waiting processes would hold memory that the candidate may need. */
void process_pool_make_room(struct worker *w, double bytes)
{
    enum { PART_OF_DEVICE = 32 };
    w->pool.large = PART_OF_DEVICE * bytes > (double)w->options->device->memory_bytes;
    if (!w->pool.large || w->pool.count == 0)
        return;
    w->pool.drops++;
    process_pool_drop(w);
}
