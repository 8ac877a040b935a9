/* Processes that are started before they are needed, several at once. On a GPU a process takes 0.3 to 0.5 s to have a context, most of it
 * in the driver, and comparisons use dozens of them, as do candidates that crash. They wait without a call: nothing of theirs runs while others are timed, unless
 * the candidate starts something when it is loaded, which the process that is used next to it could do as well. */
#include <math.h>

#include "session_internal.h"
#include "verify/device/processors.h"

/* What a context with its modules may hold; and what part of the memory that is free all of them may. */
static const double context_bytes = 1 << 30;
enum { PART = 8 };

static bool anywhere;

void ahead_anywhere(bool on)
{
    anywhere = on;
}

static int room_for(const struct session *s)
{
    if ((s->options.device->backend != BACKEND_CUDA && !anywhere) || s->options.python)
        return 0;
    const double fit = (double)s->memory->available() / PART / context_bytes;
    return (int)fmin(fmin(fit, processors_available()), CHILD_SEVERAL);
}

void ahead_start(struct session *const *sessions, int count, int each)
{
    struct child_options options[CHILD_SEVERAL];
    struct child *child[CHILD_SEVERAL];
    int all = 0;
    each = (int)fmin(fmin(each, SESSION_AHEAD), room_for(sessions[0]) / count);
    for (int i = 0; i < count; i++)
        for (int k = sessions[i]->ahead.count; k < each; k++)
            options[all++] = session_child_options(sessions[i]);
    if (all == 0)
        return;
    child_start_several(child, options, all);
    for (int i = 0, at = 0; i < count; i++)
        for (int k = sessions[i]->ahead.count; k < each; k++, at++)
            if (child[at])
                sessions[i]->ahead.child[sessions[i]->ahead.count++] = child[at];
}

struct child *ahead_take(struct session *s)
{
    enum { LOSSES = 3, AT_ONCE = 4 }; /* who has lost some will lose more */
    if (s->losses >= LOSSES && s->ahead.count == 0)
        ahead_start(&s, 1, AT_ONCE);
    return s->ahead.count > 0 ? s->ahead.child[--s->ahead.count] : NULL;
}

void ahead_drop(struct session *s)
{
    while (s->ahead.count > 0)
        child_stop(s->ahead.child[--s->ahead.count]);
}

/* Beside large tensors they would hold what the candidate may need. */
void ahead_make_room(struct session *s, double bytes)
{
    enum { PART_OF_DEVICE = 32 };
    if (PART_OF_DEVICE * bytes > (double)s->options.device->memory_bytes)
        ahead_drop(s);
}
