/* Draws the sets of a task: seen, unseen, scouts, and configurations for conditions in the candidate's
 * code. */
#include "task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "gen/contract/instantiate.h"
#include "verify/inspect/candidate_clues.h"
#include "verify/util/clock.h"

static enum task_status fail(struct task *task, enum task_status status, const char *text)
{
    snprintf(task->error, sizeof task->error, "%s", text);
    return status;
}

bool task_draw_seed(uint64_t *seed)
{
    if (getrandom(seed, sizeof *seed, 0) != (ssize_t)sizeof *seed)
        return false;
    *seed &= ((uint64_t)1 << 48) - 1; /* exact as a JSON number */
    return true;
}

static enum task_status choose_seed(struct task *task)
{
    task->seed = task->options.seed;
    if (task->options.has_seed)
        return TASK_OK;
    if (!task_draw_seed(&task->seed))
        return fail(task, TASK_ENVIRONMENT, "the system gives no entropy\n---> use --seed");
    return TASK_OK;
}

/* Adds small configurations at the end, so that the others are the same with and without them. */
static int add_scouts(struct task *task, struct draw_notes *notes)
{
    const int wanted = task->options.unseen_set ? 0 : task->options.scouts, before = task->unseen_set.count;
    const size_t used = strlen(notes->text);
    if (wanted <= 0)
        return 0;
    const int status =
        draw_scouts(&task->unseen_set, &task->space, &task->seen, wanted, task->seed, &task->caps);
    const int made = task->unseen_set.count - before;
    snprintf(notes->text + used, sizeof notes->text - used,
             "%s%d scouts, each of at most %.4g kbyte of tensors and %.4g Mflop%s", used ? "\n" : "", made,
             DRAW_SCOUT_BYTES / 1e3, DRAW_SCOUT_FLOPS / 1e6,
             made < wanted ? ": the contract has no more that are so small" : "");
    return status;
}

/* Adds configurations for conditions in the candidate's code, after all others. These are then the same for
 * every candidate, and so is their commitment. */
static int add_directed(struct task *task, struct draw_notes *notes)
{
    const int wanted = task->options.unseen_set ? 0 : task->options.directed, before = task->unseen_set.count;
    char why[300] = "";
    if (wanted <= 0 || !task->build.directory[0])
        return 0;
    int status = candidate_clues(&task->clues, &task->build, task->options.candidate, why, sizeof why);
    if (status == 0)
        status = draw_directed(&task->unseen_set, &task->clues, &task->space, &task->seen, wanted, task->seed,
                               &task->caps);
    const size_t used = strlen(notes->text);
    snprintf(notes->text + used, sizeof notes->text - used,
             "%s%d directed configurations, from %d conditions%s in the code%s%s", used ? "\n" : "",
             task->unseen_set.count - before, task->clues.count, task->clues.truncated ? " (the first)" : "",
             *why ? "; " : "", why);
    return status;
}

/* The smallest size of an image network is a whole image. If nothing fits the caps, they are raised fourfold
 * until something does. The upper limit is what PyTorch computes in some seconds, or a plain kernel in half
 * the time limit of a call. The same seed gives the same result on machines with the same caps. */
static int draw_within(struct task *task, struct draw_notes *notes, struct space_error *error)
{
    static const double half_a_call = 10; /* seconds */
    const struct draw_caps most = {
        .bytes = 8e9, .flops = task->problem->task ? 5e10 : half_a_call * 1e9 / task->problem->host_ns};
    const double memory = (double)task->device.memory_bytes / 8;
    for (;;) {
        *error = (struct space_error){.caps = false};
        *notes = (struct draw_notes){.text = ""};
        if (draw_unseen(&task->unseen_set, &task->space, &task->seen, &task->frozen, task->options.count,
                        task->seed, &task->caps, notes, error) == 0)
            return 0;
        if (!error->caps || task->caps.flops >= most.flops)
            return -1;
        task->caps.flops = fmin(4 * task->caps.flops, most.flops);
        task->caps.bytes = fmax(task->caps.bytes, fmin(4 * task->caps.bytes, fmin(most.bytes, memory)));
    }
}

