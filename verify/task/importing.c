#include "importing.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/build/scratch.h"
#include "verify/isolate/child_table.h"
#include "verify/isolate/sandbox.h"
#include "verify/problem/paths.h"
#include "verify/system/clock.h"

enum { IMPORT_SECONDS = 300, PROBE_SECONDS = 60, NAME_MOST = 40, BLOCK_FD = 3, SHOWN = 1200, WAIT_MS = 5 };
static const rlim_t MEMORY_LIMIT = (rlim_t)32 << 30, FILE_LIMIT = (rlim_t)1 << 30;

struct run {
    char source[PATH_MAX]; /* absolute, without links */
    char python[PATH_MAX]; /* the interpreter, as named: a virtual environment is known by its link */
    char script[PATH_MAX]; /* verify/python/task/importer.py */
    char scratch[512];     /* private; the interpreter writes in it alone */
    char written[600], log[600];
    char name[NAME_MOST + 16];
};

/* --- names and places --- */

/* level1/67_conv_standard_1D.py is l1_67_conv_standard_1D. */
static void name_after(char *name, size_t size, const char *source)
{
    char stem[PATH_MAX], level[16] = "";
    snprintf(stem, sizeof stem, "%s", source);
    char *slash = strrchr(stem, '/');
    if (slash && strcmp(slash, "/reference.py") == 0) {
        *slash = '\0';
        slash = strrchr(stem, '/');
    }
    if (slash)
        *slash = '\0';
    const char *const file = slash ? slash + 1 : stem;
    const char *const folder = slash && strrchr(stem, '/') ? strrchr(stem, '/') + 1 : "";
    if (strncmp(folder, "level", 5) == 0 && isdigit((unsigned char)folder[5]))
        snprintf(level, sizeof level, "l%.4s_", folder + 5);
    else if (isdigit((unsigned char)*file))
        snprintf(level, sizeof level, "t");
    snprintf(name, size, "%s%.*s", level, NAME_MOST, file);
    const size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".py") == 0)
        name[length - 3] = '\0';
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
}

static bool find_python(struct run *run, const char *python)
{
    const char *const value = getenv("PATH");
    if (python && strchr(python, '/')) {
        snprintf(run->python, sizeof run->python, "%s", python);
        if (*python != '/') {
            char here[PATH_MAX / 2];
            snprintf(run->python, sizeof run->python, "%s/%s", getcwd(here, sizeof here) ? here : ".",
                     python);
        }
        return access(run->python, X_OK) == 0;
    }
    char *const list = strdup(value ? value : "/usr/bin:/bin");
    bool found = false;
    for (char *rest = list, *folder; list && !found && (folder = strsep(&rest, ":"));) {
        snprintf(run->python, sizeof run->python, "%s/%s", folder, python ? python : "python3");
        found = *folder == '/' && access(run->python, X_OK) == 0;
    }
    free(list);
    return found;
}

static enum folder_status prepare(struct run *run, const struct importing *importing, char *text, size_t size)
{
    struct stat status;
    if (!realpath(importing->source, run->source) || stat(run->source, &status) != 0) {
        snprintf(
            text, size,
            "%s: %s; a task's .py file, or a directory with reference.py, was expected\n---> check the path",
            importing->source, strerror(errno));
        return FOLDER_INPUT;
    }
    if (importing->name)
        snprintf(run->name, sizeof run->name, "%s", importing->name);
    else
        name_after(run->name, sizeof run->name, run->source);
    if (!find_python(run, importing->python)) {
        snprintf(text, size,
                 "found no interpreter %s; Python with torch was expected\n---> --python names one",
                 importing->python ? importing->python : "python3 on PATH");
        return FOLDER_ENVIRONMENT;
    }
    if (paths_find(run->script, sizeof run->script, "verify/python/task/importer.py") != 0) {
        snprintf(text, size, "%s is missing\n---> install unseen again", run->script);
        return FOLDER_ENVIRONMENT;
    }
    if (scratch_open(run->scratch, sizeof run->scratch, text, size) != BUILD_OK)
        return FOLDER_ENVIRONMENT;
    snprintf(run->written, sizeof run->written, "%s/%s", run->scratch, run->name);
    snprintf(run->log, sizeof run->log, "%s/.log", run->scratch);
    return mkdir(run->written, 0755) == 0 ? FOLDER_OK : FOLDER_ENVIRONMENT;
}

/* --- the process --- */

