/* One request and its reply; distinguishes everything that may come instead of a reply. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_internal.h"
#include "verify/sandbox/cpu_wait.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"
#include "verify/util/defence.h"
#include "verify/util/packet.h"

enum {
    LOG_BYTES = 64 << 10,
    PATIENCE_MS = 1000,
    DRAIN_ROUNDS = 16,
    HEX_BYTES = 16,
    ILLEGAL_ADDRESS = 700 /* CUDA_ERROR_ILLEGAL_ADDRESS */
};

static void keep_output(struct child *child, const char *data, size_t bytes)
{
    size_t head = sizeof child->head - 1 - child->head_bytes;
    if (head > bytes)
        head = bytes;
    memcpy(child->head + child->head_bytes, data, head);
    child->head_bytes += head;
    struct stat status;
    if (child->log >= 0 && fstat(child->log, &status) == 0) /* other processes may write there, too */
        child->logged = status.st_size > LOG_BYTES ? LOG_BYTES : (size_t)status.st_size;
    if (child->log < 0 || child->logged >= LOG_BYTES)
        return;
    if (bytes > LOG_BYTES - child->logged)
        bytes = LOG_BYTES - child->logged;
    ssize_t wrote = write(child->log, data, bytes);
    child->logged = wrote < 0 ? LOG_BYTES : child->logged + (size_t)wrote; /* disk full: log no more */
}

/* Bounds the number of reads, so that a candidate that prints endlessly does not block the judge. */
void child_drain(struct child *child)
{
    char buffer[4096];
    for (int i = 0; i < DRAIN_ROUNDS && child->process.output >= 0; i++) {
        ssize_t got = read(child->process.output, buffer, sizeof buffer);
        if (got > 0) {
            keep_output(child, buffer, (size_t)got);
        } else if (got < 0 && errno == EINTR) {
            continue;
        } else if (got < 0 && errno == EAGAIN) {
            return;
        } else {
            close(child->process.output);
            child->process.output = -1;
        }
    }
}

/* Under bubblewrap a signal appears as exit status 128 + signal, as in a shell. */
static enum child_status describe_end(const struct child *child, int status, char *text, size_t text_size)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (child->sandboxed && !child->forked && code > 128 && code < 128 + 65)
        number = code - 128;
    if (number == 9)
        snprintf(text, text_size, "killed by signal 9 (Killed), as when memory is out");
    else if (number)
        snprintf(text, text_size, "killed by signal %d (%s)", number, strsignal(number));
    else
        snprintf(text, text_size, "exited with status %d before answering", code);
    return number == 9 ? CHILD_KILLED : CHILD_CRASH;
}

static enum child_status gone(struct child *child, char *text, size_t text_size)
{
    const bool exceeded = child_unwatch(child, text, text_size);
    const int status = child_reap(&child->process, PATIENCE_MS);
    child_drain(child);
    if (exceeded)
        return CHILD_EXCEEDED;
    return describe_end(child, status, text, text_size);
}

static enum child_status give_up(struct child *child, enum child_status status)
{
    child_unwatch(child, NULL, 0);
    child_reap(&child->process, 0);
    child_drain(child);
    return status;
}

static enum child_status garbage(struct child *child, const unsigned char *data, size_t bytes,
                                 const char *what, char *text, size_t text_size)
{
    char hex[3 * HEX_BYTES + 1] = "";
    for (size_t i = 0; i < bytes && i < HEX_BYTES; i++)
        snprintf(hex + 3 * i, 4, " %02x", data[i]);
    snprintf(text, text_size,
             "%s on the runner's channel: %zu bytes%s%s; expected an answer of "
             "%zu bytes\n---> a kernel has no business with descriptor %d",
             what, bytes, *hex ? ", beginning" : "", hex, sizeof(struct reply), CHANNEL_FD);
    return give_up(child, CHILD_GARBAGE);
}

