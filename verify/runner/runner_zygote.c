/* The zygote's own part: it waits for the judge's packets, and the interpreter around it forks. It runs no
 * code of a candidate, its children cannot inspect it, and it obeys only the judge. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner_internal.h"
#include "zygote_packet.h"
#include "verify/util/packet.h"

#define EXPORTED __attribute__((visibility("default")))

static int given[ZYGOTE_DESCRIPTORS] = {-1, -1};
static pid_t child; /* the running process; 0: none */

EXPORTED int unseen_zygote_ready(void);
EXPORTED int unseen_zygote_wait(void);
EXPORTED void unseen_zygote_forked(int pid);
EXPORTED void unseen_zygote_leave(void);

static bool tell(uint32_t kind, int value, int fd)
{
    struct zygote_packet packet = {kind, value};
    return packet_send(CHANNEL_FD, &packet, sizeof packet, &fd, fd >= 0, 0) == sizeof packet;
}

/* Returns false at the end of the channel. */
static bool hear(struct zygote_packet *packet)
{
    int came[ZYGOTE_DESCRIPTORS];
    const ssize_t got = packet_receive(CHANNEL_FD, packet, sizeof *packet, came, ZYGOTE_DESCRIPTORS, 0);
    if (came[0] >= 0)
        memcpy(given, came, sizeof given);
    return got == sizeof *packet;
}

/* --- its descendants --- */

/* Kills and reaps the children of one thread; returns their number. */
static int end_listed(const char *thread)
{
    char path[64];
    int pid, ended = 0;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/children", thread);
    FILE *list = fopen(path, "re");
    while (list && fscanf(list, "%d", &pid) == 1)
        if (pid > 0 && kill(pid, SIGKILL) == 0) {
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
            ended++;
        }
    if (list)
        fclose(list);
    return ended;
}

/* Orphans become its children (PR_SET_CHILD_SUBREAPER). A killed process leaves its own children, so this is
 * repeated. */
static void sweep(void)
{
    enum { ROUNDS = 64 };
    int ended = 1;
    for (int round = 0; round < ROUNDS && ended > 0; round++) {
        DIR *threads = opendir("/proc/self/task");
        ended = 0;
        for (struct dirent *t; threads && (t = readdir(threads));)
            if (t->d_name[0] != '.')
                ended += end_listed(t->d_name);
        if (threads)
            closedir(threads);
    }
}

static int end_child(void)
{
    int status = 0;
    if (child > 0) {
        kill(child, SIGKILL); /* a process that has already ended keeps its own status */
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    }
    child = 0;
    sweep();
    return status;
}

static void close_given(void)
{
    for (int i = 0; i < ZYGOTE_DESCRIPTORS; i++) {
        if (given[i] >= 0)
            close(given[i]);
        given[i] = -1;
    }
}

/* --- for the interpreter --- */

/* Called once, when its libraries are loaded. Returns 0 if the judge was told. */
int unseen_zygote_ready(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_DUMPABLE, 0); /* its children cannot read or write its memory */
    return tell(ZYGOTE_READY, 0, -1) ? 0 : -1;
}

/* Returns 1: fork now; then call unseen_zygote_forked in the parent and unseen_zygote_leave in the child.
 * Returns 0: the judge is gone. */
int unseen_zygote_wait(void)
{
    struct zygote_packet packet;
    while (hear(&packet)) {
        if (packet.kind == ZYGOTE_START && child == 0 && given[0] >= 0 && given[1] >= 0)
            return 1;
        close_given();
        if (packet.kind == ZYGOTE_END && !tell(ZYGOTE_ENDED, end_child(), -1))
            break;
    }
    end_child();
    return 0;
}

/* Called in the zygote after the fork; -1: the fork failed. */
void unseen_zygote_forked(int pid)
{
    const int fd = pid > 0 ? pidfd_open(pid, 0) : -1;
    close_given();
    child = pid > 0 ? pid : 0;
    tell(ZYGOTE_STARTED, pid > 0 ? 0 : EAGAIN, fd);
    if (fd >= 0)
        close(fd);
}

/* Called in the new process, which is from now on a normal runner. */
void unseen_zygote_leave(void)
{
    dup2(given[1], STDOUT_FILENO);
    dup2(given[1], STDERR_FILENO);
    dup2(given[0], CHANNEL_FD); /* replaces the zygote's channel, which nothing in this process may use */
    close_given();
    child = 0;
}
