/* Restores the process's state before each call, whatever an earlier call or a constructor changed. A
 * kernel's own resources stay: its memory, threads, handles and streams, its settings of libraries (OpenMP's
 * number of threads), and limits that it raised, which are resources like any buffer. */
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "runner_internal.h"

enum { STANDARD = 3, PRIVATE_FD = 100 };

/* A standard descriptor: a duplicate, its file, and its open flags. */
struct kept_descriptor {
    int copy;
    struct stat status;
    int flags;
};

static struct {
    bool present;
    char **environment; /* our copy, [words + 1] */
    size_t words;
    mode_t umask;
    struct kept_descriptor standard[STANDARD];
    bool has_affinity;
    cpu_set_t affinity;
    int nice, policy;
    struct sched_param scheduling;
    struct rlimit limit[RLIM_NLIMITS];
    int slack; /* timer slack in nanoseconds */
    fenv_t arithmetic;
    char *locale; /* set by an interpreter before state_keep */
} kept;

/* --- floating point: rounding, traps, denormals, the x87's precision and stack --- */

#ifdef __x86_64__

static struct {
    unsigned short control; /* x87 */
    unsigned mxcsr;
} x86;

static void keep_arithmetic(void)
{
    __asm__ volatile("fnstcw %0" : "=m"(x86.control));
    x86.mxcsr = _mm_getcsr();
}

/* fesetenv does not reset the x87's precision and stack. */
static void restore_arithmetic(void)
{
    __asm__ volatile("fninit\n\tfldcw %0" : : "m"(x86.control));
    _mm_setcsr(x86.mxcsr);
}

#else

static void keep_arithmetic(void)
{
    fegetenv(&kept.arithmetic);
}

static void restore_arithmetic(void)
{
    fesetenv(&kept.arithmetic);
}

#endif

/* --- environment --- */

static char **copy_words(char *const *words, size_t count)
{
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (!(copy[i] = strdup(words[i])))
            return NULL; /* out of memory, before the candidate begins, or when nothing is lost */
    return copy;
}

static void keep_environment(void)
{
    while (environ && environ[kept.words])
        kept.words++;
    kept.environment = copy_words(environ, kept.words);
}

static bool same_environment(void)
{
    size_t i = 0;
    for (; environ && environ[i] && i < kept.words; i++)
        if (strcmp(environ[i], kept.environment[i]) != 0)
            return false;
    return i == kept.words && (!environ || !environ[i]);
}

/* Does not free the old strings, since other threads may be reading them. */
static void restore_environment(void)
{
    char **fresh = kept.environment && !same_environment() ? copy_words(kept.environment, kept.words) : NULL;
    if (fresh)
        environ = fresh;
}

/* --- descriptors --- */

static bool leads_to(int fd, const struct stat *status)
{
    struct stat now;
    return fstat(fd, &now) == 0 && now.st_dev == status->st_dev && now.st_ino == status->st_ino;
}

static void keep_descriptors(void)
{
    for (int i = 0; i < STANDARD; i++) {
        struct kept_descriptor *standard = &kept.standard[i];
        standard->copy = fstat(i, &standard->status) ? -1 : fcntl(i, F_DUPFD_CLOEXEC, PRIVATE_FD);
        standard->flags = fcntl(i, F_GETFL);
    }
}

static void restore_descriptors(void)
{
    for (int i = 0; i < STANDARD; i++) {
        const struct kept_descriptor *standard = &kept.standard[i];
        if (standard->copy < 0)
            continue;
        if (!leads_to(i, &standard->status) && leads_to(standard->copy, &standard->status))
            dup2(standard->copy, i);
        if (fcntl(i, F_GETFL) != standard->flags)
            fcntl(i, F_SETFL, standard->flags);
    }
}

/* --- signals; fault_arm handles SIGSEGV, SIGBUS and the mask --- */

/* Signals that the kernel sends by itself, and those that end a process. Not SIGUSR1, SIGUSR2, SIGURG, SIGIO
 * and the real-time signals, by which threads of a pool communicate. */