/* A virtual environment is the folder above bin/ with pyvenv.cfg. */
static void show_interpreter(struct sandbox *sandbox, const struct run *run)
{
    char prefix[PATH_MAX], mark[PATH_MAX + 16];
    snprintf(prefix, sizeof prefix, "%s", run->python);
    for (int i = 0; i < 2 && strrchr(prefix, '/'); i++)
        *strrchr(prefix, '/') = '\0';
    snprintf(mark, sizeof mark, "%s/pyvenv.cfg", prefix);
    if (access(mark, R_OK) == 0)
        sandbox_show(sandbox, prefix);
    sandbox_show_program(sandbox, run->python);
}

static bool enclose(struct sandbox *sandbox, const struct run *run, const char *const *command)
{
    char scripts[PATH_MAX];
    snprintf(scripts, sizeof scripts, "%s", run->script);
    for (int i = 0; i < 2; i++)
        *strrchr(scripts, '/') = '\0'; /* verify/python */
    sandbox_begin(sandbox, SANDBOX_CANDIDATE);
    show_interpreter(sandbox, run);
    sandbox_show_sources(sandbox);
    sandbox_show(sandbox, scripts);
    sandbox_show(sandbox, run->source);
    sandbox_lend(sandbox, run->written);
    if (!sandbox_end(sandbox, BLOCK_FD))
        return false;
    for (int i = 0; command[i]; i++) {
        if (sandbox->count + 1 >= SANDBOX_ARGUMENTS)
            return false;
        sandbox->argv[sandbox->count++] = command[i];
    }
    sandbox->argv[sandbox->count] = NULL;
    return true;
}

static void limit(pid_t pid)
{
    const struct rlimit memory = {MEMORY_LIMIT, MEMORY_LIMIT}, file = {FILE_LIMIT, FILE_LIMIT}, core = {0, 0};
    prlimit(pid, RLIMIT_AS, &memory, NULL);
    prlimit(pid, RLIMIT_FSIZE, &file, NULL);
    prlimit(pid, RLIMIT_CORE, &core, NULL);
}

/* In a group of its own, with its output in the log and nothing of the user's environment. */
static int launch(pid_t *pid, const char *const *argv, const struct run *run, const int *gate)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    const char *const environment[] = {path,
                                       "HOME=/tmp",
                                       "LC_ALL=C.UTF-8",
                                       "PYTHONDONTWRITEBYTECODE=1",
                                       "CUDA_VISIBLE_DEVICES=",
                                       "OMP_WAIT_POLICY=passive",
                                       NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, run->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, gate[0], BLOCK_FD);
    posix_spawn_file_actions_addclosefrom_np(&actions, BLOCK_FD + 1);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int status =
        posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, (char *const *)environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (status == 0)
        limit(*pid);
    return status;
}

static int start(pid_t *pid, const struct run *run, const char *const *command)
{
    struct sandbox sandbox;
    const char *const *argv = command;
    int gate[2];
    if (sandbox_works()) {
        if (!enclose(&sandbox, run, command))
            return E2BIG;
        argv = sandbox.argv;
    }
    if (pipe2(gate, O_CLOEXEC))
        return errno;
    child_table_starting();
    const int status = launch(pid, argv, run, gate);
    child_table_started(status == 0 ? *pid : 0);
    close(gate[0]);
    close(gate[1]);
    return status;
}

/* The wait status; -1 when it did not end in time and was killed. */
static int wait_for(pid_t pid)
{
    const double deadline = clock_seconds() + IMPORT_SECONDS;
    siginfo_t info = {0};
    int status = 0;
    while (clock_seconds() < deadline) {
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
            break;
        poll(NULL, 0, WAIT_MS);
    }
    kill(-pid, SIGKILL);
    child_table_remove(pid);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child_table_sweep();
    return info.si_pid ? status : -1;
}

/* --- what came of it --- */

