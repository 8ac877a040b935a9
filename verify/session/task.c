#include "task.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "verify/device/clock.h"
#include "verify/cli/interrupt.h"
#include "verify/device/memory.h"
#include "verify/problem/folder.h"

static int fail(int status, const char *text)
{
    options_error("%s", text);
    return status;
}

/* On a GPU most of the memory goes to the judge's copies. A CPU core should be done with any one
 * configuration in half a second, or 300 of them take too long. */
struct draw_caps task_caps(const struct problem *problem, const struct device *device)
{
    const double available = (double)memory_of(device->backend)->available();
    if (device->backend == BACKEND_CUDA)
        return (struct draw_caps){.bytes = 0.28 * available, .flops = 5e11};
    return (struct draw_caps){.bytes = available / 16 < 128e6 ? available / 16 : 128e6,
                              .flops = 0.5e9 / problem->host_ns};
}

/* Without one the run goes on: its times may suffer, its outcomes do not. */
static void open_lease(struct task *task, const struct options *options)
{
    char why[400];
    const struct lease_options lease = {
        .device = task->device.uuid, .quiet = options->quiet, .attend = options->no_lease};
    task->lease = lease_open(&lease, why, sizeof why);
    if (!task->lease)
        snprintf(task->notes.text, sizeof task->notes.text,
                 "no lease of the device is to be had (%s): another unseen may be timing at the same time\n",
                 why);
}

int task_open(struct task *task, const struct options *options)
{
    char error[512];
    memset(task, 0, sizeof *task);
    int status = options_problem(options->argument[0], &task->problem);
    if (status != 0)
        return status;
    status = device_open(&task->device, options->device, error, sizeof error);
    if (status != 0)
        return fail(status == -1 ? EXIT_USAGE : EXIT_ENVIRONMENT, error);
    if (task->device.backend == BACKEND_CUDA)
        status = options_prepare_cuda(task->problem, task->device.arch);
    if (status != 0)
        return status;
    task->caps = task_caps(task->problem, &task->device);
    open_lease(task, options);
    return 0;
}

/* The published contract, or the user's narrower one. */
static int read_space(struct task *task, const char *path, struct space *space)
{
    struct space_error error;
    if (path)
        snprintf(task->space_path, sizeof task->space_path, "%s", path);
    else
        folder_shape(task->problem, "space", task->space_path, sizeof task->space_path);
    if (space_read(space, task->problem, task->space_path, &error) != 0)
        return fail(EXIT_USAGE, error.text);
    return 0;
}

/* On the host a problem may have a seen set of its own, since the published one is too much for a CPU. */
static void find_seen(struct task *task, const struct options *options)
{
    if (options->seen) {
        snprintf(task->seen_path, sizeof task->seen_path, "%s", options->seen);
        return;
    }
    if (task->device.backend == BACKEND_HOST &&
        folder_shape(task->problem, "host.seen", task->seen_path, sizeof task->seen_path) == 0)
        return;
    folder_shape(task->problem, "seen", task->seen_path, sizeof task->seen_path);
}

/* Published configurations that a narrower contract excludes are nobody's duty: they are left out, with
 * a note. */
static void narrow(struct task *task, struct config_list *list, const char *what)
{
    int kept = 0;
    for (int i = 0; i < list->count; i++)
        if (space_contains(&task->space, &list->item[i], NULL))
            list->item[kept++] = list->item[i];
    if (kept < list->count) {
        const size_t used = strlen(task->notes.text);
        snprintf(task->notes.text + used, sizeof task->notes.text - used,
                 "%d of %d %s configurations lie outside %.200s and are left out\n", list->count - kept,
                 list->count, what, task->space_path);
    }
    list->count = kept;
}

bool task_regress(const struct problem *problem, const struct options *options, char *path, size_t size)
{
    if (!options->regress)
        return folder_shape(problem, "regress", path, size) == 0;
    snprintf(path, size, "%s", options->regress);
    return true;
}

