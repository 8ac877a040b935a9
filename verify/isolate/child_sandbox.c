#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_internal.h"

/* Whether CUDA children are started inside bubblewrap at all: the driver opens its devices
 * through /dev in a user namespace, and the first child finds out whether that works here. */
enum { SANDBOX_FOR_CUDA = 1 };

enum state { UNKNOWN, PROBED, CONFIRMED, REJECTED };

struct sandbox {
    enum state state;
    char why[200];
};

static struct sandbox sandboxes[2];
static enum backend latest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void reject(struct sandbox *sandbox, const char *why)
{
    sandbox->state = REJECTED;
    /* The report has one line for it. */
    snprintf(sandbox->why, sizeof sandbox->why, "%.*s", (int)strcspn(why, "\n"), why);
}

/* No --new-session: the runner is started in a session of its own anyway, and staying in
 * bubblewrap's group lets one kill reach them all. Killing bubblewrap ends the process namespace
 * in any case. */
int sandbox_arguments(const char **argv, enum backend backend, const char *runner, const char *object)
{
    static const char *const common[] = {
        "bwrap",
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--die-with-parent",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
    };
    static const char *const device[2][5] = {
        [BACKEND_HOST] = {"--dev", "/dev", "--tmpfs", "/run", NULL},
        [BACKEND_CUDA] = {"--dev-bind", "/dev", "/dev", NULL},
    };
    static const char *const private[] = {
        /* what is written there is memory: bounded */
        "--proc", "/proc",    "--size",  "67108864", "--tmpfs", "/tmp",
        "--size", "67108864", "--tmpfs", "/dev/shm", "--chdir", "/",
    };
    int n = 0;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        argv[n++] = common[i];
    for (int i = 0; device[backend][i]; i++)
        argv[n++] = device[backend][i];
    for (size_t i = 0; i < sizeof private / sizeof *private; i++)
        argv[n++] = private[i];
    const char *shown[] = {runner, object}; /* either may lie in the /tmp that was just hidden */
    for (int i = 0; i < 2; i++)
        if (shown[i] && *shown[i]) {
            argv[n++] = "--ro-bind";
            argv[n++] = shown[i];
            argv[n++] = shown[i];
        }
    argv[n++] = "--";
    argv[n] = NULL;
    return n;
}

/* Run argv with its messages going to `output`. Returns the wait status; -1 with errno. */
static int run_quietly(const char *const *argv, int output)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    errno = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (errno)
        return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Does it work here with these flags? Its own first words are the reason when not. */
static void probe(struct sandbox *sandbox, enum backend backend)
{
    const char *argv[SANDBOX_ARGUMENTS];
    char words[150] = "", why[200];
    int fd[2], n = sandbox_arguments(argv, backend, NULL, NULL);
    argv[n++] = "true";
    argv[n] = NULL;
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK)) {
        reject(sandbox, strerror(errno));
        return;
    }
    int status = run_quietly(argv, fd[1]);
    if (status == -1) {
        reject(sandbox, errno == ENOENT ? "bubblewrap is not installed" : strerror(errno));
    } else if (status == 0) {
        sandbox->state = PROBED;
    } else {
        ssize_t got = read(fd[0], words, sizeof words - 1);
        words[got > 0 ? got : 0] = 0;
        snprintf(why, sizeof why, "bubblewrap does not work here: %s", words);
        reject(sandbox, why);
    }
    close(fd[0]);
    close(fd[1]);
}

static bool turned_off(void)
{
    const char *off = getenv("UNSEEN_NO_SANDBOX");
    return off && strcmp(off, "1") == 0;
}

bool sandbox_use(enum backend backend)
{
    pthread_mutex_lock(&lock);
    struct sandbox *sandbox = &sandboxes[backend];
    latest = backend;
    bool off = turned_off();
    if (!off && sandbox->state == UNKNOWN) {
        if (backend == BACKEND_CUDA && !SANDBOX_FOR_CUDA)
            reject(sandbox, "not used for CUDA");
        else
            probe(sandbox, backend);
    }
    bool use = !off && sandbox->state != REJECTED;
    pthread_mutex_unlock(&lock);
    return use;
}

void sandbox_confirm(enum backend backend)
{
    pthread_mutex_lock(&lock);
    if (sandboxes[backend].state == PROBED)
        sandboxes[backend].state = CONFIRMED;
    pthread_mutex_unlock(&lock);
}

bool sandbox_confirmed(enum backend backend)
{
    pthread_mutex_lock(&lock);
    bool confirmed = sandboxes[backend].state == CONFIRMED;
    pthread_mutex_unlock(&lock);
    return confirmed;
}

void sandbox_reject(enum backend backend, const char *why)
{
    pthread_mutex_lock(&lock);
    if (sandboxes[backend].state != CONFIRMED)
        reject(&sandboxes[backend], why);
    pthread_mutex_unlock(&lock);
}

const char *child_sandbox(void)
{
    static char text[400];
    bool inside = sandbox_use(latest);
    pthread_mutex_lock(&lock);
    if (inside)
        snprintf(text, sizeof text,
                 "bubblewrap: no network, read-only file system, private /tmp "
                 "and /proc, own user namespace");
    else
        snprintf(text, sizeof text,
                 "separate process without a sandbox (%s): the candidate has "
                 "this user's rights",
                 turned_off() ? "UNSEEN_NO_SANDBOX=1" : sandboxes[latest].why);
    pthread_mutex_unlock(&lock);
    return text;
}
