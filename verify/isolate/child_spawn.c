#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_internal.h"
#include "child_table.h"
#include "sandbox.h"
#include "zygote.h"
#include "verify/forbid/forbid.h"
#include "verify/system/defence.h"

enum { ENVIRONMENT = 24, LIFTED = 10, CHANNEL_GONE_MS = 2000 };

/* The runner lies beside this program, or where `make install` puts it. */
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

/* Only what a candidate needs to find its libraries and device: a seed in a variable must not
 * reach it. */
static int make_environment(char *environment[ENVIRONMENT], int threads, const struct python *python)
{
    static const char *const kept[] = {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
                                       "PATH"};
    const int inherited = python ? 3 : 4;
    int n = 0, status = 0;
    for (int i = 0; i < inherited; i++) {
        const char *value = getenv(kept[i]);
        if (value)
            status |= asprintf(&environment[n++], "%s=%s", kept[i], value) < 0;
    }
    if (python)
        n += spawn_python_environment(environment + n, python, threads);
    else
        status |= asprintf(&environment[n++], "HOME=/nonexistent") < 0;
    if (threads > 0)
        status |= asprintf(&environment[n++], "OMP_NUM_THREADS=%d", threads) < 0;
    /* Threads that spin while they wait take the cores from those that work, here or next door. */
    status |= asprintf(&environment[n++], "OMP_WAIT_POLICY=passive") < 0;
    environment[n] = NULL;
    return status ? -1 : 0;
}

/* Descriptors above those that the child's own are moved onto, so that no dup2 hits one still
 * needed. */
static int lift(int fd)
{
    if (fd < 0 || fd >= LIFTED)
        return fd;
    int lifted = fcntl(fd, F_DUPFD_CLOEXEC, LIFTED);
    close(fd);
    return lifted;
}

static int make_pipes(int channel[2], int output[2])
{
    channel[0] = channel[1] = output[0] = output[1] = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel))
        return -1;
    if (pipe2(output, O_CLOEXEC))
        return -1;
    for (int i = 0; i < 2; i++) {
        channel[i] = lift(channel[i]);
        output[i] = lift(output[i]);
    }
    return channel[0] < 0 || channel[1] < 0 || output[0] < 0 || output[1] < 0 ||
                   fcntl(output[0], F_SETFL, O_NONBLOCK) < 0
               ? -1
               : 0;
}

/* posix_spawn and not fork: no copy of a large parent's page tables, and nothing of the CUDA
 * runtime runs in the child between fork and exec. */
static int launch(pid_t *pid, const char *const *argv, char *const *environment, int channel, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, channel, CHANNEL_FD);
    posix_spawn_file_actions_addclosefrom_np(&actions, CHANNEL_FD + 1);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int status = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

static void close_all(const int *fd, int count)
{
    for (int i = 0; i < count; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

static bool enclose(struct sandbox *sandbox, const struct child_options *options, const char *runner)
{
    sandbox_begin(sandbox, options->backend == BACKEND_CUDA ? SANDBOX_CUDA : SANDBOX_CANDIDATE);
    sandbox_show(sandbox, runner);
    if (options->python)
        spawn_python_show(sandbox, options->python);
    else if (options->object && *options->object)
        sandbox_show(sandbox, options->object);
    return sandbox_end(sandbox, -1);
}

/* What is to run, behind the sandbox's words. */
static void add_words(const char **argv, const struct child_options *options, const char *runner,
                      const char *without)
{
    const struct python *const python = options->python;
    const char *const interpreted[] = {python ? python->interpreter : NULL, "-I",  "-B", "-u",
                                       python ? python->script : NULL,      runner};
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

int spawn_process(struct spawned *spawned, const char *const *argv, char *const *environment)
{
    int fd[4]; /* channel, output: ours, theirs each */
    int status = make_pipes(fd, fd + 2) ? errno : 0;
    child_table_adopt();
    if (status == 0) {
        child_table_starting();
        status = launch(&spawned->pid, argv, environment, fd[1], fd[3]);
        child_table_started(status == 0 ? spawned->pid : 0);
    }
    if (status) {
        close_all(fd, 4);
        return status;
    }
    close(fd[1]);
    close(fd[3]);
    spawned->channel = fd[0];
    spawned->output = fd[2];
    spawned->pidfd = pidfd_open(spawned->pid, 0);
    spawned->zygote = NULL;
    return 0;
}

/* A fork of an interpreter that is there, or is started now. */
static int fork_python(struct spawned *spawned, const struct child_options *options, bool sandboxed,
                       const char *const *argv, char *const *environment, char *text, size_t text_size)
{
    char key[1024];
    int fd[4]; /* channel, output: ours, theirs each */
    snprintf(key, sizeof key, "%s %d %d %d %d", options->object, sandboxed, (int)options->backend,
             options->device, options->threads);
    const struct zygote_plan plan = {key, argv, environment};
    struct zygote *const zygote = zygote_take(&plan, text, text_size);
    if (!zygote)
        return -1;
    if (make_pipes(fd, fd + 2)) {
        snprintf(text, text_size, "cannot make a pipe: %s\n---> check ulimit -n", strerror(errno));
        close_all(fd, 4);
        zygote_give(zygote);
        return -1;
    }
    const int process = zygote_start(zygote, fd[1], fd[3], text, text_size);
    close(fd[1]);
    close(fd[3]);
    if (process < 0) {
        close(fd[0]);
        close(fd[2]);
        zygote_give(zygote);
        return -1;
    }
    *spawned = (struct spawned){
        .pid = zygote_pid(zygote), .pidfd = process, .channel = fd[0], .output = fd[2], .zygote = zygote};
    return 0;
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
    if (make_environment(environment, options->threads, options->python))
        status = errno;
    else if (options->python)
        status = fork_python(spawned, options, sandboxed, sandbox.argv, environment, text, text_size);
    else
        status = spawn_process(spawned, sandbox.argv, environment);
    for (int i = 0; i < ENVIRONMENT; i++)
        free(environment[i]);
    if (status > 0)
        snprintf(text, text_size,
                 "cannot start %s: %s\n---> check the limits on processes and "
                 "open files (ulimit -a)",
                 sandbox.argv[0], strerror(status));
    return status ? -1 : 0;
}

/* Its end is the zygote's to tell, which ends what it has left, too. */
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
    int status = 0;
    if (spawned->zygote)
        return reap_forked(spawned, patience_ms);
    pid_t pid = spawned->pid;
    struct pollfd ended = {spawned->pidfd, POLLIN, 0};
    siginfo_t info = {0};
    /* WNOWAIT: it leaves the table before its number is free again. */
    for (int i = 0; i < patience_ms && info.si_pid == 0; i++)
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
            poll(&ended, 1, 1);
    kill(-pid, SIGKILL); /* whatever it left in its group, also after its own end */
    if (info.si_pid == 0)
        kill(pid, SIGKILL);
    child_table_remove(pid);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child_table_sweep();
    /* Under bubblewrap the runner's end follows that of its parent; its memory must be free
     * before the next one starts. The channel hangs up when it is gone. */
    struct pollfd hung_up = {spawned->channel, 0, 0};
    poll(&hung_up, 1, CHANNEL_GONE_MS);
    spawned->pid = 0;
    return status;
}
