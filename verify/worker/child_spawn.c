#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child_internal.h"
#include "verify/sandbox/launch.h"
#include "verify/sandbox/sandbox.h"
#include "zygote.h"
#include "verify/device/cuda_visible.h"
#include "verify/sandbox/forbid.h"
#include "verify/util/clock.h"
#include "verify/util/defence.h"

enum { ENVIRONMENT = LAUNCH_WORDS + 17, CHANNEL_GONE_MS = 2000 };

/* Finds the runner beside this program, or at the place of `make install`. */
static int find_runner(char *path, size_t size, bool library, char *text, size_t text_size)
{
    static const char *const programs[] = {"unseen-runner", "../libexec/unseen/unseen-runner"},
                             *const libraries[] = {"libunseen-runner.so",
                                                   "../libexec/unseen/libunseen-runner.so"};
    const char *const *const places = library ? libraries : programs;
    char self[400];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) {
        snprintf(text, text_size, "cannot read /proc/self/exe: %s\n---> mount /proc", strerror(errno));
        return -1;
    }
    self[length] = 0;
    char *slash = strrchr(self, '/');
    slash[1] = 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char joined[512];
        snprintf(joined, sizeof joined, "%s%s", self, places[i]);
        char *real = realpath(joined, NULL);
        bool found = real && access(real, X_OK) == 0 && strlen(real) < size;
        if (found)
            strcpy(path, real);
        free(real);
        if (found)
            return 0;
    }
    snprintf(text, text_size,
             "found no %s in %s; expected it there or in "
             "../libexec/unseen\n---> run `make`",
             places[0], self);
    return -1;
}

static bool enclose(struct sandbox *sandbox, const struct child_options *options, const char *runner)
{
    sandbox_begin(sandbox, options->backend == BACKEND_CUDA ? SANDBOX_CUDA : SANDBOX_CANDIDATE);
    sandbox_show(sandbox, runner);
    if (options->python)
        spawn_python_show(sandbox, options->python);
    else if (options->object && *options->object)
        sandbox_show(sandbox, options->object);
    return sandbox_end(sandbox);
}

/* Appends the command after the sandbox's arguments. */
static void add_words(const char **argv, const struct child_options *options, const char *runner,
                      const char *without)
{
    const struct python *const python = options->python;
    const char *const interpreted[] = {python ? python->program.path : NULL, "-I",           "-B",  "-u",
                                       python ? python->script : NULL,       "runner.serve", runner};
    int words = 0;
    for (size_t i = 0; python && i < sizeof interpreted / sizeof *interpreted; i++)
        argv[words++] = interpreted[i];
    if (!python)
        argv[words++] = runner;
    if (*without || python)
        argv[words++] = without;
    if (forbid_watches(options->object))
        argv[words++] = CHANNEL_AUDIT;
    argv[words] = NULL;
}

int spawn_process(struct spawned *spawned, const char *const *argv, char *const *environment, rlim_t file)
{
    int ours[2];
    const int status = launch_channelled(
        &spawned->pid, &spawned->pidfd, ours,
        &(struct launch){.argv = argv, .environment = (const char *const *)environment, .file = file});
    if (status)
        return status;
    spawned->channel = ours[0];
    spawned->output = ours[1];
    spawned->zygote = NULL;
    return 0;
}

/* Forks an interpreter that is already running, or starts one. */
static int fork_python(struct spawned *spawned, const struct child_options *options, bool sandboxed,
                       const char *const *argv, char *const *environment, char *text, size_t text_size)
{
    char key[1024];
    int ours[2], theirs[2];
    snprintf(key, sizeof key, "%s %d %d %d %d %s %d", options->object, sandboxed, (int)options->backend,
             options->device, options->threads, cuda_visible_uuid() ? cuda_visible_uuid() : "",
             cuda_visible_node());
    const struct zygote_plan plan = {key, argv, environment};
    struct zygote *const zygote = zygote_take(&plan, text, text_size);
    if (!zygote)
        return -1;
    const int error = launch_pipes(ours, theirs);
    if (error) {
        snprintf(text, text_size, "cannot make a pipe: %s\n---> check ulimit -n", strerror(error));
        zygote_give(zygote);
        return -1;
    }
    const int process = zygote_start(zygote, theirs[0], theirs[1], text, text_size);
    close(theirs[0]);
    close(theirs[1]);
    if (process < 0) {
        close(ours[0]);
        close(ours[1]);
        zygote_give(zygote);
        return -1;
    }
    *spawned = (struct spawned){
        .pid = zygote_pid(zygote), .pidfd = process, .channel = ours[0], .output = ours[1], .zygote = zygote};
    return 0;
}

/* Allocates the strings by malloc; false: out of memory. */
static bool make_environment(char *environment[ENVIRONMENT], const struct child_options *options)
{
    const int n = launch_environment(environment, !options->python, options->threads);
    if (n >= 0 && options->python)
        spawn_python_environment(environment + n, options->python, options->threads);
    return n >= 0;
}

int child_spawn(struct spawned *spawned, const struct child_options *options, bool sandboxed, char *text,
                size_t text_size)
{
    char runner[512], without[DEFENCE_TEXT], *environment[ENVIRONMENT] = {NULL};
    struct sandbox sandbox = {.count = 0};
    int status = 0;
    if (find_runner(runner, sizeof runner, options->python, text, text_size))
        return -1;
    if (sandboxed && !enclose(&sandbox, options, runner)) {
        snprintf(text, text_size, "LD_LIBRARY_PATH names too many folders for the sandbox\n---> shorten it");
        return -1;
    }
    defence_removed(without, sizeof without);
    add_words(sandbox.argv + sandbox.count, options, runner, without);
    if (!make_environment(environment, options))
        status = ENOMEM;
    else if (options->python)
        status = fork_python(spawned, options, sandboxed, sandbox.argv, environment, text, text_size);
    else
        status = spawn_process(spawned, sandbox.argv, environment, CHILD_FILE_LIMIT);
    for (int i = 0; i < ENVIRONMENT; i++)
        free(environment[i]);
    if (status > 0)
        snprintf(text, text_size,
                 "cannot start %s: %s\n---> check the limits on processes and "
                 "open files (ulimit -a)",
                 sandbox.argv[0], strerror(status));
    return status ? -1 : 0;
}

/* The zygote reports its end, and kills the processes it has left. */
static int reap_forked(struct spawned *spawned, int patience_ms)
{
    struct pollfd ended = {spawned->pidfd, POLLIN, 0};
    if (patience_ms > 0)
        poll(&ended, 1, patience_ms);
    const int status = zygote_give(spawned->zygote);
    spawned->zygote = NULL;
    spawned->pid = 0;
    return status;
}

int child_reap(struct spawned *spawned, int patience_ms)
{
    if (spawned->zygote)
        return reap_forked(spawned, patience_ms);
    launch_wait(spawned->pid, clock_seconds() + 1e-3 * patience_ms);
    const int status = launch_end(spawned->pid);
    /* Under bubblewrap the runner ends after its parent, and its memory must be free before the next one
     * starts. The channel hangs up when it is gone. */
    struct pollfd hung_up = {spawned->channel, 0, 0};
    poll(&hung_up, 1, CHANNEL_GONE_MS);
    spawned->pid = 0;
    return status;
}
