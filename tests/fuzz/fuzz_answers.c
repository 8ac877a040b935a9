/* The judge's side of the channel. A hostile runner sends packets of any size and content, prints anything
 * and ends at any time.
 *
 *     byte 0   the request: bit 0 a call (else a mapping), bit 1 its end of the channel closes, bit 2 it
 *              ended, bit 3 it was in a sandbox, bit 4 its wait status is a signal, bit 5 the judge sends the
 *              request itself, bit 6 it is an interpreter's
 *     byte 1   the wait status
 *     then packets: two bytes of length (above 0x8000: printed, not sent; bit 14 of a packet: with the right
 *     magic and sequence, and of the right size), and the bytes */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "fuzz.h"

#define child_drain fuzz_child_drain
#define child_exchange fuzz_child_exchange
#define child_wait fuzz_child_wait
#define child_reap fuzz_child_reap
#define cpu_wait_begin fuzz_starvation_begin
#define cpu_wait_seconds fuzz_starvation_seconds
#define getrandom fuzz_getrandom
#include "verify/worker/child_wait.c"

enum { ASKS_CALL = 1, CLOSES = 2, ENDED = 4, SANDBOXED = 8, SIGNAL = 16, SENDS = 32, FORKED = 64 };
enum { PRINTED = 0x8000, PLAUSIBLE = 0x4000, LENGTH = 0x3fff, SEQUENCE = 0x5eed };

static int wait_status;

int child_reap(struct spawned *spawned, int patience_ms)
{
    (void)patience_ms;
    FUZZ_CHECK(spawned->pid != 0);
    spawned->pid = 0;
    return wait_status;
}

void cpu_wait_begin(struct cpu_wait *s, pid_t session)
{
    (void)session;
    memset(s, 0, sizeof *s);
}

double cpu_wait_seconds(const struct cpu_wait *s, pid_t session)
{
    (void)s, (void)session;
    return 0;
}

ssize_t fuzz_getrandom(void *to, size_t bytes, unsigned flags)
{
    const uint32_t sequence = SEQUENCE;
    (void)flags;
    FUZZ_CHECK(bytes == sizeof sequence);
    memcpy(to, &sequence, bytes);
    return (ssize_t)bytes;
}

static void send_one(int channel, unsigned header, const uint8_t *data, size_t size)
{
    static struct reply reply;
    if (header & PLAUSIBLE) {
        memset(&reply, 0, sizeof reply);
        memcpy(&reply, data, size < sizeof reply ? size : sizeof reply);
        reply.magic = CHANNEL_MAGIC;
        reply.sequence = SEQUENCE;
        data = (const uint8_t *)&reply;
        size = sizeof reply;
    }
    send(channel, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void act(const int channel, const int output, const uint8_t *data, size_t size)
{
    while (size >= 2) {
        const unsigned head = (unsigned)data[0] << 8 | data[1];
        size_t length = head & LENGTH;
        data += 2;
        size -= 2;
        length = length < size ? length : size;
        if (!(head & PRINTED))
            send_one(channel, head, data, length);
        else if (write(output, data, length) < 0)
            return;
        data += length;
        size -= length;
    }
}

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text != '\n' && (*text < ' ' || *text > '~'))
            return false;
    return true;
}

static void look_at(const struct child *child, enum child_status status, enum reply_kind asked,
                    const struct reply *reply, const char *text, size_t size)
{
    FUZZ_CHECK(status >= CHILD_OK && status <= CHILD_SPAWN);
    FUZZ_CHECK(child->head_bytes < sizeof child->head);
    FUZZ_CHECK(child->fault.slot >= -1 && child->fault.slot < CHANNEL_TENSORS);
    if (status == CHILD_OK) {
        FUZZ_CHECK(child->process.pid != 0 && reply->magic == CHANNEL_MAGIC && reply->sequence == SEQUENCE &&
                   reply->kind == (uint32_t)asked);
        return;
    }
    const bool lives = child->process.pid != 0;
    FUZZ_CHECK(lives == (status == CHILD_RAISED) && (!lives || child->forked));
    FUZZ_CHECK(memchr(text, 0, size) && *text);
    FUZZ_CHECK(is_plain(text));
}

static void ask(struct child *child, unsigned flags)
{
    static struct request request;
    char text[320] = "";
    struct reply reply;
    const enum reply_kind asked = flags & ASKS_CALL ? REPLY_RETURNED : REPLY_DONE;
    memset(&request, 0, sizeof request);
    request.kind = flags & ASKS_CALL ? REQUEST_CALL : REQUEST_MAP;
    const enum child_status status =
        flags & SENDS ? child_exchange(child, &request, -1, 1e-3, &reply, text, sizeof text)
                      : child_wait(child, SEQUENCE, asked, 1e-3, &reply, text, sizeof text);
    look_at(child, status, asked, &reply, text, sizeof text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct child child = {.log = -1, .fault = {.slot = -1}};
    int channel[2], output[2], life[2];
    if (size < 2)
        return 0;
    const unsigned flags = data[0];
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) == 0 &&
               pipe2(output, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(life, O_CLOEXEC) == 0);
    wait_status = flags & SIGNAL ? data[1] & 0x7f : data[1] << 8;
    child.sandboxed = flags & SANDBOXED;
    child.forked = flags & FORKED;
    child.process = (struct spawned){.pid = 1, .pidfd = life[0], .channel = channel[0], .output = output[0]};
    act(channel[1], output[1], data + 2, size - 2);
    if (flags & CLOSES)
        close(channel[1]);
    if (flags & ENDED)
        close(life[1]);
    ask(&child, flags);
    close(channel[0]);
    close(life[0]);
    if (child.process.output >= 0)
        close(child.process.output);
    close(output[1]);
    if (!(flags & CLOSES))
        close(channel[1]);
    if (!(flags & ENDED))
        close(life[1]);
    return 0;
}
