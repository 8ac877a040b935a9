#include "input_ddmin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/contract/space.h"
#include "input_ddmin_internal.h"

/* Most work of a call that is made forty times. It limits size and not time, so that every machine decides
 * alike. */
static const double most_ns = 3e8;
enum { MOST_ELEMENTS = 1 << 20 };
enum { KEPT_BACK = 10 }; /* runs reserved for input_ddmin_special */

int input_ddmin_run(struct input_ddmin *w, const struct mix *mix, bool *passes)
{
    struct config_result result;
    if (passes)
        *passes = false;
    if (w->left <= 0 || !shrinking_mix(w->shrinking, mix, &result))
        return -1;
    w->left--;
    if (passes)
        *passes = shrinking_outcome(w->shrinking, &result) == OUTCOME_PASS;
    return shrinking_is_same(w->shrinking, &result);
}

/* --- tensors that couple others --- */

/* Other values fail, too. Tries whole other seeds, whose tables or lengths differ; if one passes, reports the
 * tensors that hold them. */
static void try_structure(struct input_ddmin *w, const struct config *failure, int content)
{
    enum { WHOLE_SEEDS = 3 };
    struct config other = *failure;
    bool passes = false;
    int tried = 0;
    for (other.seed = 1; tried < WHOLE_SEEDS && !passes; other.seed++) {
        if (other.seed == failure->seed)
            continue;
        tried++;
        if (!input_ddmin_open(w, failure, content, &other, 0) || !mixture_is_structured(&w->mixture))
            return;
        if (!input_ddmin_open(w, &other, 0, &other, 0) || input_ddmin_run_whole(w, true, &passes) < 0)
            return;
    }
    other.seed--;
    if (!passes || !input_ddmin_open(w, failure, content, &other, 0))
        return;
    for (int t = 0; mixture_next_structure(&w->mixture, &t); t++) {
        const size_t used = strlen(w->out->places);
        snprintf(w->out->places + used, sizeof w->out->places - used, "%s%s", used ? ", " : "",
                 failure->problem->tensors[t].name);
    }
    w->out->kind = RESULT_CONTENT_STRUCTURE;
    w->out->present = true;
}

/* --- decisive elements --- */

static int keeps_fail(void *data, const struct box *keep, int keeps)
{
    struct input_ddmin *w = data;
    const struct mix mix = {.of = &w->mixture, .keep = keep, .keeps = keeps};
    return w->left <= KEPT_BACK ? -1 : input_ddmin_run(w, &mix, NULL);
}

/* Counts the kept elements that differ. Lists them if they are few. */
static void list_elements(const struct input_ddmin *w, const struct narrow *n)
{
    struct result_content *out = w->out;
    for (int b = 0; b < n->boxes; b++) {
        const int t = n->box[b].tensor;
        const int64_t count = instance_tensor_count(&w->mixture.own.tensor[t]);
        for (int64_t i = 0; i < count; i++) {
            if (!box_has(&w->mixture.own, &n->box[b], i) || !mixture_differs(&w->mixture, t, i))
                continue;
            if (out->elements++ >= RESULT_CONTENT_ITEMS)
                continue;
            const struct box one = box_of_element(&w->mixture.own, t, i);
            boxes_format(&w->mixture, &one, 1, out->item[out->items].place, sizeof out->item->place);
            out->item[out->items].failing = mixture_value(&w->mixture, true, t, i);
            out->item[out->items++].passing = mixture_value(&w->mixture, false, t, i);
        }
    }
    if (out->elements > RESULT_CONTENT_ITEMS)
        out->items = 0;
}

static void record(struct input_ddmin *w, const struct narrow *n)
{
    struct result_content *out = w->out;
    const struct mix mix = {.of = &w->mixture, .keep = n->box, .keeps = n->boxes};
    list_elements(w, n);
    out->of = mixture_elements(&w->mixture);
    out->kind = n->minimal ? RESULT_CONTENT_LEAST : RESULT_CONTENT_SOME;
    /* more than half of all elements are many, unless they can all be listed */
    if (n->spread || (2 * out->elements > out->of && out->elements > RESULT_CONTENT_ITEMS) ||
        !boxes_format(&w->mixture, n->box, n->boxes, out->places, sizeof out->places))
        out->kind = RESULT_CONTENT_MANY;
    if (out->kind == RESULT_CONTENT_MANY)
        out->places[0] = '\0';
    else if (!mix_format(&mix, out->values, sizeof out->values))
        out->values[0] = '\0';
    if (out->kind == RESULT_CONTENT_LEAST)
        input_ddmin_special(w, n);
    out->present = true;
}

/* --- the failure to ask about --- */

static bool is_cheap(const struct input_ddmin *w, const struct config_result *result)
{
    const double ns = w->task->device.backend == BACKEND_HOST ? w->task->problem->host_ns * result->flops : 0;
    return ns + result->bytes <= most_ns && result->bytes <= 8.0 * MOST_ELEMENTS;
}