static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT,   SIGILL,  SIGTRAP, SIGABRT, SIGFPE,  SIGPIPE,
                              SIGALRM, SIGTERM, SIGCHLD,   SIGTSTP, SIGTTIN, SIGTTOU, SIGXCPU, SIGXFSZ,
                              SIGPROF, SIGSYS,  SIGVTALRM, SIGPWR,  SIGCONT, SIGWINCH};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction handler[SIGNALS];

static void keep_signals(void)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], NULL, &handler[i]);
}

static void stop_timers(void)
{
    static const int timers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    const struct itimerval never = {{0, 0}, {0, 0}};
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
        setitimer(timers[i], &never, NULL);
}

/* Call it before the mask is restored. Ignoring a signal for a moment discards it if it is pending. */
static void restore_signals(void)
{
    sigset_t pending;
    stop_timers();
    if (sigpending(&pending) != 0)
        sigemptyset(&pending);
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction now;
        if (sigismember(&pending, signals[i]) != 1 && sigaction(signals[i], NULL, &now) == 0 &&
            now.sa_handler == handler[i].sa_handler)
            continue;
        signal(signals[i], SIG_IGN);
        sigaction(signals[i], &handler[i], NULL);
    }
}

/* --- scheduling and limits --- */

static void keep_scheduling(void)
{
    kept.has_affinity = sched_getaffinity(0, sizeof kept.affinity, &kept.affinity) == 0;
    kept.nice = getpriority(PRIO_PROCESS, 0);
    kept.policy = sched_getscheduler(0);
    sched_getparam(0, &kept.scheduling);
    kept.slack = prctl(PR_GET_TIMERSLACK);
}

/* Restores scheduling of the calling thread, which makes the calls; the candidate's own threads keep theirs.
 * A lowered priority stays, since raising it needs a privilege. */
static void restore_scheduling(void)
{
    cpu_set_t now;
    if (kept.has_affinity && sched_getaffinity(0, sizeof now, &now) == 0 && !CPU_EQUAL(&now, &kept.affinity))
        sched_setaffinity(0, sizeof kept.affinity, &kept.affinity);
    if (sched_getscheduler(0) != kept.policy)
        sched_setscheduler(0, kept.policy, &kept.scheduling);
    if (getpriority(PRIO_PROCESS, 0) != kept.nice)
        setpriority(PRIO_PROCESS, 0, kept.nice);
    if (kept.slack > 0)
        prctl(PR_SET_TIMERSLACK, (unsigned long)kept.slack);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static bool is_below(rlim_t a, rlim_t b)
{
    return a != RLIM_INFINITY && (b == RLIM_INFINITY || a < b);
}

/* Restores limits up to the hard limit, which cannot be raised without a privilege. */
static void restore_limits(void)
{
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit now;
        if (getrlimit(i, &now) != 0 || !is_below(now.rlim_cur, kept.limit[i].rlim_cur))
            continue;
        now.rlim_cur = is_below(now.rlim_max, kept.limit[i].rlim_cur) ? now.rlim_max : kept.limit[i].rlim_cur;
        setrlimit(i, &now);
    }
}

/* --- all state --- */

void state_keep(void)
{
    if (kept.present)
        return;
    keep_arithmetic();
    keep_environment();
    kept.locale = strdup(setlocale(LC_ALL, NULL));
    kept.umask = umask(0);
    umask(kept.umask);
    keep_descriptors();
    keep_signals();
    keep_scheduling();
    for (int i = 0; i < RLIM_NLIMITS; i++)
        getrlimit(i, &kept.limit[i]);
    kept.present = true;
}

void state_restore(void)
{
    if (kept.present)
        restore_signals();
    fault_arm();
    if (!kept.present)
        return;
    restore_environment();
    umask(kept.umask);
    if (chdir("/") != 0)
        errno = 0; /* there is no other directory */
    uselocale(LC_GLOBAL_LOCALE);
    if (kept.locale && strcmp(setlocale(LC_ALL, NULL), kept.locale) != 0)
        setlocale(LC_ALL, kept.locale);
    restore_descriptors();
    restore_scheduling();
    restore_limits();
    device_state_restore();
    restore_arithmetic();
    errno = 0;
}
