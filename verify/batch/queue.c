#include "queue.h"

#include <stdlib.h>
#include <time.h>

#include "verify/util/interrupt.h"

enum { LOOK_MS = 20, WATCH_EVERY = 10, FREE = -1, NONE = -1 };

/* Rows with equal problems and options. They are in the list's order, linked by `next`. */
struct group {
    int first, last; /* not yet begun; NONE: no row is left */
    int left, lanes; /* number of these rows, and of slots whose last row was of this group */
};

/* One round over the list: all items that are `wanted`, at most `jobs` at a time. */
struct round {
    struct batch_queue *queue;
    const struct batch_judge *judge;
    bool *again; /* of each item: it was lost in the first round */
    int *of;     /* group of each item */
    int *next;   /* the next item of its group, or NONE */
    struct group *group;
    int groups;
    int *slot, *lane; /* item of each slot, or FREE; group of its last item, or NONE */
    int jobs, attempt, running;
};

static bool is_wanted(const struct round *r, int index)
{
    return !r->queue->line[index] && (r->attempt == 1 || r->again[index]);
}

/* Numbers the groups by their first items. False: out of memory. */
static bool find_groups(struct round *r)
{
    const struct batch_list *const list = r->queue->list;
    json_t *const known = json_object();
    bool ok = known;
    for (int i = 0; ok && i < list->count; i++) {
        json_t *const key = json_pack("[s,O]", list->item[i].problem, list->item[i].words);
        char *const text = key ? json_dumps(key, JSON_COMPACT) : NULL;
        const json_t *const number = text ? json_object_get(known, text) : NULL;
        r->of[i] = number ? (int)json_integer_value(number) : r->groups;
        if (text && !number)
            ok = json_object_set_new(known, text, json_integer(r->groups++)) == 0;
        ok = ok && text;
        free(text);
        json_decref(key);
    }
    json_decref(known);
    return ok;
}

/* Puts the wanted items into their groups. No lane of another round counts. */
static void fill_groups(struct round *r)
{
    for (int g = 0; g < r->groups; g++)
        r->group[g] = (struct group){NONE, NONE};
    for (int i = 0; i < r->jobs; i++)
        r->slot[i] = r->lane[i] = NONE;
    for (int i = 0; i < r->queue->list->count; i++) {
        struct group *const g = &r->group[r->of[i]];
        if (!is_wanted(r, i))
            continue;
        r->next[i] = NONE;
        *(g->left++ ? &r->next[g->last] : &g->first) = i;
        g->last = i;
    }
}

/* The group of a free slot's next item: that of its last one, else the one with the most items left for each
 * slot that works on it. NONE: no item is left. */
static int choose_group(const struct round *r, int slot)
{
    int best = r->lane[slot];
    if (best != NONE && r->group[best].left > 0)
        return best;
    best = NONE;
    for (int g = 0; g < r->groups; g++)
        if (r->group[g].left > 0 && (best == NONE || (long)r->group[g].left * (r->group[best].lanes + 1) >
                                                         (long)r->group[best].left * (r->group[g].lanes + 1)))
            best = g;
    return best;
}

static void start_some(struct round *r)
{
    for (int i = 0; i < r->jobs; i++) {
        const int g = r->slot[i] == FREE ? choose_group(r, i) : NONE;
        if (g == NONE)
            continue;
        if (r->lane[i] != NONE)
            r->group[r->lane[i]].lanes--;
        r->group[g].lanes++;
        r->lane[i] = g;
        r->slot[i] = r->group[g].first;
        r->group[g].first = r->next[r->slot[i]];
        r->group[g].left--;
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
    fill_groups(r);
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
    const size_t count = (size_t)queue->list->count + 1, jobs = (size_t)queue->jobs;
    struct round r = {.queue = queue, .judge = judge, .jobs = queue->jobs, .attempt = 1};
    enum batch_queue_end end = BATCH_STOPPED;
    r.again = calloc(count, sizeof *r.again);
    r.of = calloc(count, sizeof *r.of);
    r.next = calloc(count, sizeof *r.next);
    r.group = calloc(count, sizeof *r.group);
    r.slot = calloc(jobs, sizeof *r.slot);
    r.lane = calloc(jobs, sizeof *r.lane);
    if (r.again && r.of && r.next && r.group && r.slot && r.lane && find_groups(&r))
        end = run_round(&r);
    if (end == BATCH_DONE) {
        r.jobs = 1;
        r.attempt = 2;
        end = run_round(&r);
    }
    free(r.again);
    free(r.of);
    free(r.next);
    free(r.group);
    free(r.slot);
    free(r.lane);
    return end;
}
