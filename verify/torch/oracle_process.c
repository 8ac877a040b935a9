/* Runs the oracle's process in the sandbox, which shows the interpreter with its packages, the scripts and
 * the task. Watches its time and memory. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle_internal.h"
#include "verify/sandbox/launch.h"
#include "verify/sandbox/python_program.h"
#include "verify/sandbox/sandbox.h"
#include "verify/sandbox/resource_usage.h"
#include "verify/problem/paths.h"
#include "verify/util/activity.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"
#include "verify/util/packet.h"

enum { TICK_MS = 50, LOOK_EVERY = 4 };

/* --- start --- */

static bool enclose(struct sandbox *sandbox, const struct oracle_options *options,
                    const struct python_program *python, const char *script)
{
    char folder[PATH_MAX];
    sandbox_begin(sandbox, options->cuda ? SANDBOX_CUDA : SANDBOX_CANDIDATE);
    for (int i = 0; i < python->folders; i++)
        sandbox_show(sandbox, python->folder[i]);
    snprintf(folder, sizeof folder, "%s", script);
    *strrchr(folder, '/') = '\0';
    sandbox_show(sandbox, folder);
    sandbox_show(sandbox, options->problem->oracle->folder);
    return sandbox_end(sandbox);
}

/* Builds the command: the interpreter's argv after the sandbox's, or alone. */
static bool make_command(struct sandbox *sandbox, const struct oracle_options *options,
                         const struct python_program *python, const char *script, char *text, size_t size)
{
    sandbox->count = 0;
    if (!sandbox_works() && sandbox_required()) {
        snprintf(text, size,
                 "the task's right answers are not computed without a sandbox: %s\n---> install bubblewrap, "
                 "or leave "
                 "out --require-sandbox",
                 sandbox_why_not());
        return false;
    }
    if (sandbox_works() && !enclose(sandbox, options, python, script)) {
        snprintf(text, size, "LD_LIBRARY_PATH names too many folders for the sandbox\n---> shorten it");
        return false;
    }
    const char *const module = options->problem->oracle->script ? NULL : "oracle.serve";
    const char *const behind[] = {python->path, "-I", script, module, NULL};
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        sandbox->argv[sandbox->count + (int)i] = behind[i];
    return true;
}

/* Finds the interpreter. Our own script, which evaluates a task's graph, needs torch, and uses the CPU if
 * torch has no CUDA. A user's script checks its own needs. */
static int find_python(struct python_program *python, const struct oracle_options *options, char *text,
                       size_t size)
{
    char probe[PATH_MAX];
    if (paths_find(probe, sizeof probe, PYTHON_PROBE)) {
        snprintf(text, size, "found no %.500s, which asks an interpreter what it is\n---> run `make install`",
                 probe);
        return -1;
    }
    return python_ask(python, options->python, probe, text, size) ||
                   (!options->problem->oracle->script && python_require(python, PYTHON_TORCH, text, size))
               ? -1
               : 0;
}

int oracle_start(struct oracle_process *process, const struct oracle_options *options, const char *script,
                 char *text, size_t size)
{
    struct sandbox sandbox;
    struct python_program python;
    char *environment[LAUNCH_WORDS + 1] = {NULL};
    int ours[2];
    *process = (struct oracle_process){.pid = 0};
    if (find_python(&python, options, text, size) ||
        !make_command(&sandbox, options, &python, script, text, size))
        return -1;
    int status =
        launch_environment(environment, true, options->threads > 0 ? options->threads : 1) < 0 ? ENOMEM : 0;
    if (status == 0)
        status = launch_channelled(
            &process->pid, &process->pidfd, ours,
            &(struct launch){.argv = sandbox.argv, .environment = (const char *const *)environment});
    for (int i = 0; environment[i]; i++)
        free(environment[i]);
    if (status) {
        process->pid = 0;
        snprintf(text, size, "cannot start %s: %s\n---> name a Python that has torch: --python PATH",
                 python.path, strerror(status));
        return -1;
    }
    process->channel = ours[0];
    process->output = ours[1];
    process->starter = pthread_self();
    return 0;
}

void oracle_stop(struct oracle_process *process)
{
    if (!process->pid)
        return;
    launch_end(process->pid);
    close(process->channel);
    close(process->output);
    if (process->pidfd >= 0)
        close(process->pidfd);
    process->pid = 0;
}

/* --- requests --- */

/* Keeps the end of the process's printed output. */
static void listen_to(struct oracle_process *process)
{
    char piece[512];
    for (ssize_t n; (n = read(process->output, piece, sizeof piece)) > 0;)
        for (ssize_t i = 0; i < n; i++) {
            if (process->spoken == sizeof process->words - 1)
                memmove(process->words, process->words + 1, --process->spoken);
            process->words[process->spoken++] = piece[i] >= ' ' && piece[i] <= '~' ? piece[i] : ' ';
        }
    process->words[process->spoken] = '\0';
}