static enum child_status fault(struct child *child, const struct reply *reply, char *text, size_t text_size)
{
    unsigned long long distance = reply->distance;
    bool in_guard = reply->slot >= 0 && reply->slot < CHANNEL_TENSORS;
    child->fault = (struct child_fault){-1, false, 0};
    if (in_guard) {
        child->fault = (struct child_fault){reply->slot, reply->below != 0, distance};
        snprintf(text, text_size, "touched memory %s tensor %d: %llu bytes %s",
                 reply->below ? "below" : "above", reply->slot, distance,
                 reply->below ? "before its memory" : "past the end of its memory");
    } else {
        snprintf(text, text_size, "killed by signal %d (%s) at address 0x%llx", reply->value,
                 strsignal(reply->value), distance);
    }
    return give_up(child, in_guard ? CHILD_OVERRUN : CHILD_CRASH);
}

static void copy_words(const struct reply *reply, char *text, size_t text_size)
{
    child_copy_words(reply, text, text_size);
    if (!*text)
        snprintf(text, text_size, "it failed without a word");
}

static enum child_status failed(struct child *child, const struct reply *reply, char *text, size_t text_size)
{
    static const enum child_status meaning[] = {
        [FAILURE_LOAD] = CHILD_LOAD,
        [FAILURE_SYMBOL] = CHILD_SYMBOL,
        [FAILURE_MEMORY] = CHILD_MEMORY,
        [FAILURE_DEVICE] = CHILD_DEVICE,
    };
    copy_words(reply, text, text_size);
    if (reply->value == FAILURE_RAISED && child->forked) /* the device is known to be idle */
        return CHILD_RAISED;
    bool known = reply->value >= FAILURE_LOAD && reply->value < FAILURE_RAISED;
    return give_up(child, known ? meaning[reply->value] : CHILD_LOAD);
}

static enum child_status judge(struct child *child, const struct reply *reply, uint32_t sequence,
                               enum reply_kind kind, char *text, size_t text_size)
{
    if (reply->magic != CHANNEL_MAGIC || reply->sequence != sequence)
        return garbage(child, (const unsigned char *)reply, sizeof *reply, "something else", text, text_size);
    if (reply->kind == (uint32_t)kind)
        return CHILD_OK;
    if (reply->kind == REPLY_FAULT)
        return fault(child, reply, text, text_size);
    if (reply->kind == REPLY_FAILED)
        return failed(child, reply, text, text_size);
    if (reply->kind == REPLY_DEVICE_ERROR && kind == REPLY_RETURNED) {
        copy_words(reply, text, text_size);
        child->fault = (struct child_fault){-1, false, 0};
        return give_up(child, reply->value == ILLEGAL_ADDRESS ? CHILD_OVERRUN : CHILD_CRASH);
    }
    return garbage(child, (const unsigned char *)reply, sizeof *reply, "an answer of another kind", text,
                   text_size);
}

/* Distinguishes an empty packet from a hangup, after an empty read: the process may have died between the
 * poll and the read. */
static bool hung_up(int channel)
{
    struct pollfd from = {channel, POLLRDHUP, 0};
    return poll(&from, 1, 0) > 0;
}

/* With this defence disabled, lets a foreign packet pass. */
static bool is_let_by(const struct reply *reply, ssize_t got, uint32_t sequence)
{
    return !defence_is_on(DEFENCE_CHANNEL) && got > 0 &&
           (got != (ssize_t)sizeof *reply || reply->sequence != sequence);
}

/* Processes what poll found on the channel. *more: nothing has arrived yet. */
static enum child_status take(struct child *child, uint32_t sequence, enum reply_kind kind,
                              struct reply *reply, bool *more, char *text, size_t text_size)
{
    ssize_t got = child_arena_receive(child, reply);
    *more = (got < 0 && (errno == EAGAIN || errno == EINTR)) || is_let_by(reply, got, sequence);
    if (*more)
        return CHILD_OK;
    if (got < 0 || (got == 0 && hung_up(child->process.channel)))
        return gone(child, text, text_size);
    if (got != (ssize_t)sizeof *reply)
        return garbage(child, (const unsigned char *)reply, (size_t)got, "a packet of another size", text,
                       text_size);
    return judge(child, reply, sequence, kind, text, text_size);
}

/* The remaining time of a call. Seconds in which it was ready to run but had no core do not count, up to a
 * ceiling at which the call ends in any case. */
