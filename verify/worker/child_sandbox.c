#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_internal.h"
#include "verify/sandbox/launch.h"
#include "verify/sandbox/sandbox.h"
#include "verify/util/defence.h"

enum state { UNKNOWN, PROBED, CONFIRMED, REJECTED };

struct trial {
    enum state state;
    char why[200];
};

static struct trial trials[2];
static enum backend latest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void reject(struct trial *trial, const char *why)
{
    trial->state = REJECTED;
    /* The report has one line for the reason. */
    snprintf(trial->why, sizeof trial->why, "%.*s", (int)strcspn(why, "\n"), why);
}

/* Runs argv with its messages redirected to `output`. Returns the wait status, or -1 with errno. */
static int run_quietly(const char *const *argv, int output)
{
    pid_t pid;
    errno = launch_start(&pid, &(struct launch){.argv = argv, .output = output});
    if (errno)
        return -1;
    launch_wait(pid, INFINITY);
    return launch_end(
        pid); /* a bubblewrap that is killed while it starts leaves its other half, which waits forever */
}

/* Was it, or the process inside, killed by signal 9? */
static bool is_killed(int status)
{
    return (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
           (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL);
}

/* Tests whether bubblewrap works with these flags. If not, its first message is the reason. */
static void probe(struct trial *trial, enum backend backend)
{
    struct sandbox sandbox;
    char words[150] = "", why[200];
    int fd[2];
    sandbox_begin(&sandbox, backend == BACKEND_CUDA ? SANDBOX_CUDA : SANDBOX_CANDIDATE);
    if (!sandbox_end(&sandbox)) {
        reject(trial, "too many folders to show, by LD_LIBRARY_PATH");
        return;
    }
    sandbox.argv[sandbox.count++] = "true";
    sandbox.argv[sandbox.count] = NULL;
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK)) {
        reject(trial, strerror(errno));
        return;
    }
    int status = run_quietly(sandbox.argv, fd[1]);
    if (status != -1 && is_killed(status)) /* a kill says nothing about bubblewrap */
        status = run_quietly(sandbox.argv, fd[1]);
    if (status == -1) {
        reject(trial, errno == ENOENT ? "bubblewrap is not installed" : strerror(errno));
    } else if (status == 0) {
        trial->state = PROBED;
    } else {
        ssize_t got = read(fd[0], words, sizeof words - 1);
        words[got > 0 ? got : 0] = 0;
        snprintf(why, sizeof why, "bubblewrap does not work here: %s", words);
        reject(trial, why);
    }
    close(fd[0]);
    close(fd[1]);
}

static bool turned_off(void)
{
    const char *off = getenv("UNSEEN_NO_SANDBOX");
    return (off && strcmp(off, "1") == 0) || !defence_is_on(DEFENCE_SANDBOX);
}

/* Why it is not used; call it after `works` has returned false. */
static const char *reason(enum backend backend)
{
    return !defence_is_on(DEFENCE_SANDBOX) ? "--disable-defence sandbox"
           : turned_off()                  ? "UNSEEN_NO_SANDBOX=1"
                                           : trials[backend].why;
}

/* Call it under the lock. */
static bool works(enum backend backend)
{
    struct trial *const trial = &trials[backend];
    if (turned_off())
        return false;
    if (trial->state == UNKNOWN)
        probe(trial, backend);
    return trial->state != REJECTED;
}

void sandbox_probe_again(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2; i++)
        if (trials[i].state != CONFIRMED)
            trials[i] = (struct trial){.state = UNKNOWN};
    latest = BACKEND_HOST;
    pthread_mutex_unlock(&lock);
}

bool sandbox_use(enum backend backend)
{
    pthread_mutex_lock(&lock);
    latest = backend;
    const bool use = works(backend);
    pthread_mutex_unlock(&lock);
    return use;
}

static bool required;

void sandbox_require(bool on)
{
    required = on;
}

bool sandbox_required(void)
{
    return required;
}

const char *sandbox_why_not(void)
{
    return sandbox_works() ? NULL : reason(BACKEND_HOST);
}

bool sandbox_works(void)
{
    pthread_mutex_lock(&lock);
    const bool use = works(BACKEND_HOST);
    pthread_mutex_unlock(&lock);
    return use;
}

void sandbox_confirm(enum backend backend)
{
    pthread_mutex_lock(&lock);
    if (trials[backend].state == PROBED)
        trials[backend].state = CONFIRMED;
    pthread_mutex_unlock(&lock);
}

bool sandbox_confirmed(enum backend backend)
{
    pthread_mutex_lock(&lock);
    bool confirmed = trials[backend].state == CONFIRMED;
    pthread_mutex_unlock(&lock);
    return confirmed;
}

void sandbox_reject(enum backend backend, const char *why)
{
    pthread_mutex_lock(&lock);
    if (trials[backend].state != CONFIRMED)
        reject(&trials[backend], why);
    pthread_mutex_unlock(&lock);
}

const char *child_no_sandbox(void)
{
    return sandbox_use(latest) ? NULL : reason(latest);
}

const char *child_sandbox(void)
{
    static char text[400];
    bool inside = sandbox_use(latest);
    pthread_mutex_lock(&lock);
    if (inside)
        snprintf(text, sizeof text,
                 "bubblewrap: system libraries and the candidate are all it sees, no network, "
                 "own processes, nothing can be written");
    else
        snprintf(text, sizeof text,
                 "separate process without a sandbox (%s): the candidate has "
                 "this user's rights",
                 reason(latest));
    pthread_mutex_unlock(&lock);
    return text;
}
