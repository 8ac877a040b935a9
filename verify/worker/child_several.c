/* Starts several processes at once. This thread starts them, since they die with their starter; one thread
 * each waits for them. */
#include <pthread.h>
#include <stdio.h>

#include "child_internal.h"
#include "verify/sandbox/sandbox.h"

struct start {
    const struct child_options *options;
    struct child_started *out;
    pthread_t thread;
    bool is_threaded;
};

static void *finish(void *data)
{
    const struct start *const start = data;
    struct child_started *const out = start->out;
    out->status = child_greet(out->child, start->options, out->text, sizeof out->text);
    if (out->status == CHILD_OK)
        out->status = child_load(out->child, start->options, out->text, sizeof out->text);
    if (out->status != CHILD_OK) {
        child_stop(out->child);
        out->child = NULL;
    }
    return NULL;
}

static void begin(struct start *start)
{
    const struct child_options *const options = start->options;
    struct child_started *const out = start->out;
    const bool inside = sandbox_use(options->backend);
    if (options->python || !child_is_settled(options->backend, inside) || (!inside && sandbox_required()))
        return;
    out->child = child_begin(options, inside, out->text, sizeof out->text);
    start->is_threaded = out->child && pthread_create(&start->thread, NULL, finish, start) == 0;
}

void child_start_several(struct child_started *started, const struct child_options *options, int count)
{
    struct start start[CHILD_SEVERAL] = {{.options = options}};
    const int most = count < CHILD_SEVERAL ? count : CHILD_SEVERAL;
    for (int i = 0; i < count; i++)
        started[i] = (struct child_started){.status = CHILD_SPAWN};
    for (int i = 0; i < most; i++) {
        start[i] = (struct start){.options = &options[i], .out = &started[i]};
        begin(&start[i]);
    }
    for (int i = 0; i < most; i++)
        if (start[i].is_threaded)
            pthread_join(start[i].thread, NULL);
        else if (started[i].child)
            finish(&start[i]);
}
