/* A pool of processes that are started together in advance. On a GPU a process needs 0.3 to 0.5 s for its
 * context, mostly in the driver. Comparisons use dozens of processes, and so do candidates that crash.
 * Waiting processes make no call. They run nothing while others are timed, unless the candidate starts
 * something when it is loaded; the process in use could do that as well. */
#include <math.h>
#include <stdio.h>

#include "gen/random/pcg.h"
#include "session_internal.h"
#include "verify/device/processors.h"

/* Memory that a context with its modules may hold, and the part of free memory that all of them may use. */
static const double context_bytes = 1 << 30;
enum { PART = 8 };

static bool anywhere;

void ahead_anywhere(bool on)
{
    anywhere = on;
}

static int room_for(const struct session *s)
{
    if (anywhere)
        return CHILD_SEVERAL;
    if (s->options.device->backend != BACKEND_CUDA || s->options.python)
        return 0;
    const double fit = (double)s->memory->available() / PART / context_bytes;
    return (int)fmin(fmin(fit, processors_available()), CHILD_SEVERAL);
}

/* Takes a started process into the pool. If the candidate ends its process while loading, that counts. A
 * failure that may come from starting many at once (time, memory, device) is left to the next start. */
static void take_in(struct session *s, const struct child_started *started)
{
    const enum child_status status = started->status;
    if (started->child)
        s->ahead.child[s->ahead.count++] = started->child;
    else if (s->ahead.trouble.status == CHILD_OK && (status == CHILD_CRASH || status == CHILD_OVERRUN ||
                                                     status == CHILD_GARBAGE || status == CHILD_EXCEEDED))
        s->ahead.trouble = *started;
}

void ahead_start(struct session *const *sessions, int count, int each, struct pcg *random)
{
    struct child_options options[CHILD_SEVERAL];
    struct child_started started[CHILD_SEVERAL];
    int whose[CHILD_SEVERAL], all = 0;
    each = (int)fmin(fmin(each, SESSION_AHEAD), room_for(sessions[0]) / count);
    for (int k = 0; k < each; k++) {
        const int first = count > 1 ? (int)pcg_below(random, (uint64_t)count) : 0;
        for (int i = 0; i < count; i++) {
            struct session *const s = sessions[(first + i) % count];
            if (s->ahead.never || k < s->ahead.count)
                continue;
            whose[all] = (first + i) % count;
            options[all++] = session_child_options(s);
        }
    }
    if (all > 0)
        child_start_several(started, options, all);
    for (int i = 0; i < all; i++)
        take_in(sessions[whose[i]], &started[i]);
}

void session_start_ahead(struct session *s, int count)
{
    if (!s->ahead.large)
        ahead_start(&s, 1, count, NULL);
}

enum child_status ahead_take(struct session *s, char *text, size_t text_size)
{
    enum { LOSSES = 3, AT_ONCE = 4 }; /* a candidate that has lost several processes will lose more */
    const struct child_options options = session_child_options(s);
    if (s->losses >= LOSSES && s->ahead.count == 0 && !s->ahead.large)
        ahead_start(&s, 1, AT_ONCE, NULL);
    const enum child_status status = s->ahead.trouble.status;
    if (status != CHILD_OK) {
        snprintf(text, text_size, "%s", s->ahead.trouble.text);
        s->ahead.trouble.status = CHILD_OK;
        return status;
    }
    if (s->ahead.count == 0)
        return child_start(&s->child, &options, text, text_size);
    s->child = s->ahead.child[--s->ahead.count];
    return CHILD_OK;
}

void ahead_drop(struct session *s)
{
    while (s->ahead.count > 0)
        child_stop(s->ahead.child[--s->ahead.count]);
}

void ahead_never(struct session *s)
{
    s->ahead.never = true;
    ahead_drop(s);
}

/* Beside large tensors, waiting processes would hold memory that the candidate may need. */
void ahead_make_room(struct session *s, double bytes)
{
    enum { PART_OF_DEVICE = 32 };
    s->ahead.large = PART_OF_DEVICE * bytes > (double)s->options.device->memory_bytes;
    if (!s->ahead.large || s->ahead.count == 0)
        return;
    s->ahead.drops++;
    ahead_drop(s);
}
