#include "interpreter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/device/cuda_visible.h"
#include "verify/sandbox/helper_process.h"
#include "verify/sandbox/launch.h"
#include "verify/sandbox/sandbox.h"
#include "verify/problem/paths.h"
#include "verify/util/activity.h"
#include "verify/util/clock.h"

enum { SHOWN = 1200 };
static const double TICK_SECONDS = 0.5;
/* CUDA reserves unlimited address space: with it only files are limited. */
static const rlim_t MEMORY_LIMIT = (rlim_t)32 << 30, FILE_LIMIT = (rlim_t)1 << 30;

enum folder_status interpreter_find(struct interpreter *it, const char *python, const char *module,
                                    char *text, size_t size)
{
    char probe[PATH_MAX];
    const bool found = paths_find(probe, sizeof probe, PYTHON_PROBE) == 0;
    it->module = module;
    if (!found || paths_find(it->start, sizeof it->start, PYTHON_START) != 0) {
        snprintf(text, size, "%s is missing\n---> install unseen again", found ? it->start : probe);
        return FOLDER_ENVIRONMENT;
    }
    return python_ask(&it->python, python, probe, text, size) == 0 ? FOLDER_OK : FOLDER_ENVIRONMENT;
}

/* --- the process --- */

static bool enclose(struct sandbox *sandbox, const struct interpreter *it, const char *const *command)
{
    char package[PATH_MAX];
    snprintf(package, sizeof package, "%s", it->start);
    *strrchr(package, '/') = '\0';
    sandbox_begin(sandbox, it->cuda ? SANDBOX_CUDA : SANDBOX_CANDIDATE);
    for (int i = 0; i < it->python.folders; i++)
        sandbox_show(sandbox, it->python.folder[i]);
    sandbox_show_sources(sandbox);
    sandbox_show(sandbox, package);
    for (int i = 0; i < INTERPRETER_SHOWN && it->shown[i]; i++)
        sandbox_show(sandbox, it->shown[i]);
    sandbox_lend(sandbox, it->lent);
    if (!sandbox_end(sandbox))
        return false;
    for (int i = 0; command[i]; i++) {
        if (sandbox->count + 1 >= SANDBOX_ARGUMENTS)
            return false;
        sandbox->argv[sandbox->count++] = command[i];
    }
    sandbox->argv[sandbox->count] = NULL;
    return true;
}

/* Starts the command. Of the user's environment it gets only PATH. */
static int start(pid_t *pid, const struct interpreter *it, const char *const *command)
{
    char path[PATH_MAX], gpu[128];
    const char *const environment[] = {path,
                                       "HOME=/tmp",
                                       "USER=unseen", /* as in launch_environment */
                                       "LC_ALL=C.UTF-8",
                                       "PYTHONDONTWRITEBYTECODE=1",
                                       "OMP_WAIT_POLICY=passive",
                                       it->cuda && !cuda_visible_uuid() ? NULL : gpu,
                                       NULL};
    struct sandbox sandbox;
    const char *const *argv = command;
    if (sandbox_works()) {
        if (!enclose(&sandbox, it, command))
            return E2BIG;
        argv = sandbox.argv;
    }
    snprintf(gpu, sizeof gpu, "CUDA_VISIBLE_DEVICES=%s",
             it->cuda && cuda_visible_uuid() ? cuda_visible_uuid() : "");
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    return helper_process_start(pid, &(struct helper_process){.argv = argv,
                                                              .environment = environment,
                                                              .log = it->log,
                                                              .append = true,
                                                              .memory = it->cuda ? 0 : MEMORY_LIMIT,
                                                              .file = FILE_LIMIT});
}

/* --- errors --- */

/* Reads the module's text after its mark, or else the end of its output. Replaces control characters, which
 * could drive a terminal. */
static void read_log(const struct interpreter *it, char *said, size_t size)
{
    static const char mark[] = "unseen-import: ";
    char lines[8192] = "";
    FILE *file = fopen(it->log, "re");
    if (file && fseek(file, 0, SEEK_END) == 0) {
        const long end = ftell(file);
        fseek(file, end > (long)sizeof lines - 1 ? end - (long)sizeof lines + 1 : 0, SEEK_SET);
        lines[fread(lines, 1, sizeof lines - 1, file)] = '\0';
    }
    if (file)
        fclose(file);
    const char *from = lines;
    for (const char *found = lines; (found = strstr(found, mark)) != NULL; found++)
        from = found + strlen(mark);
    if (from == lines && strlen(lines) > 400)
        from = lines + strlen(lines) - 400;
    snprintf(said, size, "%s", from);
    for (char *c = said; *c; c++)
        if ((*c < ' ' && *c != '\n') || *c > '~')
            *c = '?';
    for (size_t n = strlen(said); n > 0 && said[n - 1] == '\n'; n--)
        said[n - 1] = '\0';
}

