#include "trial_setup.h"

#include "console.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/interrupt.h"
#include "verify/torch/task.h"

/* Small limits: every configuration is evaluated in fp64 and in a dozen further runs, and once more in fp32
 * for every wrong output. */
static const struct draw_caps host_caps = {.bytes = 4e6, .flops = 4e7},
                              cuda_caps = {.bytes = 256e6, .flops = 1e11};

int trial_setup_suits(const char *command, const struct problem *problem)
{
    bool varies = false, reads = false;
    if (!problem->task) {
        options_error("%s is a problem of which the mathematics is written in C; %s takes a task in Python: "
                      "a .py file, or a "
                      "folder that unseen import made\n---> unseen audit takes problems, too",
                      problem->name, command);
        return EXIT_USAGE;
    }
    if (imported_noted(problem->task, "random") || imported_noted(problem->task, "stateful")) {
        options_error("%s %s; a right answer that can be told was expected\n"
                      "---> take out of forward what draws or keeps (its README.md has the note)",
                      problem->name,
                      imported_noted(problem->task, "random") ? "draws random numbers in forward"
                                                              : "keeps state from one call to the next");
        return EXIT_USAGE;
    }
    for (int t = 0; problem->tensors[t].name; t++)
        reads = reads || (problem->tensors[t].role != TENSOR_OUTPUT && t != imported_weights(problem->task));
    if (!reads) {
        options_error("%s has no input; a task whose forward takes a tensor was expected\n"
                      "---> what takes nothing has one right answer, which any constant is",
                      problem->name);
        return EXIT_USAGE;
    }
    for (int i = 0; problem->axes[i].name; i++)
        varies = varies || imported_ring(problem->task, i) > 0;
    if (varies)
        return 0;
    options_error("no size of %s can vary: every one that was tried changes an attribute, or did not run\n"
                  "---> its README.md says why of each; without an axis there is no list of shapes",
                  problem->name);
    return EXIT_USAGE;
}

static void make_moderate(struct task *task)
{
    const struct draw_caps *caps = task->device.backend == BACKEND_CUDA ? &cuda_caps : &host_caps;
    if (task->caps.bytes <= 0 || task->caps.bytes > caps->bytes)
        task->caps.bytes = caps->bytes;
    if (task->caps.flops <= 0 || task->caps.flops > caps->flops)
        task->caps.flops = caps->flops;
}

static int ask(const struct task *task, struct trial *trial, bool faults)
{
    char text[4096];
    if (trial_take(trial, task, faults) != 0) {
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    console_watch();
    const enum trial_status status = trial_run(trial, faults, text, sizeof text);
    console_unwatch();
    if (status == TRIAL_INPUT_ERROR || status == TRIAL_ENVIRONMENT)
        options_error("%s", text);
    return status == TRIAL_OK            ? 0
           : status == TRIAL_INPUT_ERROR ? EXIT_USAGE
           : status == TRIAL_ENVIRONMENT ? EXIT_ENVIRONMENT
                                         : EXIT_INTERRUPTED;
}

int trial_setup_begin(struct task *task, struct trial *trial, const struct options *options, bool faults)
{
    *trial = (struct trial){0};
    catch_signals(child_stop_all);
    int status = prepare_task(task, options);
    if (status != 0)
        return status;
    make_moderate(task);
    status = prepare_step(task, task_draw(task));
    /* the second seen line of an imported task on a CPU is its smallest run, which was not published */
    if (status == 0 && task->device.backend == BACKEND_HOST && !options->seen && task->seen_set.count > 1)
        task->seen_set.count = 1;
    if (status == 0)
        status = ask(task, trial, faults);
    if (status == 0)
        return 0;
    trial_clear(trial);
    return prepare_end(task, status);
}