/* What the importer said, behind its mark; else the last of what was printed. Nothing in it drives a terminal. */
static void read_log(const struct run *run, char *said, size_t size)
{
    static const char mark[] = "unseen-import: ";
    char lines[8192] = "";
    FILE *file = fopen(run->log, "re");
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

static enum folder_status explain(const struct run *run, int status, char *text, size_t size)
{
    char said[SHOWN];
    read_log(run, said, sizeof said);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (status == -1)
        snprintf(
            text, size,
            "%s was not imported: it had not ended after %d s\n---> see what it does when it is imported; a "
            "network, a prompt or a loop",
            run->source, IMPORT_SECONDS);
    else if (code == 2 && strstr(said, "--->"))
        snprintf(text, size, "%s", said);
    else if (code > 128)
        snprintf(text, size,
                 "%s was not imported: the interpreter was killed by signal %d, as when memory is out\n---> "
                 "try it with "
                 "smaller sizes",
                 run->source, code - 128);
    else
        snprintf(text, size,
                 "%s was not imported: the interpreter ended with status %d: %s\n---> see that it has torch",
                 run->source, code, said);
    return strstr(text, "has no torch") ? FOLDER_ENVIRONMENT : FOLDER_INPUT;
}

/* Can DIRECTORY/NAME be made? Asked before the task is probed, which takes half a minute. */
static enum folder_status is_free(const struct run *run, const char *directory, char *text, size_t size)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/%s", directory, run->name);
    if (access(folder, F_OK) == 0) {
        snprintf(text, size, "%s is there already\n---> remove it, or choose another place with --out",
                 folder);
        return FOLDER_INPUT;
    }
    if (access(directory, W_OK | X_OK) == 0)
        return FOLDER_OK;
    snprintf(
        text, size,
        "cannot make a folder in %s: %s; a directory that is there was expected\n---> make it, or choose "
        "another with --out",
        directory, strerror(errno));
    return errno == ENOENT || errno == ENOTDIR ? FOLDER_INPUT : FOLDER_ENVIRONMENT;
}

/* The files that belong to a problem's folder, from the private one into DIRECTORY/NAME. */
static enum folder_status keep(const struct run *run, const char *directory, char *folder, size_t folder_size,
                               char *text, size_t size)
{
    static const char *const endings[] = {"task", "space", "seen", "host.seen"};
    char from[900], to[PATH_MAX + 100], hash[65];
    snprintf(folder, folder_size, "%s/%s", directory, run->name);
    if (mkdir(folder, 0755) != 0) {
        snprintf(text, size, "cannot make %s: %s\n---> remove it, or choose another place with --out", folder,
                 strerror(errno));
        return errno == EEXIST ? FOLDER_INPUT : FOLDER_ENVIRONMENT;
    }
    for (int i = 0; i < 6; i++) {
        char file[NAME_MOST + 40];
        if (i < 4)
            snprintf(file, sizeof file, "%s.%s", run->name, endings[i]);
        else
            snprintf(file, sizeof file, "%s", i == 4 ? "README.md" : "source.py");
        snprintf(from, sizeof from, "%s/%s", run->written, file);
        snprintf(to, sizeof to, "%s/%s", folder, file);
        if (scratch_take(from, to, hash) != 0) {
            snprintf(text, size, "cannot write %s: %s\n---> free some room", to, strerror(errno));
            scratch_remove(folder);
            return FOLDER_ENVIRONMENT;
        }
    }
    return FOLDER_OK;
}

enum folder_status importing_run(const struct importing *importing, char *folder, size_t folder_size,
                                 char *text, size_t size)
{
    struct run run = {0};
    char seconds[16];
    pid_t pid;
    enum folder_status status = prepare(&run, importing, text, size);
    if (status != FOLDER_OK)
        return status;
    if (importing->directory && (status = is_free(&run, importing->directory, text, size)) != FOLDER_OK) {
        scratch_remove(run.scratch);
        return status;
    }
    snprintf(seconds, sizeof seconds, "%d", PROBE_SECONDS);
    const char *const command[] = {run.python,  "-I",     run.script, run.source,
                                   run.written, run.name, seconds,    NULL};
    if (sandbox_required() && !sandbox_works()) {
        snprintf(text, size,
                 "%s is not imported without a sandbox: %s\n---> install bubblewrap, or leave out "
                 "--require-sandbox",
                 run.source, sandbox_why_not());
        status = FOLDER_ENVIRONMENT;
    } else if ((errno = start(&pid, &run, command)) != 0) {
        snprintf(text, size, "cannot run %s: %s\n---> --python names another", run.python, strerror(errno));
        status = FOLDER_ENVIRONMENT;
    } else {
        const int ended = wait_for(pid);
        status = ended == 0 ? FOLDER_OK : explain(&run, ended, text, size);
    }
    if (status == FOLDER_OK && importing->directory)
        status = keep(&run, importing->directory, folder, folder_size, text, size);
    else
        snprintf(folder, folder_size, "%s", run.written);
    if (status != FOLDER_OK || importing->directory)
        scratch_remove(run.scratch);
    return status;
}
