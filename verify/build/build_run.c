#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler.h"
#include "reports/record/atomic.h"
#include "scratch.h"
#include "verify/sandbox/helper_process.h"
#include "verify/sandbox/sandbox.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"

enum { SHOWN_LINES = 12, LINE_BYTES = 400, ENVIRONMENT = 1024 };
/* A compiler may need a few GB; one that is misled must not use up the machine. The file limit covers its
 * temporary files, the object and its log. */
static const rlim_t MEMORY_LIMIT = (rlim_t)16 << 30, FILE_LIMIT = (rlim_t)1 << 30;

/* This process's environment with TMPDIR in the build's directory, so that leftovers of a killed compiler are
 * removed with it. Messages are in English, since the selection of error lines parses them. */
static void make_environment(const char **environment, char *tmpdir, size_t size, const char *directory)
{
    extern char **environ;
    int n = 0;
    snprintf(tmpdir, size, "TMPDIR=%s", directory);
    for (char **entry = environ; *entry && n < ENVIRONMENT - 3; entry++)
        if (strncmp(*entry, "TMPDIR=", 7) != 0 && strncmp(*entry, "LC_ALL=", 7) != 0)
            environment[n++] = *entry;
    environment[n++] = tmpdir;
    environment[n++] = "LC_ALL=C";
    environment[n] = NULL;
}

/* The source's path for messages, if it names the same file inside the sandbox: it must contain no link. */
static const char *path_inside(const char *path, const char *real, const char *here)
{
    const size_t length = strlen(here);
    const char *const plain = strncmp(path, "./", 2) == 0 ? path + 2 : path;
    const bool below =
        strncmp(real, here, length) == 0 && real[length] == '/' && strcmp(real + length + 1, plain) == 0;
    return below ? path : real;
}

/* Appends the compiler's own arguments to those of the sandbox. */
static bool add_command(struct sandbox *sandbox, const struct compiler_command *command, const char *path,
                        const char *inside)
{
    if (sandbox->count + command->count >= SANDBOX_ARGUMENTS)
        return false;
    for (int i = 0; i < command->count; i++)
        sandbox->argv[sandbox->count++] = strcmp(command->argv[i], path) == 0 ? inside : command->argv[i];
    sandbox->argv[sandbox->count] = NULL;
    return true;
}

static bool enclose(struct sandbox *sandbox, const struct compiler_command *command,
                    const struct compiling *compiling, const char *real)
{
    static const char *const host_compilers[] = {"cc", "gcc", "g++", "as", "ld", NULL};
    char folder[PATH_MAX], here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        snprintf(here, sizeof here, "/");
    snprintf(folder, sizeof folder, "%s", real);
    sandbox_begin(sandbox, SANDBOX_COMPILER);
    sandbox_stand(sandbox, here);
    sandbox_show_program(sandbox, command->argv[0]);
    for (int i = 0; host_compilers[i]; i++)
        sandbox_show_program(sandbox, host_compilers[i]);
    sandbox_show_sources(sandbox);
    sandbox_show(sandbox, dirname(folder));
    sandbox_lend(sandbox, compiling->directory);
    return sandbox_end(sandbox) &&
           add_command(sandbox, command, compiling->path, path_inside(compiling->path, real, here));
}

/* Returns 0 or an errno. */
static int start(pid_t *pid, const struct compiler_command *command, const struct compiling *compiling)
{
    struct sandbox sandbox;
    char real[PATH_MAX], tmpdir[600];
    const char *const *argv = command->argv, *environment[ENVIRONMENT];
    if (compiling->untrusted && sandbox_works()) {
        if (!realpath(compiling->path, real))
            return errno;
        if (!enclose(&sandbox, command, compiling, real))
            return E2BIG;
        argv = sandbox.argv;
    }
    make_environment(environment, tmpdir, sizeof tmpdir, compiling->directory);
    return helper_process_start(pid,
                                &(struct helper_process){.argv = argv,
                                                         .environment = environment,
                                                         .log = compiling->log,
                                                         .memory = compiling->untrusted ? MEMORY_LIMIT : 0,
                                                         .file = compiling->untrusted ? FILE_LIMIT : 0});
}

/* Copies lines that contain "error"; if there are none (as for some linkers), all lines. *full: the disk is
 * full. */
static void excerpt(const char *log, bool errors_only, int *shown, bool *full, char *text, size_t text_size)
{
    char line[LINE_BYTES];
    size_t used = 0;
    FILE *file = fopen(log, "re");
    *shown = 0;
    *text = 0;
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = 0;
        for (char *c = line; *c; c++)
            if (*c < ' ' ||
                *c > '~') /* the candidate's author may have written it, and it must not control a terminal */
                *c = *c == '\t' ? ' ' : '?';
        *full |= strstr(line, "No space left on device") != NULL;
        bool wanted =
            *line && (!errors_only || strcasestr(line, "error") || strstr(line, "undefined reference"));
        if (!wanted || *shown >= SHOWN_LINES || used + strlen(line) + 4 > text_size)
            continue;
        used += (size_t)snprintf(text + used, text_size - used, "\n  %s", line);
        ++*shown;
    }
    if (file)
        fclose(file);
}