struct patience {
    double start, timeout, look, deadline;
    bool looked;
    struct cpu_wait starvation;
};
/* Fraction of a call's time limit, and seconds, after which its threads are first sampled. Nearly all calls
 * end earlier and pay nothing. */
static const double look_after = 0.125, look_latest = 1;
static const double ceiling = 10; /* multiple of the limit */

static void patience_begin(struct patience *p, double timeout)
{
    p->start = clock_seconds();
    p->timeout = timeout;
    p->look = p->start + fmin(look_latest, look_after * timeout);
    p->deadline = p->start + timeout;
    p->looked = false;
}

/* Seconds to wait before the next check; 0: time is up. */
static double patience_left(struct patience *p, pid_t session)
{
    const double time = clock_seconds();
    if (!p->looked && time < p->look)
        return p->look - time;
    if (!p->looked)
        cpu_wait_begin(&p->starvation, session);
    p->looked = true;
    if (time < p->deadline)
        return p->deadline - time;
    p->deadline = fmin(p->start + p->timeout + cpu_wait_seconds(&p->starvation, session),
                       p->start + ceiling * p->timeout);
    const double left = p->deadline - time;
    return left > 0.01 * p->timeout ? left : 0;
}

/* Milliseconds to wait for a message. */
static int pause_ms(double left)
{
    return (int)ceil(1e3 * fmin(fmin(left, 1e5), budget_left()));
}

static void explain_timeout(const struct patience *p, char *text, size_t text_size)
{
    const double waited = p->deadline - p->start - p->timeout;
    if (waited < 0.1 * p->timeout)
        snprintf(text, text_size, "no answer within %g s", p->timeout);
    else
        snprintf(text, text_size,
                 "no answer within %g s, nor in the %.3g s more for which it was kept from the cores",
                 p->timeout, waited);
}

enum child_status child_wait(struct child *child, uint32_t sequence, enum reply_kind kind, double timeout,
                             struct reply *reply, char *text, size_t text_size)
{
    struct patience patience;
    double left;
    patience_begin(&patience, timeout);
    while ((left = patience_left(&patience, child->process.pid)) > 0) {
        if (budget_is_over()) {
            snprintf(text, text_size, "no answer before --budget was over");
            return give_up(child, CHILD_OVER);
        }
        struct pollfd from[] = {{child->process.channel, POLLIN | POLLRDHUP, 0},
                                {child->process.output, POLLIN, 0},
                                {child->process.pidfd, POLLIN, 0},
                                {child->arena.base ? child->arena.listener : -1, POLLIN, 0}};
        if (poll(from, 4, pause_ms(left)) <= 0)
            continue;
        if (from[3].revents)
            child_arena_answer(child);
        if (from[1].revents)
            child_drain(child);
        /* Handles a reply first: if it arrived before the end of the process, it is the reply to its call. */
        bool more = true;
        if (from[0].revents || from[2].revents) {
            enum child_status status = take(child, sequence, kind, reply, &more, text, text_size);
            if (!more)
                return status;
        }
        if (from[2].revents) /* the process ended while a process it forked still holds the channel */
            return gone(child, text, text_size);
    }
    explain_timeout(&patience, text, text_size);
    return give_up(child, CHILD_TIMEOUT);
}

enum child_status child_exchange(struct child *child, struct request *request, int fd, double timeout,
                                 struct reply *reply, char *text, size_t text_size)
{
    bool calls = request->kind == REQUEST_CALL;
    if (child->process.pid == 0) {
        snprintf(text, text_size, "the candidate's process has already ended");
        return CHILD_CRASH;
    }
    child_drain(child);
    if (getrandom(&request->sequence, sizeof request->sequence, 0) != sizeof request->sequence)
        request->sequence++;
    if (packet_send(child->process.channel, request, sizeof *request, &fd, fd >= 0, MSG_DONTWAIT) < 0 &&
        errno != EAGAIN) {
        enum child_status status = gone(child, text, text_size);
        size_t used = strlen(text);
        snprintf(text + used, text_size - used, ", after its last answer");
        return status;
    }
    enum child_status status = child_wait(child, request->sequence, calls ? REPLY_RETURNED : REPLY_DONE,
                                          timeout, reply, text, text_size);
    child_drain(child);
    return status;
}
