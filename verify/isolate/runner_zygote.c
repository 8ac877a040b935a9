/* The zygote's own part: it waits for the judge's word, and the interpreter around it forks. It runs nothing of a candidate's,
 * cannot be looked into by what it starts, and hears only the judge. */
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
#include "verify/system/packet.h"

#define EXPORTED __attribute__((visibility("default")))

static int given[ZYGOTE_DESCRIPTORS] = {-1, -1};
static pid_t child; /* the one at work; 0: none */

EXPORTED int unseen_zygote_ready(void);
EXPORTED int unseen_zygote_wait(void);
EXPORTED void unseen_zygote_forked(int pid);
EXPORTED void unseen_zygote_leave(void);

static bool tell(uint32_t kind, int value, int fd)
{
    struct zygote_packet packet = {kind, value};
    return packet_send(CHANNEL_FD, &packet, sizeof packet, &fd, fd >= 0, 0) == sizeof packet;
}

/* False at the end of the channel. */
static bool hear(struct zygote_packet *packet)
{
    int came[ZYGOTE_DESCRIPTORS];
    const ssize_t got = packet_receive(CHANNEL_FD, packet, sizeof *packet, came, ZYGOTE_DESCRIPTORS, 0);
    if (came[0] >= 0)
        memcpy(given, came, sizeof given);
    return got == sizeof *packet;
}

/* --- what it has started --- */

/* Of one thread; the count of those that were ended. */
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

/* Orphans become its children (PR_SET_CHILD_SUBREAPER): one that is ended leaves its own, hence the rounds. */
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
        kill(child, SIGKILL); /* one that has ended by itself keeps its own status */
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

/* Once, when its libraries are loaded. 0: the judge has heard it. */
int unseen_zygote_ready(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_DUMPABLE, 0); /* no process that it starts reads or writes its memory */
    return tell(ZYGOTE_READY, 0, -1) ? 0 : -1;
}

/* 1: fork now, and call unseen_zygote_forked here and unseen_zygote_leave there. 0: the judge is gone. */
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

/* In the zygote, after the fork; -1: there was none. */
void unseen_zygote_forked(int pid)
{
    const int fd = pid > 0 ? pidfd_open(pid, 0) : -1;
    close_given();
    child = pid > 0 ? pid : 0;
    tell(ZYGOTE_STARTED, pid > 0 ? 0 : EAGAIN, fd);
    if (fd >= 0)
        close(fd);
}

/* In the new process: from now on it is a runner like any other. */
void unseen_zygote_leave(void)
{
    dup2(given[1], STDOUT_FILENO);
    dup2(given[1], STDERR_FILENO);
    dup2(given[0], CHANNEL_FD); /* over the zygote's own, which nothing here may use */
    close_given();
    child = 0;
}