/* Inserted before the notes that name the caps. */
static void note_raised(struct task *task, const struct draw_caps *before)
{
    const size_t used = strlen(task->notes.text);
    if (task->caps.flops > before->flops)
        snprintf(task->notes.text + used, sizeof task->notes.text - used,
                 "nothing that is not seen is within %.4g Mbyte of tensors and %.4g Mflop, so the caps were "
                 "raised\n",
                 before->bytes / 1e6, before->flops / 1e6);
}

static int note_lists(struct task *task)
{
    struct lists_coverage lists;
    if (task->unseen_set.count == 0)
        return 0;
    if (draw_lists_covered(&task->unseen_set, &task->space, &task->seen, &task->caps, &lists) != 0)
        return -1;
    draw_note_lists(&lists, &task->notes);
    return 0;
}

/* Cost of a call and its judgement: work on the elements, and every byte. */
static double work_of(const struct config *config)
{
    struct instance instance;
    if (config_measure(config, &instance) != 0)
        return HUGE_VAL;
    const double work = instance_total_bytes(config->problem, &instance) + instance.flops;
    instance_clear(&instance);
    return work;
}

/* A reward needs verdicts of many candidates, and the seen set is most of a verdict's work. So it is reduced
 * to the `most` cheapest configurations, in their order. */
static void keep_cheapest(struct task *task, int most)
{
    struct drawn_list *const set = &task->seen_set;
    const int count = set->count;
    const size_t used = strlen(task->notes.text);
    while (most > 0 && set->count > most) {
        int dearest = 0;
        for (int i = 1; i < set->count; i++)
            if (work_of(&set->item[i].config) > work_of(&set->item[dearest].config))
                dearest = i;
        memmove(&set->item[dearest], &set->item[dearest + 1],
                (size_t)(set->count - dearest - 1) * sizeof *set->item);
        set->count--;
    }
    if (set->count < count)
        snprintf(task->notes.text + used, sizeof task->notes.text - used,
                 "%d of the %d seen configurations, that of least work\n", set->count, count);
}

enum task_status task_draw(struct task *task)
{
    const double start = clock_seconds();
    const int count = task->options.count;
    struct draw_notes notes = {.text = ""};
    struct space_error error;
    const enum task_status status = choose_seed(task);
    if (status != TASK_OK)
        return status;
    if (draw_seen(&task->seen_set, &task->seen, task->seed) != 0)
        return fail(task, TASK_ENVIRONMENT, "out of memory while drawing the seen set");
    keep_cheapest(task, task->options.seen_most);
    if (task->options.unseen_set && draw_given(&task->unseen_set, &task->given, task->seed) != 0)
        return fail(task, TASK_ENVIRONMENT, "out of memory while reading the unseen set");
    const struct draw_caps caps = task->caps;
    if (!task->options.unseen_set && count > 0 && draw_within(task, &notes, &error) != 0)
        return fail(task, error.environment ? TASK_ENVIRONMENT : TASK_INPUT, error.text);
    note_raised(task, &caps);
    if (add_scouts(task, &notes) != 0)
        return fail(task, TASK_ENVIRONMENT, "out of memory while drawing scouts");
    if (add_directed(task, &notes) != 0)
        return fail(task, TASK_ENVIRONMENT, "out of memory while drawing directed configurations");
    if (drawn_commitment(&task->unseen_set, false, task->commitment) != 0 ||
        (drawn_directed(&task->unseen_set) > 0 &&
         drawn_commitment(&task->unseen_set, true, task->directed_commitment) != 0))
        return fail(task, TASK_ENVIRONMENT, "out of memory while hashing the unseen set");
    const size_t used = strlen(task->notes.text);
    task->drawing_notes = used;
    snprintf(task->notes.text + used, sizeof task->notes.text - used, "%s", notes.text);
    task->notes.coverage = notes.coverage;
    if (note_lists(task) != 0)
        return fail(task, TASK_ENVIRONMENT, "out of memory while counting the coverage of the unseen set");
    task->draw_seconds = clock_seconds() - start;
    return TASK_OK;
}
