#include "control.h"
#include "series.h"

#include <math.h>

/* Starts the control process with the tensors of the series' first ring. */
static bool start(struct control *control, const struct setup *setup)
{
    const struct worker *const w = control->worker;
    struct child_options options = worker_child_options(w);
    char text[RESULT_DETAIL_SIZE];
    options.control = true;
    options.python = NULL;
    options.memory = 0;
    options.log_path = NULL;
    bool ok = child_start(&control->child, &options, text, sizeof text) == CHILD_OK;
    for (int t = 0; t < w->buffers->tensors && ok; t++)
        ok = child_map(control->child, setup->first_set, t, &setup->slot[t].region[0], text, sizeof text) ==
             CHILD_OK;
    return ok;
}

bool control_maps(struct worker *worker, const struct setup *setup)
{
    struct control control = {.worker = worker};
    const bool maps = start(&control, setup);
    control_close(&control);
    return maps;
}

bool control_exchange(struct control *control, struct series *series, double *rest_ms)
{
    struct worker *const w = control->worker;
    struct call call = {.mode = CALL_EVENTS};
    struct child_answer answer;
    char text[RESULT_DETAIL_SIZE];
    if (!control->child && !start(control, series->setup))
        return false;
    w->buffers->now = series->setup;
    if (!buffers_place(w->buffers, 0, series->placement, &series->content, &call))
        return false;
    call_arguments(w->options->problem, &series->instance, &call);
    if (child_call(control->child, &call, w->options->timeout, &answer, text, sizeof text) != CHILD_OK)
        return false;
    *rest_ms = fmax(0, answer.judge_ms - answer.wall_ms - series->flush_ms);
    return true;
}

void control_close(struct control *control)
{
    child_stop(control->child);
    control->child = NULL;
}
