#include "task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "session.h"
#include "shared.h"
#include "gen/contract/instantiate.h"
#include "verify/util/home_folder.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"
#include "verify/device/memory.h"
#include "verify/torch/made.h"
#include "verify/problem/folder.h"
#include "verify/problem/paths.h"
#include "verify/torch/task.h"

enum { COVERAGE_COMPILE_SECONDS = 60 };

static enum task_status fail(struct task *task, enum task_status status, const char *text)
{
    snprintf(task->error, sizeof task->error, "%s", text);
    return status;
}

static enum task_status fail_space(struct task *task, const struct space_error *error)
{
    return fail(task, error->environment ? TASK_ENVIRONMENT : TASK_INPUT, error->text);
}

/* Limits on one configuration. On a GPU the judge's copies take two and a half times the bytes of the
 * tensors. The candidate's own allocations may take about twice those bytes. A CPU core should finish any
 * configuration in half a second, or 300 of them take too long. Memory that is free at the moment does not
 * matter, so that the same seed always draws the same sets. session_check handles a lack of memory. */
struct draw_caps task_caps(const struct problem *problem, const struct device *device)
{
    const double memory = (double)device->memory_bytes;
    if (device->backend == BACKEND_CUDA)
        return (struct draw_caps){.bytes = 0.22 * memory, .flops = 5e11};
    return (struct draw_caps){.bytes = memory / 16 < 128e6 ? memory / 16 : 128e6,
                              .flops = 0.5e9 / problem->host_ns};
}

/* Without a lease the run continues: its times may suffer, its outcomes do not. */
static void open_lease(struct task *task)
{
    char why[400];
    /* fails under the same conditions as the lease */
    task->room = memory_gate_open(NULL, task->device.uuid, why, sizeof why);
    const struct lease_options lease = {
        .device = task->device.uuid, .waiting = task->options.waiting, .attend = task->options.attend};
    task->lease = lease_open(&lease, why, sizeof why);
    if (!task->lease)
        snprintf(task->notes.text, sizeof task->notes.text,
                 "no lease of the device is to be had (%s): another unseen may be timing at the same time\n",
                 why);
}

enum task_status task_open(struct task *task, const struct task_options *options)
{
    char error[512];
    memset(task, 0, sizeof *task);
    task->options = *options;
    task->problem = options->problem;
    if (!judge_covers(task->problem, task->error, sizeof task->error))
        return TASK_INPUT;
    if (task->problem->task)
        made_begin(options->python);
    const enum device_status status =
        device_open_patiently(&task->device, options->device, options->device_full, error, sizeof error);
    if (status != DEVICE_OK)
        return fail(task, status == DEVICE_SPEC ? TASK_INPUT : TASK_ENVIRONMENT, error);
    task->caps = task_caps(task->problem, &task->device);
    open_lease(task);
    if (task->problem->oracle)
        task->oracles = options->shared ? shared_judge_oracles(options->shared) : oracle_pool_open(0);
    shared_judge_begin(options->shared);
    if (task->oracles)
        oracle_pool_begin(task->oracles);
    return TASK_OK;
}

enum task_status task_calibrate(struct task *task, const char *peaks)
{
    const struct calibrate_options options = {.path = peaks, .lease = task->lease};
    return calibrate(&task->device, &options, &task->ceilings) ? TASK_OK : TASK_INTERRUPTED;
}

/* Reads the published contract, or the user's narrower one. */
static enum task_status read_space(struct task *task, const char *path, struct space *space)
{
    struct space_error error;
    if (path)
        snprintf(task->space_path, sizeof task->space_path, "%s", path);
    else
        folder_shape(task->problem, "space", task->space_path, sizeof task->space_path);
    if (space_read(space, task->problem, task->space_path, &error) != 0)
        return fail_space(task, &error);
    return TASK_OK;
}

/* On the host a problem may have its own seen set, if the published one is too large for a CPU. */
static void find_seen(struct task *task)
{
    if (task->options.seen) {
        snprintf(task->seen_path, sizeof task->seen_path, "%s", task->options.seen);
        return;
    }
    if (task->device.backend == BACKEND_HOST &&
        folder_shape(task->problem, "host.seen", task->seen_path, sizeof task->seen_path) == 0)
        return;
    folder_shape(task->problem, "seen", task->seen_path, sizeof task->seen_path);
}