/* Ends the process if it still runs. `text` gets the reason and the end of its output. */
static enum oracle_status end(struct oracle_process *process, enum oracle_status status, const char *why,
                              char *text, size_t size)
{
    listen_to(process);
    snprintf(text, size, "the process that computes the task's right answers %s%s%s\n---> %s", why,
             process->spoken ? "; its last words: " : "", process->words,
             status == ORACLE_SHORT ? "give it more memory (--memory), or end what else holds it"
                                    : "try its interpreter by hand: does it import torch?");
    oracle_stop(process);
    return status;
}

/* Reports that the process ended. In the sandbox a signal shows as status 128 + signal. A SIGKILL that this
 * program did not send comes from the kernel's OOM killer, for which the process volunteers (serve.py). */
static enum oracle_status ended_by_itself(struct oracle_process *process, char *text, size_t size)
{
    siginfo_t info = {0};
    char why[80] = "closed its channel";
    for (int i = 0; i < 100 && info.si_pid == 0; i++)
        if (waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
            poll(NULL, 0, 10);
    const bool exited = info.si_pid && info.si_code == CLD_EXITED && info.si_status < 128;
    const int number = exited || info.si_code != CLD_EXITED ? info.si_status : info.si_status - 128;
    if (info.si_pid)
        snprintf(why, sizeof why, exited ? "ended with status %d" : "was killed by signal %d", number);
    return end(process, info.si_pid && !exited && number == SIGKILL ? ORACLE_SHORT : ORACLE_FAILED, why, text,
               size);
}

/* Receives a packet, NUL-terminated, and the descriptor that came with it, or -1. */
static ssize_t receive(int channel, char *answer, int *fd)
{
    const ssize_t n = packet_receive(channel, answer, ORACLE_PACKET - 1, fd, 1, MSG_DONTWAIT);
    answer[n > 0 ? n : 0] = '\0';
    return n;
}

/* Returns whether the process holds more memory than its limit. Memory shared with this process does not
 * count. */
static bool is_too_large(const struct oracle_process *process, const struct oracle_options *options,
                         char *why, size_t size)
{
    const struct resource_usage most = {options->memory, INT_MAX};
    if (!(options->memory > 0))
        return false;
    const struct resource_usage now = resource_usage_of(process->pid, 0, &most);
    if (now.bytes <= most.bytes)
        return false;
    snprintf(why, size, "held %.3g GiB of the %.3g that it may", now.bytes / (1 << 30),
             most.bytes / (1 << 30));
    return true;
}

enum oracle_status oracle_send(struct oracle_process *process, const char *packet, int fd, char *text,
                               size_t size)
{
    const bool sent = packet_send(process->channel, packet, strlen(packet), &fd, fd >= 0, 0) >= 0;
    return sent ? ORACLE_OK : ended_by_itself(process, text, size);
}

enum oracle_status oracle_await(struct oracle_process *process, const struct oracle_options *options,
                                char *answer, int *with, char *text, size_t size)
{
    const double limit = options->seconds > 0 ? options->seconds : ORACLE_SECONDS, begun = clock_seconds();
    char why[80];
    for (int tick = 1;; tick++) {
        struct pollfd wait[2] = {{process->channel, POLLIN, 0}, {process->output, POLLIN, 0}};
        poll(wait, 2, TICK_MS);
        listen_to(process);
        if (wait[1].revents & POLLHUP)
            poll(wait, 1, TICK_MS); /* a closed output must not make poll return at once */
        if (wait[0].revents) {
            if (receive(process->channel, answer, with) > 0)
                return ORACLE_OK;
            return ended_by_itself(process, text, size);
        }
        activity_tick("computing the task's right answers", begun);
        if (tick % LOOK_EVERY == 0 && is_too_large(process, options, why, sizeof why))
            return end(process, ORACLE_SHORT, why, text, size);
        if (is_interrupted())
            return end(process, ORACLE_FAILED, "was interrupted", text, size);
        if (clock_seconds() - begun > limit) {
            snprintf(why, sizeof why, "had no answer after %.3g s", limit);
            return end(process, ORACLE_FAILED, why, text, size);
        }
    }
}

enum oracle_status oracle_exchange(struct oracle_process *process, const struct oracle_options *options,
                                   const char *packet, int fd, char *answer, int *with, char *text,
                                   size_t size)
{
    const enum oracle_status status = oracle_send(process, packet, fd, text, size);
    return status == ORACLE_OK ? oracle_await(process, options, answer, with, text, size) : status;
}