/* Returns what a signal means, and what to do. */
static const char *signal_says(int number)
{
    switch (number) {
    case SIGKILL: return "as when memory is out\n---> try it with smaller sizes";
    case SIGXFSZ: return "as when it prints or writes more than 1 GiB\n---> have it write less";
    default: return "a crash\n---> run it with its own check first";
    }
}

/* Explains that torch is missing, or that it cannot be imported. */
static enum folder_status without_torch(const struct interpreter *it, const char *said, char *text,
                                        size_t size)
{
    if (python_require(&it->python, PYTHON_TORCH, text, size) == 0)
        snprintf(
            text, size,
            "%s cannot import its torch %s: %s\n---> mend it, or name another interpreter: --python PATH",
            it->python.path, it->python.torch, said);
    return FOLDER_ENVIRONMENT;
}

static enum folder_status explain(const struct interpreter *it, int status, char *text, size_t size)
{
    char said[SHOWN];
    read_log(it, said, sizeof said);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (status == -1)
        snprintf(text, size,
                 "%s was not %s: it had not ended after %g s\n---> see what it does when it is imported: a "
                 "network, a prompt or a loop%s%s%s",
                 it->source, it->done, it->seconds, it->longer ? "; " : "", it->longer ? it->longer : "",
                 it->longer ? " SECONDS gives it longer" : "");
    else if (code == 2 && strstr(said, "--->"))
        snprintf(text, size, "%s", said);
    else if (code == INTERPRETER_BARE)
        return without_torch(it, said, text, size);
    else if (code == INTERPRETER_FAULT) {
        snprintf(text, size, "%s", said);
        return FOLDER_ENVIRONMENT;
    } else if (code > 128)
        snprintf(text, size, "%s was not %s: the interpreter was killed by signal %d, %s", it->source,
                 it->done, code - 128, signal_says(code - 128));
    else
        snprintf(text, size,
                 "%s was not %s: the interpreter ended with status %d: %s\n---> see that it has torch",
                 it->source, it->done, code, said);
    return FOLDER_INPUT;
}

/* Reads the module's current phase from LENT/.phase; else returns a default. Control characters, which could
 * drive a terminal, end it. */
static void read_phase(const struct interpreter *it, char *phase, size_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.1000s/.phase", it->lent ? it->lent : "");
    FILE *const file = it->lent ? fopen(path, "re") : NULL;
    const bool read = file && fgets(phase, (int)size, file);
    if (file)
        fclose(file);
    if (!read)
        snprintf(phase, size, "starting Python with torch");
    for (char *c = phase; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '\0';
}

static int wait_for(pid_t pid, const struct interpreter *it)
{
    const double begun = clock_seconds(), deadline = begun + it->seconds;
    char phase[120];
    while (!launch_wait(pid, fmin(deadline, clock_seconds() + TICK_SECONDS)) && clock_seconds() < deadline) {
        read_phase(it, phase, sizeof phase);
        activity_tick(phase, begun);
    }
    return helper_process_wait(pid, deadline);
}

enum folder_status interpreter_run(const struct interpreter *it, char *text, size_t size)
{
    const char *command[INTERPRETER_ARGUMENTS + 5] = {it->python.path, "-I", it->start, it->module};
    pid_t pid;
    for (int i = 0; i < INTERPRETER_ARGUMENTS && it->argument[i]; i++)
        command[4 + i] = it->argument[i];
    if (sandbox_required() && !sandbox_works()) {
        snprintf(text, size,
                 "%s is not %s without a sandbox: %s\n---> install bubblewrap, or leave out "
                 "--require-sandbox",
                 it->source, it->done, sandbox_why_not());
        return FOLDER_ENVIRONMENT;
    }
    if ((errno = start(&pid, it, command)) != 0) {
        snprintf(text, size, "cannot run %s: %s\n---> --python names another", it->python.path,
                 strerror(errno));
        return FOLDER_ENVIRONMENT;
    }
    const int ended = wait_for(pid, it);
    return ended == 0 ? FOLDER_OK : explain(it, ended, text, size);
}