/* On the host: is any seen configuration not a published one? */
static void compare_seen(struct task *task, const struct space *published)
{
    char path[1024];
    struct config_list list = {0};
    struct space_error error;
    if (task->options.seen || task->device.backend != BACKEND_HOST ||
        folder_shape(task->problem, "seen", path, sizeof path) != 0 || strcmp(path, task->seen_path) == 0 ||
        config_list_read(&list, published, path, false, &error) != 0)
        return;
    for (int i = 0; i < task->seen.count && !task->stands_in; i++) {
        bool found = false;
        for (int j = 0; j < list.count; j++)
            found = found || config_same_point(&task->seen.item[i], &list.item[j]);
        task->stands_in = !found;
    }
    config_list_clear(&list);
}

/* Drops published configurations that a narrower contract excludes, with a note. */
static void narrow(struct task *task, struct config_list *list, const char *what)
{
    int kept = 0;
    for (int i = 0; i < list->count; i++)
        if (space_contains(&task->space, &list->item[i], NULL)) {
            list->note[kept] = list->note[i];
            list->item[kept++] = list->item[i];
        }
    if (kept < list->count) {
        const size_t used = strlen(task->notes.text);
        snprintf(task->notes.text + used, sizeof task->notes.text - used,
                 "%d of %d %s configurations lie outside %.200s and are left out\n", list->count - kept,
                 list->count, what, task->space_path);
    }
    list->count = kept;
}

/* The user's file for a problem of an installed tool, whose own files are not writable. False: there is
 * none. */
static bool find_users(const struct problem *problem, char *path, size_t size)
{
    char directory[900];
    if (folder_is_apart(problem) || !paths_installed() ||
        !home_folder(directory, sizeof directory, "XDG_DATA_HOME", ".local/share"))
        return false;
    return snprintf(path, size, "%s/%s.regress", directory, problem->name) < (int)size;
}

bool task_regress(const struct problem *problem, const char *given, char *path, size_t size)
{
    if (!given && find_users(problem, path, size))
        return true;
    if (given)
        snprintf(path, size, "%s", given);
    else
        folder_shape(problem, "regress", path, size);
    return false;
}

/* Reads the given file; else the problem's own, and the user's if that is another one. */
static enum task_status read_frozen(struct task *task, const struct space *published)
{
    const char *const given = task->options.regress;
    struct space_error error;
    char own[1024], users[1024];
    const bool has_own = given || folder_shape(task->problem, "regress", own, sizeof own) == 0;
    if (has_own && config_list_read(&task->frozen, published, given ? given : own, false, &error) != 0)
        return fail_space(task, &error);
    if (!given && find_users(task->problem, users, sizeof users) &&
        config_list_read(&task->frozen, published, users, true, &error) != 0)
        return fail_space(task, &error);
    return TASK_OK;
}

enum task_status task_contract(struct task *task)
{
    const struct task_options *options = &task->options;
    struct space published;
    struct space_error error;
    enum task_status status = read_space(task, NULL, &published);
    if (status != TASK_OK)
        return status;
    status = read_space(task, options->space, &task->space);
    find_seen(task);
    if (status == TASK_OK && config_list_read(&task->seen, options->seen ? &task->space : &published,
                                              task->seen_path, false, &error) != 0)
        status = fail_space(task, &error);
    if (status == TASK_OK)
        compare_seen(task, &published);
    if (status == TASK_OK)
        status = read_frozen(task, &published);
    if (status == TASK_OK) {
        narrow(task, &task->seen, "seen");
        narrow(task, &task->frozen, "frozen");
    }
    if (status == TASK_OK && options->unseen_set &&
        config_list_read_apart(&task->given, &task->space, &task->seen, options->unseen_set, &error) != 0)
        status = fail_space(task, &error);
    space_clear(&published);
    return status;
}

enum task_status task_config(struct task *task, const char *line, struct config *config)
{
    struct space_error error;
    if (config_parse(config, task->problem, line, "configuration", &error) == 0 &&
        space_contains(&task->space, config, &error))
        return TASK_OK;
    return fail_space(task, &error);
}

/* Separated by blanks. */
static void name_arguments(const struct problem *problem, char *names, size_t size)
{
    size_t used = 0;
    *names = '\0';
    for (int i = 0; problem->arguments[i].name && used < size; i++)
        used += (size_t)snprintf(names + used, size - used, "%s%s", i ? " " : "", problem->arguments[i].name);
}