/* Under bubblewrap a signal appears as exit status 128 + signal. */
static bool is_killed(const struct compiling *compiling, int status)
{
    return (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
           (compiling->untrusted && WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL);
}

static enum build_status explain(const struct compiler_command *command, const struct compiling *compiling,
                                 int status, char *error, size_t error_size)
{
    char lines[SHOWN_LINES * LINE_BYTES / 2], ending[64];
    int shown;
    bool full = false;
    excerpt(compiling->log, true, &shown, &full, lines, sizeof lines);
    if (shown == 0)
        excerpt(compiling->log, false, &shown, &full, lines, sizeof lines);
    if (full && !scratch_has_room(compiling->directory)) {
        snprintf(error, error_size,
                 "no room to compile in %s: No space left on device\n---> free "
                 "some, or set TMPDIR to a directory with room",
                 compiling->directory);
        return BUILD_ENVIRONMENT;
    }
    if (is_killed(compiling, status)) {
        snprintf(
            error, error_size,
            "%s was not compiled: %s was killed by signal 9, as when memory is out\n---> free some, and try "
            "again",
            compiling->path, command->argv[0]);
        return BUILD_ENVIRONMENT;
    }
    if (WIFSIGNALED(status))
        snprintf(ending, sizeof ending, "was killed by signal %d", WTERMSIG(status));
    else
        snprintf(ending, sizeof ending, "ended with status %d", WEXITSTATUS(status));
    const bool hidden = compiling->untrusted && strstr(lines, "No such file or directory") && sandbox_works();
    snprintf(
        error, error_size, "%s does not compile: %s %s%s%s", compiling->path, command->argv[0], ending, lines,
        hidden
            ? "\n---> compiling sees the candidate's own folder, the system's headers and \"candidate.h\"; "
              "--include-dir DIR puts another folder on the include path"
            : "");
    return BUILD_FAILED;
}

enum build_status compiler_run(const struct compiler_command *command, const struct compiling *compiling,
                               char *error, size_t error_size)
{
    pid_t pid;
    if (compiling->untrusted && sandbox_required() && !sandbox_works()) {
        snprintf(error, error_size,
                 "%s is not compiled without a sandbox: %s\n---> install bubblewrap, or leave out "
                 "--require-sandbox",
                 compiling->path, sandbox_why_not());
        return BUILD_ENVIRONMENT;
    }
    int failure = start(&pid, command, compiling);
    if (failure) {
        snprintf(error, error_size, "cannot run %s: %s\n---> install %s, or put it on PATH", command->argv[0],
                 strerror(failure), command->argv[0]);
        return BUILD_ENVIRONMENT;
    }
    int status = compiling->untrusted ? helper_process_wait_starved(pid, compiling->timeout)
                                      : helper_process_wait(pid, clock_seconds() + compiling->timeout);
    if (status == -1) {
        const bool over = budget_is_over(); /* that says nothing about the candidate */
        snprintf(error, error_size, "%s does not compile: %s had not ended after %.3g s%s", compiling->path,
                 command->argv[0], over ? budget_seconds() : compiling->timeout,
                 over ? ", when --budget was over\n---> give it more" : "");
        return over ? BUILD_ENVIRONMENT : BUILD_FAILED;
    }
    return status == 0 ? BUILD_OK : explain(command, compiling, status, error, error_size);
}

/* Maps the whole file: a log may be as large as any file of the compiler. NULL: empty or missing. */
static char *map_log(const char *log, size_t *size)
{
    struct stat status;
    const int fd = open(log, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    void *text = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        *size = (size_t)status.st_size;
        text = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    return text == MAP_FAILED ? NULL : text;
}

/* Creates a file with an unpredictable name. False: no file remains. */
static bool keep_elsewhere(const char *text, size_t size, char *kept, size_t kept_size)
{
    static const char ending[] = ".log";
    const int length = snprintf(kept, kept_size, "%s/unseen-build-XXXXXX%s", scratch_place(), ending);
    const int fd =
        length < (int)kept_size ? mkostemps(kept, (int)strlen(ending), O_NOFOLLOW | O_CLOEXEC) : -1;
    FILE *const out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out)
        return false;
    const bool whole = fwrite(text, 1, size, out) == size;
    if (fclose(out) == 0 && whole)
        return true;
    unlink(kept);
    return false;
}

void compiler_keep_log(const char *log, char *kept, size_t kept_size, char *error, size_t error_size)
{
    char ignored[700];
    const size_t used = strlen(error);
    size_t size = 0;
    char *const text = map_log(log, &size);
    snprintf(kept, kept_size, "unseen-build.log");
    /* If there is no place for it, the lines already in the message must suffice. */
    if (!text || (atomic_replace(kept, "compiler's output", text, size, ignored, sizeof ignored) != 0 &&
                  !keep_elsewhere(text, size, kept, kept_size)))
        *kept = '\0';
    if (*kept)
        snprintf(error + used, error_size - used, "\n---> the compiler's full output is in %s", kept);
    if (text)
        munmap(text, size);
}
