/* The disk is full: the judge's n-th writing call fails with ENOSPC and, in every second trial, all calls
 * after it. The judge is traced (ptrace), so that writes of its libraries count, too. Its children are not
 * traced. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lost.h"
#include "verify/util/clock.h"

#if defined(__x86_64__) && defined(PTRACE_GET_SYSCALL_INFO)

enum { THREADS = 256, SECONDS = 60 };
static const char part[] = "disk";

/* One traced run. */
struct trial {
    long at;              /* the call that fails; 0: none */
    bool onward, started; /* it has become the tool */
    long seen;
    pid_t failing[THREADS]; /* threads within a call that fails */
    char where[400];        /* the call that failed first */
};

static bool is_file(pid_t thread, uint64_t fd, char *path, size_t size)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)thread, (int)fd);
    const ssize_t length = readlink(link, path, size - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    return *path == '/' && strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0 &&
           strncmp(path, "/memfd:", 7) != 0;
}

/* Does this call put data on a disk? */
static bool writes(pid_t thread, const struct __ptrace_syscall_info *info, char *path, size_t size)
{
    const uint64_t *a = info->entry.args;
    const long call = (long)info->entry.nr;
    snprintf(path, size, "call %ld", call);
    switch (call) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_fsync: return is_file(thread, a[0], path, size);
    case SYS_open: return a[1] & O_CREAT;
    case SYS_openat: return a[2] & O_CREAT;
    case SYS_creat:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2: return true;
    default: return false;
    }
}

static pid_t *place_of(struct trial *trial, pid_t thread)
{
    for (int i = 0; i < THREADS; i++)
        if (trial->failing[i] == thread)
            return &trial->failing[i];
    return NULL;
}

static void enter(struct trial *trial, pid_t thread, const struct __ptrace_syscall_info *info)
{
    char path[300];
    struct user_regs_struct registers;
    if (!trial->started || !writes(thread, info, path, sizeof path))
        return;
    trial->seen++;
    if (trial->at == 0 || trial->seen < trial->at || (trial->seen > trial->at && !trial->onward))
        return;
    if (trial->seen == trial->at)
        snprintf(trial->where, sizeof trial->where, "%s (%ld)", path, (long)info->entry.nr);
    pid_t *place = place_of(trial, 0);
    if (!place || ptrace(PTRACE_GETREGS, thread, NULL, &registers) != 0)
        return;
    *place = thread;
    registers.orig_rax = (unsigned long long)-1; /* no such call: nothing is done */
    ptrace(PTRACE_SETREGS, thread, NULL, &registers);
}

static void leave(struct trial *trial, pid_t thread)
{
    struct user_regs_struct registers;
    pid_t *place = place_of(trial, thread);
    if (!place)
        return;
    *place = 0;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &registers) != 0)
        return;
    registers.rax = (unsigned long long)-ENOSPC;
    ptrace(PTRACE_SETREGS, thread, NULL, &registers);
}

/* Handles a thread that stopped; returns the signal with which it goes on. */
static int look(struct trial *trial, pid_t thread, int status)
{
    struct __ptrace_syscall_info info;
    const int number = WSTOPSIG(status);
    trial->started = trial->started || status >> 16 == PTRACE_EVENT_EXEC;
    if (number == (SIGTRAP | 0x80)) {
        if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) > 0) {
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
                enter(trial, thread, &info);
            else
                leave(trial, thread);
        }
        return 0;
    }
    return number == SIGTRAP || number == SIGSTOP ? 0 : number;
}

static pid_t start_traced(const struct lost_how *how, int errors[2])
{
    int status;
    if (pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        lost_become(how, errors[1]);
    }
    close(errors[1]);
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, pid, NULL, options) != 0 || ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0) {
        if (pid > 0)
            kill(pid, SIGKILL);
        close(errors[0]);
        return -1;
    }
    return pid;
}

static void drain(int errors, struct lost_run *run)
{
    char buffer[4096];
    size_t size = 0;
    FILE *said = open_memstream(&run->said, &size);
    for (ssize_t got; (got = read(errors, buffer, sizeof buffer)) > 0;)
        fwrite(buffer, 1, (size_t)got, said);
    fclose(said);
    close(errors);
}