static enum task_status build_one(struct task *task, const char *path, struct build *build)
{
    char scripts[1024], adapter[1024], names[512];
    paths_find(scripts, sizeof scripts, PYTHON_PACKAGE);
    const struct imported *const imported = task->problem->task;
    const bool adapts = imported ? paths_find(adapter, sizeof adapter, PYTHON_PACKAGE "/task_adapter.py") == 0
                                 : folder_source(task->problem, "adapter.py", adapter, sizeof adapter) == 0;
    name_arguments(task->problem, names, sizeof names);
    const double compile_timeout = task->options.compile_timeout > 0 ? task->options.compile_timeout : 600;
    const struct build_options options = {.path = path,
                                          .python = task->options.python,
                                          .entry = task->options.entry,
                                          .scripts = scripts,
                                          .adapter = adapts ? adapter : NULL,
                                          .task = imported ? imported_file(imported) : NULL,
                                          .names = names,
                                          .problem = task->problem->name,
                                          .backend = task->device.backend,
                                          .device = task->device.ordinal,
                                          .arch = task->device.arch,
                                          .timeout = compile_timeout};
    const enum build_status status = build_candidate(build, &options, task->error, sizeof task->error);
    if (status == BUILD_OK)
        return TASK_OK;
    if (is_interrupted()) { /* the compiler was killed, which says nothing about the candidate */
        unlink(build->log);
        return TASK_INTERRUPTED;
    }
    task->uncompiled = status == BUILD_FAILED && build == &task->build;
    return status == BUILD_ENVIRONMENT ? TASK_ENVIRONMENT : TASK_INPUT;
}

enum build_status task_build_coverage(const struct task *task, struct build *build, char *error,
                                      size_t error_size)
{
    const struct build_options options = {.path = task->options.candidate,
                                          .problem = task->problem->name,
                                          .backend = task->device.backend,
                                          .timeout = COVERAGE_COMPILE_SECONDS,
                                          .coverage = true};
    return build_candidate(build, &options, error, error_size);
}

enum task_status task_judge(struct task *task)
{
    char text[sizeof task->error];
    if (task->device.backend != BACKEND_CUDA)
        return TASK_OK;
    const enum folder_status status =
        folder_prepare_cuda(task->problem, task->device.arch, text, sizeof text);
    const size_t used = strlen(task->notes.text);
    if (is_interrupted())
        return TASK_INTERRUPTED;
    if (status != FOLDER_OK)
        return fail(task, status == FOLDER_INPUT ? TASK_INPUT : TASK_ENVIRONMENT, text);
    if (*text)
        snprintf(task->notes.text + used, sizeof task->notes.text - used, "%.*s\n", (int)strcspn(text, "\n"),
                 text);
    return TASK_OK;
}

/* "own" is the kernel that comes with the problem, which is the same for everybody. */
static enum task_status find_baseline(struct task *task)
{
    const bool on_host = task->device.backend == BACKEND_HOST;
    task->baseline_own = strcmp(task->options.baseline, "own") == 0;
    if (!task->baseline_own) {
        snprintf(task->baseline_path, sizeof task->baseline_path, "%s", task->options.baseline);
        return TASK_OK;
    }
    if (folder_source(task->problem, on_host ? "baseline.c" : "baseline.cu", task->baseline_path,
                      sizeof task->baseline_path) == 0)
        return TASK_OK;
    snprintf(task->error, sizeof task->error,
             "%s has no %s; expected a baseline of its own for this device\n"
             "---> give a kernel as --baseline, or compare both candidates now: unseen compare %s OLD NEW",
             task->problem->name, on_host ? "baseline.c" : "baseline.cu", task->problem->name);
    return TASK_INPUT;
}

enum task_status task_build(struct task *task)
{
    enum task_status status = task_judge(task);
    if (status == TASK_OK)
        status = build_one(task, task->options.candidate, &task->build);
    if (status == TASK_OK && task->options.baseline)
        status = find_baseline(task);
    if (status == TASK_OK)
        made_wake(task->problem);
    if (status != TASK_OK || !task->options.baseline)
        return status;
    return build_one(task, task->baseline_path, &task->baseline);
}

void task_clear(struct task *task)
{
    if (!task->options.shared && task->problem && task->problem->task)
        made_end();
    if (!task->options.shared)
        oracle_pool_close(task->oracles);
    build_clear(&task->build);
    build_clear(&task->baseline);
    lease_close(task->lease);
    memory_gate_close(task->room);
    drawn_list_clear(&task->seen_set);
    drawn_list_clear(&task->unseen_set);
    config_list_clear(&task->seen);
    clue_list_clear(&task->clues);
    config_list_clear(&task->frozen);
    config_list_clear(&task->given);
    space_clear(&task->space);
}
