#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_table.h"
#include "verify/device/cuda_visible.h"
#include "verify/util/clock.h"

enum { LIFTED = 10, STACK_BYTES = 1 << 16, FIRST_FREE = 3, LIMITS = 3, TICK_MS = 2 };

/* --- preparation in the parent --- */

struct bound {
    int resource;
    struct rlimit limit;
};

struct birth {
    const struct launch *launch;
    char *programs; /* paths to try in turn, NUL-terminated each, with an empty one at the end */
    int nowhere, output, channel;
    struct bound bound[LIMITS];
    int bounds;
    int descriptors; /* upper bound on descriptor numbers, for systems without close_range */
    volatile int error;
};

/* Moves a descriptor above the numbers that the new process needs, so that no dup2 overwrites one that is
 * still needed. */
static int lift(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, LIFTED);
}

static void add_bound(struct birth *birth, int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) == 0 && now.rlim_max < most)
        most = now.rlim_max;
    birth->bound[birth->bounds++] = (struct bound){resource, {most, most}};
}

/* Lists the candidates in the order of execvp. NULL: out of memory. */
static char *list_programs(const char *name)
{
    const char *const value = getenv("PATH"), *const path = value ? value : "/usr/bin:/bin";
    size_t folders = 1;
    for (const char *c = path; *c; c++)
        folders += *c == ':';
    char *const list = malloc(strlen(path) + folders * (strlen(name) + 3) + 1), *end = list;
    if (!list)
        return NULL;
    if (strchr(name, '/')) {
        end = stpcpy(list, name) + 1;
    } else {
        for (const char *folder = path;; folder++) {
            const int length = (int)strcspn(folder, ":");
            end += sprintf(end, "%.*s/%s", length ? length : 1, length ? folder : ".", name) + 1;
            folder += length;
            if (!*folder)
                break;
        }
    }
    *end = '\0';
    return list;
}

static int prepare(struct birth *birth, const struct launch *launch)
{
    struct rlimit open_files;
    *birth = (struct birth){.launch = launch, .nowhere = -1, .output = -1, .channel = -1};
    if (!(birth->programs = list_programs(launch->argv[0])))
        return ENOMEM;
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0)
        return errno;
    birth->nowhere = lift(nowhere);
    close(nowhere);
    if (birth->nowhere < 0 || (birth->output = lift(launch->output)) < 0 ||
        (launch->channelled && (birth->channel = lift(launch->channel)) < 0))
        return errno;
    add_bound(birth, RLIMIT_CORE, 0);
    if (launch->memory)
        add_bound(birth, RLIMIT_AS, launch->memory);
    if (launch->file)
        add_bound(birth, RLIMIT_FSIZE, launch->file);
    birth->descriptors = getrlimit(RLIMIT_NOFILE, &open_files) == 0 ? (int)open_files.rlim_cur : 1 << 16;
    return 0;
}