/* Returns a passing result at the failure's point, of the least known seed; NULL: none is known. */
static const struct config_result *known_passing(const struct input_ddmin *w,
                                                 const struct config_result *failure)
{
    const struct config_result *best = NULL;
    for (const struct config_result *c = NULL; (c = probe_next(w->shrinking->probe, c)) != NULL;)
        if (config_same_point(&c->config, &failure->config) &&
            shrinking_outcome(w->shrinking, c) == OUTCOME_PASS &&
            (!best || c->config.seed < best->config.seed))
            best = c;
    return best;
}

static bool is_smaller(const struct config_result *a, const struct config_result *b)
{
    const double one = a->flops + a->bytes, other = b->flops + b->bytes;
    return one < other || (one == other && strcmp(a->line, b->line) < 0);
}

/* Finds the smallest cheap failure at another point with a known passing result. */
static bool find_known(const struct input_ddmin *w, struct config *failing, struct config *passing)
{
    const struct config_result *best = NULL;
    for (const struct config_result *c = NULL; (c = probe_next(w->shrinking->probe, c)) != NULL;)
        if (shrinking_is_same(w->shrinking, c) &&
            !config_same_point(&c->config, &w->shrinking->best.config) && is_cheap(w, c) &&
            (!best || is_smaller(c, best)) && known_passing(w, c))
            best = c;
    if (!best)
        return false;
    *failing = best->config;
    *passing = known_passing(w, best)->config;
    return true;
}

/* Finds the smallest cheap failure of another input class. A tensor that one class gathers from another
 * tensor may be drawn, and so blended, in another class. */
static bool find_class(const struct input_ddmin *w, struct config *failing)
{
    const struct config *const tried = &w->shrinking->best.config;
    const int input = problem_input_axis(w->task->problem);
    const struct config_result *best = NULL;
    for (const struct config_result *c = NULL;
         input >= 0 && (c = probe_next(w->shrinking->probe, c)) != NULL;)
        if (shrinking_is_same(w->shrinking, c) && c->config.value[input] != tried->value[input] &&
            is_cheap(w, c) && (!best || is_smaller(c, best)))
            best = c;
    if (best)
        *failing = best->config;
    return best != NULL;
}

/* Returns whether the failing draw fails and the passing one passes, each time. Otherwise values do not
 * decide. */
static bool decide_each_time(struct input_ddmin *w)
{
    enum { TIMES = 3 };
    for (int i = 0; i < TIMES; i++) {
        bool passes = false;
        if (input_ddmin_run_whole(w, true, NULL) != 1 || input_ddmin_run_whole(w, false, &passes) < 0 ||
            !passes)
            return false;
    }
    return true;
}

/* Searches for the decisive values of one failure. Returns whether it found any. */
static bool ask_about(struct input_ddmin *w, const struct config *failure, const struct config *known)
{
    struct narrow n = {.of = &w->mixture, .fails = keeps_fail, .data = w};
    const int content = input_ddmin_failing_content(w, failure);
    if (content < 0)
        return false;
    if (input_ddmin_find_passing(w, failure, content, known)) {
        if (!decide_each_time(w))
            return false;
        narrow(&n);
        record(w, &n);
    } else {
        try_structure(w, failure, content);
    }
    if (!w->out->present)
        return false;
    config_format(failure, w->out->line, sizeof w->out->line);
    mix_format_other(&w->mixture, w->out->passing, sizeof w->out->passing);
    if (config_equal(&w->mixture.other_config, failure) && w->mixture.other_content == 0)
        snprintf(w->out->passing, sizeof w->out->passing, "the first of its two contents");
    else if (config_equal(&w->mixture.other_config, failure))
        snprintf(w->out->passing, sizeof w->out->passing, "content %d of its own", w->mixture.other_content);
    if (n.boxes > 0)
        input_ddmin_clip(w, &n, failure, content);
    return true;
}

/* Returns whether a single call shows the outcome, and can show it again at little cost. */
static bool may_ask(const struct shrinking *s)
{
    const enum outcome outcome = s->best.outcome;
    return !s->flaky &&
           (outcome == OUTCOME_WRONG || outcome == OUTCOME_UNWRITTEN || outcome == OUTCOME_OVERRUN ||
            outcome == OUTCOME_MODIFIED || outcome == OUTCOME_REFUSED || outcome == OUTCOME_CRASH);
}

/* Tries the simplest failure, then one at another point with a known pass, then one of another input
 * class. */
static void ask_about_any(struct input_ddmin *w)
{
    const struct config_result *const best = &w->shrinking->best, *const known = known_passing(w, best);
    const struct config twin = known ? known->config : best->config;
    struct config failing, passing;
    if (is_cheap(w, best) && ask_about(w, &best->config, known ? &twin : NULL))
        return;
    if (find_known(w, &failing, &passing) && ask_about(w, &failing, &passing))
        return;
    if (find_class(w, &failing))
        ask_about(w, &failing, NULL);
}

void input_ddmin_values(const struct task *task, struct shrinking *shrinking, int runs,
                        struct result_content *out)
{
    struct input_ddmin w = {.task = task, .shrinking = shrinking, .left = runs, .out = out};
    *out = (struct result_content){.present = false};
    if (!may_ask(shrinking))
        return;
    ask_about_any(&w);
    out->runs = runs - w.left;
    if (shrinking->late) /* the progress depended on the machine's speed */
        *out = (struct result_content){.present = false};
    mixture_close(&w.mixture);
}