static volatile pid_t traced;

static void on_alarm(int number)
{
    (void)number;
    kill(traced, SIGKILL);
    traced = 0;
}

static struct lost_run run_traced(const struct lost_how *how, struct trial *trial)
{
    struct lost_run run = {.status = LOST_HUNG};
    const struct sigaction action = {.sa_handler = on_alarm};
    int errors[2], status = 0;
    const double start = clock_seconds();
    const pid_t pid = start_traced(how, errors);
    if (pid < 0)
        return run;
    traced = pid;
    sigaction(SIGALRM, &action, NULL);
    alarm(SECONDS);
    for (bool ended = false; !ended;) {
        const pid_t thread = waitpid(-1, &status, __WALL);
        if (thread > 0 && WIFSTOPPED(status))
            ptrace(PTRACE_SYSCALL, thread, NULL, look(trial, thread, status));
        ended = thread == pid && !WIFSTOPPED(status);
    }
    alarm(0);
    if (traced)
        run.status = WIFSIGNALED(status) ? LOST_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
    drain(errors[0], &run);
    run.seconds = clock_seconds() - start;
    return run;
}

/* A first failure may lead to the same verdict, or to status 3 with a message. Standard output has no path to
 * name. */
static const char *judge(const struct lost_how *how, const struct lost_run *run)
{
    if (run->status != 3)
        return lost_same(how, run);
    if (!strstr(run->said, "\n---> "))
        return "no hint";
    if (!strstr(run->said, strerror(ENOSPC)) && !strstr(run->said, "standard output takes no more"))
        return "it does not say that the disk is full";
    return lost_whole(how);
}

static long count_calls(const struct lost_how *how)
{
    struct trial trial = {.at = 0};
    struct lost_run run = run_traced(how, &trial);
    const char *wrong = run.status == LOST_HUNG ? NULL : lost_same(how, &run);
    if (wrong)
        lost_complain(part, 0, &run, wrong);
    lost_forget(&run);
    return trial.seen;
}

static void try_one(const struct lost_how *how, long at, bool onward, long *told)
{
    struct trial trial = {.at = at, .onward = onward};
    unlink("j.json");
    unlink("c.csv");
    struct lost_run run = run_traced(how, &trial);
    const char *wrong = judge(how, &run);
    if (!wrong)
        wrong = lost_no_process();
    if (!wrong)
        wrong = lost_no_file(false);
    *told += run.status == 3;
    if (getenv("LOST_VERBOSE"))
        printf("disk: %ld%s %s: status %d: %.200s\n", at, onward ? " and on" : "", trial.where, run.status,
               run.said);
    if (wrong) {
        printf("%s: call %ld%s, %s:\n", part, at, onward ? " and all after it" : "", trial.where);
        lost_complain(part, at, &run, wrong);
    }
    lost_forget(&run);
}

/* All calls in turn; or `most` of them, anywhere in a right candidate's run. */
int lost_disk(long most)
{
    long calls[LOST_CANDIDATES] = {0}, told = 0, trials = 0;
    for (int c = 0; c < (most > 0 ? 1 : LOST_CANDIDATES); c++) {
        const struct lost_how how = {.candidate = c, .source = true};
        if (lost_undisturbed(c, true) < 0)
            return lost_complaints();
        calls[c] = count_calls(&how);
        if (calls[c] == 0) {
            printf("disk: skipped: nothing can be traced here\n");
            return lost_complaints();
        }
        for (long n = 0; n < (most > 0 ? most : 2 * calls[c]); n++, trials++)
            try_one(&how, most > 0 ? 1 + (long)(lost_random() % (uint64_t)calls[c]) : 1 + n / 2, n % 2,
                    &told);
    }
    printf("disk: %ld and %ld calls that write, of a right and of a wrong candidate; %ld trials, %ld of them "
           "ended with status 3, the others with the verdict; %d complaints\n",
           calls[LOST_RIGHT], calls[LOST_WRONG], trials, told, lost_complaints());
    return lost_complaints();
}

#else

int lost_disk(long most)
{
    (void)most;
    printf("disk: skipped: knows how to fail calls on x86-64 only\n");
    return 0;
}

#endif
