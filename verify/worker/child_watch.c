/* A thread beside each runner that samples its processes' resources, even while nobody waits for a reply. So
 * growth between two calls, while the judge works, is limited like growth during a call. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "child_internal.h"
#include "verify/util/clock.h"

struct watch {
    pthread_t thread;
    pthread_mutex_t lock; /* while it is held the process is not reaped, so its pid stays valid */
    pthread_cond_t changed;
    bool over;
    pid_t pid;
    struct resource_usage own;  /* use of the runner before the candidate was loaded */
    struct resource_usage most; /* limit with the candidate */
    double lent;                /* bytes of the judge's memory that are mapped there */
    char excess[CHILD_EXCESS];  /* the excess found; empty: none */
};

static void wait_for_change(struct watch *watch, double seconds)
{
    const double until = clock_seconds() + seconds;
    const struct timespec time = {(time_t)until, (long)(1e9 * (until - floor(until)))};
    pthread_cond_clockwait(&watch->changed, &watch->lock, CLOCK_MONOTONIC, &time);
}

static void *look(void *data)
{
    struct watch *const w = data;
    pthread_mutex_lock(&w->lock);
    while (!w->over) {
        const struct resource_usage now = resource_usage_of(w->pid, w->lent, &w->most);
        if (resource_usage_exceeds(&now, &w->most, &w->own, w->excess, sizeof w->excess)) {
            kill(-w->pid, SIGKILL);
            kill(w->pid, SIGKILL);
            break;
        }
        wait_for_change(w, resource_usage_reach(&now, &w->most));
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

bool child_watch(struct child *child, double memory)
{
    const struct resource_usage any = {INFINITY, 1 << 30}, bounds = resource_usage_default();
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return false;
    w->pid = child->process.pid;
    w->own = resource_usage_of(w->pid, 0, &any);
    w->most = (struct resource_usage){memory + w->own.bytes, bounds.tasks + w->own.tasks};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (pthread_create(&w->thread, NULL, look, w) != 0) {
        free(w);
        return false;
    }
    child->watch = w;
    return true;
}

void child_watch_lent(struct child *child, double bytes)
{
    if (!child->watch)
        return;
    pthread_mutex_lock(&child->watch->lock);
    child->watch->lent = bytes;
    pthread_mutex_unlock(&child->watch->lock);
}

bool child_unwatch(struct child *child, char *excess, size_t excess_size)
{
    struct watch *const w = child->watch;
    if (!w)
        return false;
    pthread_mutex_lock(&w->lock);
    w->over = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    const bool exceeded = *w->excess != '\0';
    if (exceeded && excess)
        snprintf(excess, excess_size, "%s", w->excess);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
    child->watch = NULL;
    return exceeded;
}