int task_contract(struct task *task, const struct options *options)
{
    struct space published;
    struct space_error error;
    char regress[1024];
    int status = read_space(task, NULL, &published);
    if (status == 0)
        status = read_space(task, options->space, &task->space);
    else
        return status;
    find_seen(task, options);
    const bool has_frozen = task_regress(task->problem, options, regress, sizeof regress);
    if (status == 0 && config_list_read(&task->seen, options->seen ? &task->space : &published,
                                        task->seen_path, false, &error) != 0)
        status = fail(EXIT_USAGE, error.text);
    if (status == 0 && has_frozen && config_list_read(&task->frozen, &published, regress, false, &error) != 0)
        status = fail(EXIT_USAGE, error.text);
    if (status == 0) {
        narrow(task, &task->seen, "seen");
        narrow(task, &task->frozen, "frozen");
    }
    space_clear(&published);
    return status;
}

int task_config(const struct task *task, const char *line, struct config *config)
{
    struct space_error error;
    if (config_parse(config, task->problem, line, "configuration", &error) == 0 &&
        space_contains(&task->space, config, &error))
        return 0;
    return fail(EXIT_USAGE, error.text);
}

static int choose_seed(struct task *task, const struct options *options)
{
    task->seed = options->seed;
    if (options->seed_given)
        return 0;
    if (getrandom(&task->seed, sizeof task->seed, 0) != (ssize_t)sizeof task->seed)
        return fail(EXIT_ENVIRONMENT, "the system gives no entropy\n---> use --seed");
    task->seed &= ((uint64_t)1 << 48) - 1; /* exact as a JSON number */
    return 0;
}

int task_draw(struct task *task, const struct options *options)
{
    const double start = clock_seconds();
    const int count = options->unseen >= 0 ? options->unseen : effort_count(options->effort);
    struct draw_notes notes = {.text = ""};
    struct space_error error;
    int status = choose_seed(task, options);
    if (status != 0)
        return status;
    if (draw_seen(&task->seen_set, &task->seen, task->seed) != 0)
        return fail(EXIT_ENVIRONMENT, "out of memory while drawing the seen set");
    if (count > 0 && draw_unseen(&task->unseen_set, &task->space, &task->seen, &task->frozen, count,
                                 task->seed, &task->caps, &notes, &error) != 0)
        return fail(EXIT_USAGE, error.text);
    if (drawn_commitment(&task->unseen_set, task->commitment) != 0)
        return fail(EXIT_ENVIRONMENT, "out of memory while hashing the unseen set");
    const size_t used = strlen(task->notes.text);
    snprintf(task->notes.text + used, sizeof task->notes.text - used, "%s", notes.text);
    task->notes.coverage = notes.coverage;
    task->draw_seconds = clock_seconds() - start;
    return 0;
}

static int build_one(struct task *task, const char *path, struct build *build)
{
    char error[4096];
    const struct build_options options = {.path = path,
                                          .backend = task->device.backend,
                                          .device = task->device.ordinal,
                                          .arch = task->device.arch,
                                          .timeout = 600};
    const enum build_status status = build_candidate(build, &options, error, sizeof error);
    if (status == BUILD_OK)
        return 0;
    if (is_interrupted()) { /* the compiler was killed; that says nothing about the candidate */
        unlink(build->log);
        return EXIT_INTERRUPTED;
    }
    return fail(status == BUILD_ENVIRONMENT ? EXIT_ENVIRONMENT : EXIT_USAGE, error);
}

int task_build(struct task *task, const struct options *options)
{
    const int status = build_one(task, options->argument[1], &task->build);
    if (status != 0 || !options->baseline)
        return status;
    return build_one(task, options->baseline, &task->baseline);
}

void task_clear(struct task *task)
{
    build_clear(&task->build);
    build_clear(&task->baseline);
    lease_close(task->lease);
    drawn_list_clear(&task->seen_set);
    drawn_list_clear(&task->unseen_set);
    config_list_clear(&task->seen);
    config_list_clear(&task->frozen);
    space_clear(&task->space);
}
