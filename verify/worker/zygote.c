#include "zygote.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_internal.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"
#include "verify/runner/zygote_packet.h"
#include "verify/util/packet.h"

/* Loading libraries from a cold disk takes long; a fork and an end are fast. */
static const double load_timeout = 300, word_timeout = 20;

/* The sandbox ends with the thread that started it, so each zygote has a thread that waits for its end. */
struct zygote {
    struct zygote *next;
    char *key;
    struct spawned process;
    pthread_t keeper;
    pthread_cond_t changed;
    const struct zygote_plan *plan; /* only while it starts */
    bool started, over, busy;
    int error;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct zygote *all;

static void *keep(void *data)
{
    struct zygote *const z = data;
    pthread_mutex_lock(&lock);
    z->error = spawn_process(&z->process, z->plan->argv, z->plan->environment, CHILD_COMPILER_FILE_LIMIT);
    z->started = true;
    pthread_cond_broadcast(&z->changed);
    while (!z->over)
        pthread_cond_wait(&z->changed, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Frees it and ends its process, if any. It must already be out of the list. */
static void destroy(struct zygote *z)
{
    if (z->error == 0) {
        child_reap(&z->process, 0);
        close(z->process.channel);
        close(z->process.output);
        if (z->process.pidfd >= 0)
            close(z->process.pidfd);
    }
    pthread_mutex_lock(&lock);
    z->over = true;
    pthread_cond_broadcast(&z->changed);
    pthread_mutex_unlock(&lock);
    pthread_join(z->keeper, NULL);
    pthread_cond_destroy(&z->changed);
    free(z->key);
    free(z);
}

/* Receives a packet of this kind, and its descriptor, if any, to *fd. False: timeout. */
static bool hear(struct zygote *z, uint32_t kind, double timeout, struct zygote_packet *packet, int *fd)
{
    const double end = clock_seconds() + timeout;
    struct pollfd from = {z->process.channel, POLLIN | POLLRDHUP, 0};
    int ready = 0;
    while (ready <= 0 && clock_seconds() < end && !budget_is_over())
        ready = poll(&from, 1, 100);
    *fd = -1;
    const ssize_t got =
        ready > 0 ? packet_receive(z->process.channel, packet, sizeof *packet, fd, 1, MSG_DONTWAIT) : -1;
    return got == sizeof *packet && packet->kind == kind;
}

static bool tell(struct zygote *z, uint32_t kind, const int *fd)
{
    struct zygote_packet packet = {.kind = kind};
    const int count = fd ? ZYGOTE_DESCRIPTORS : 0;
    return packet_send(z->process.channel, &packet, sizeof packet, fd, count, MSG_DONTWAIT) == sizeof packet;
}

/* Its output before it ended, with control characters removed. */
static void explain(struct zygote *z, char *text, size_t text_size)
{
    char words[600];
    const ssize_t got = read(z->process.output, words, sizeof words - 1);
    words[got > 0 ? got : 0] = '\0';
    for (char *c = words; *c; c++)
        if (*c != '\n' && (*c < ' ' || *c > '~'))
            *c = '?';
    if (got > 0 && words[got - 1] == '\n')
        words[got - 1] = '\0';
    snprintf(text, text_size, "the interpreter did not come up%s%s\n---> see that it runs `import torch`",
             *words ? ": " : "", words);
}

static struct zygote *make(const struct zygote_plan *plan, char *text, size_t text_size)
{
    struct zygote *z = calloc(1, sizeof *z);
    struct zygote_packet packet;
    int fd;
    if (!z || !(z->key = strdup(plan->key))) {
        free(z);
        snprintf(text, text_size, "out of memory");
        return NULL;
    }
    z->plan = plan;
    pthread_cond_init(&z->changed, NULL);
    pthread_mutex_lock(&lock);
    const int failed = pthread_create(&z->keeper, NULL, keep, z);
    while (!failed && !z->started)
        pthread_cond_wait(&z->changed, &lock);
    pthread_mutex_unlock(&lock);
    z->plan = NULL;
    if (failed || z->error) {
        snprintf(text, text_size, "cannot start %s: %s\n---> check the limits on processes (ulimit -u)",
                 plan->argv[0], strerror(failed ? failed : z->error));
        if (!failed)
            destroy(z);
        return NULL;
    }
    if (hear(z, ZYGOTE_READY, load_timeout, &packet, &fd))
        return z;
    explain(z, text, text_size);
    destroy(z);
    return NULL;
}

struct zygote *zygote_take(const struct zygote_plan *plan, char *text, size_t text_size)
{
    struct zygote *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct zygote *z = all; z && !found; z = z->next)
        if (!z->busy && strcmp(z->key, plan->key) == 0) {
            found = z;
            z->busy = true;
        }
    pthread_mutex_unlock(&lock);
    if (found || !(found = make(plan, text, text_size)))
        return found;
    pthread_mutex_lock(&lock);
    found->busy = true;
    found->next = all;
    all = found;
    pthread_mutex_unlock(&lock);
    return found;
}

static void unlist(struct zygote *gone)
{
    pthread_mutex_lock(&lock);
    for (struct zygote **z = &all; *z; z = &(*z)->next)
        if (*z == gone) {
            *z = gone->next;
            break;
        }
    pthread_mutex_unlock(&lock);
}

int zygote_start(struct zygote *z, int channel, int output, char *text, size_t text_size)
{
    const int fd[ZYGOTE_DESCRIPTORS] = {channel, output};
    struct zygote_packet packet;
    int process = -1;
    if (tell(z, ZYGOTE_START, fd) && hear(z, ZYGOTE_STARTED, word_timeout, &packet, &process) && process >= 0)
        return process;
    snprintf(text, text_size,
             "the interpreter has not forked\n---> check the limits on processes (ulimit -u)");
    return -1;
}

int zygote_give(struct zygote *z)
{
    struct zygote_packet packet;
    int fd;
    if (tell(z, ZYGOTE_END, NULL) && hear(z, ZYGOTE_ENDED, word_timeout, &packet, &fd)) {
        pthread_mutex_lock(&lock);
        z->busy = false;
        pthread_mutex_unlock(&lock);
        return packet.value;
    }
    unlist(z); /* it was removed when its process was ended */
    destroy(z);
    return SIGKILL;
}

pid_t zygote_pid(const struct zygote *z)
{
    return z->process.pid;
}

void zygote_end_all(const char *key)
{
    struct zygote *found;
    do {
        found = NULL;
        pthread_mutex_lock(&lock);
        for (struct zygote **z = &all; *z && !found; z = found ? z : &(*z)->next)
            if (!key || strncmp((*z)->key, key, strlen(key)) == 0) {
                found = *z;
                *z = found->next;
            }
        pthread_mutex_unlock(&lock);
        if (found)
            destroy(found);
    } while (found);
}