static void forget(struct birth *birth)
{
    const int fd[] = {birth->nowhere, birth->output, birth->channel};
    for (int i = 0; i < 3; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    free(birth->programs);
}

/* --- the new process: shares this process's memory until exec, so only system calls are allowed --- */

#define NEW_PROCESS __attribute__((no_sanitize("address", "undefined")))

NEW_PROCESS static void forget_signals(void)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        /* fails for 9, 19 and the C library's own signals, which have no handler of ours */
        sigaction(i, &usual, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

NEW_PROCESS static bool place_descriptors(const struct birth *birth)
{
    const int first = birth->channel >= 0 ? FIRST_FREE + 1 : FIRST_FREE;
    if (dup2(birth->nowhere, STDIN_FILENO) < 0 || dup2(birth->output, STDOUT_FILENO) < 0 ||
        dup2(birth->launch->quiet ? birth->nowhere : birth->output, STDERR_FILENO) < 0 ||
        (birth->channel >= 0 && dup2(birth->channel, FIRST_FREE) < 0))
        return false;
    if (close_range((unsigned)first, ~0U, 0) != 0)
        for (int fd = first; fd < birth->descriptors; fd++)
            close(fd);
    return true;
}

/* Sets the limits last: until exec, the process shares the judge's memory, which may exceed them. */
NEW_PROCESS static int become(void *data)
{
    extern char **environ;
    struct birth *const birth = data;
    const struct launch *const launch = birth->launch;
    char *const *const argv = (char *const *)launch->argv;
    char *const *const environment = launch->environment ? (char *const *)launch->environment : environ;
    bool denied = false;
    forget_signals();
    bool ready = setsid() >= 0 && place_descriptors(birth) &&
                 (!launch->bound || prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    for (int i = 0; ready && i < birth->bounds; i++)
        ready = setrlimit(birth->bound[i].resource, &birth->bound[i].limit) == 0;
    if (ready)
        errno = ENOENT;
    for (const char *program = birth->programs; ready && *program; program++) {
        execve(program, argv, environment);
        denied |= errno == EACCES;
        ready = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
        while (*program)
            program++;
    }
    birth->error = ready && denied ? EACCES : errno;
    _exit(127);
}

/* Uses clone instead of fork or posix_spawn: it copies no page tables of a large parent, runs none of the
 * CUDA runtime's handlers, and sets limits in the child. The child has its own stack, since no stack may grow
 * above a memory limit. */
static int give_birth(pid_t *pid, struct birth *birth)
{
    sigset_t all, before;
    char *const stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_POPULATE, -1, 0);
    if (stack == MAP_FAILED)
        return errno;
    sigfillset(&all);
    /* none of our handlers may run in the child, which shares our memory */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    *pid = clone(become, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, birth);
    const int error = *pid < 0 ? errno : birth->error;
    if (*pid > 0 && error)
        while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, STACK_BYTES);
    return error;
}

int launch_start(pid_t *pid, const struct launch *launch)
{
    struct birth birth;
    int error = prepare(&birth, launch);
    child_table_adopt();
    if (error == 0) {
        child_table_starting();
        error = give_birth(pid, &birth);
        child_table_started(error == 0 ? *pid : 0);
    }
    forget(&birth);
    return error;
}

int launch_channelled(pid_t *pid, int *pidfd, int ours[2], const struct launch *launch)
{
    struct launch with = *launch;
    int theirs[2];
    int error = launch_pipes(ours, theirs);
    if (error)
        return error;
    with.channelled = true;
    with.channel = theirs[0];
    with.output = theirs[1];
    error = launch_start(pid, &with);
    close(theirs[0]);
    close(theirs[1]);
    if (error) {
        close(ours[0]);
        close(ours[1]);
        return error;
    }
    *pidfd = pidfd_open(*pid, 0);
    return 0;
}

/* --- the end of a process --- */

bool launch_wait(pid_t pid, double deadline)
{
    siginfo_t info = {0};
    struct pollfd ended = {pidfd_open(pid, 0), POLLIN, 0};
    for (bool more = true; more;) { /* WNOWAIT: the process leaves the table before its pid may be reused */
        const double left = deadline - clock_seconds();
        more = left > 0;
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
            break;
        if (more)
            poll(&ended, 1,
                 ended.fd < 0 || left < 1e-3 * TICK_MS ? TICK_MS
                 : left < 1                            ? (int)(1e3 * left)
                                                       : 1000);
    }
    if (ended.fd >= 0)
        close(ended.fd);
    return info.si_pid != 0;
}

int launch_end(pid_t pid)
{
    int status = 0;
    kill(-pid, SIGKILL); /* kills all processes left in its group, even if it has ended itself */
    kill(pid, SIGKILL);
    child_table_remove(pid);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child_table_sweep();
    return status;
}

/* --- resources of the child --- */

int launch_pipes(int ours[2], int theirs[2])
{
    int channel[2] = {-1, -1}, output[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel))
        return errno;
    if (pipe2(output, O_CLOEXEC) || fcntl(output[0], F_SETFL, O_NONBLOCK) < 0) {
        const int error = errno, opened[] = {channel[0], channel[1], output[0], output[1]};
        for (int i = 0; i < 4; i++)
            if (opened[i] >= 0)
                close(opened[i]);
        return error;
    }
    ours[0] = channel[0];
    ours[1] = output[0];
    theirs[0] = channel[1];
    theirs[1] = output[1];
    return 0;
}

int launch_environment(char **environment, bool path, int threads)
{
    static const char *const gpu = "CUDA_VISIBLE_DEVICES";
    const char *const kept[] = {"LD_LIBRARY_PATH", gpu, "CUDA_DEVICE_ORDER", "PATH"};
    int n = 0;
    bool ok = true;
    for (int i = 0; ok && i < (path ? 4 : 3); i++) {
        const char *const value =
            kept[i] == gpu && cuda_visible_uuid() ? cuda_visible_uuid() : getenv(kept[i]);
        if (value)
            ok = asprintf(&environment[n++], "%s=%s", kept[i], value) >= 0;
    }
    if (ok && path)
        ok = (environment[n++] = strdup("HOME=/nonexistent")) != NULL;
    if (ok && path) /* torch asks for the user's name, and there is no /etc/passwd */
        ok = (environment[n++] = strdup("USER=unseen")) != NULL;
    if (ok && threads > 0)
        ok = asprintf(&environment[n++], "OMP_NUM_THREADS=%d", threads) >= 0;
    /* Threads that spin while waiting would take cores from working threads, here or in other processes. */
    ok = ok && (environment[n++] = strdup("OMP_WAIT_POLICY=passive")) != NULL;
    if (!ok)
        environment[n - 1] = NULL; /* asprintf leaves it undefined on failure */
    return ok ? n : -1;
}
