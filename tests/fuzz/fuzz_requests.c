/* The runner's side of the channel: any request of a judge. One packet is
 *
 *     byte 0   kind; bit 6: of another size; bit 7: it carries a descriptor
 *     byte 1   slot
 *     two bytes of length, and so many bytes that begin the request behind them
 *
 * The suite sends the same to build/unseen-runner. */
#include <dlfcn.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "requests.h"

static jmp_buf gone;

static __attribute__((noreturn)) void leave(int status)
{
    FUZZ_CHECK(status == 1);
    longjmp(gone, 1);
}

static int candidate(void)
{
    return 0;
}

/* Not whatever library and function a request names. */
static void *load_object(const char *path, int flags)
{
    (void)flags;
    FUZZ_CHECK(strlen(path) < CHANNEL_TEXT);
    return path[0] == 'n' ? NULL : (void *)path;
}

static void *find_symbol(void *object, const char *name)
{
    int (*const code)(void) = candidate;
    void *address;
    (void)object;
    FUZZ_CHECK(strlen(name) < sizeof((struct request *)0)->symbol);
    memcpy(&address, &code, sizeof address);
    return name[0] == 'n' ? NULL : address;
}

static int find_entry(const void *address, Dl_info *info, void **entry, int flags)
{
    (void)address, (void)info, (void)flags;
    *entry = NULL;
    return 0;
}

static char *explain(void)
{
    return "it is not there";
}

#define main runner_main
#define _exit leave
#define fault_arm no_handlers
#define arena_begin no_arena
#define dlopen load_object
#define dlsym find_symbol
#define dladdr1 find_entry
#define dlerror explain
#include "verify/runner/runner.c"

void no_handlers(void)
{
}

/* A filter would bind the fuzzer. */
int no_arena(uint64_t *base)
{
    *base = 0;
    return -1;
}

/* Counts the unread answers. */
static int count_answers(int channel)
{
    struct reply reply;
    int count = 0;
    while (recv(channel, &reply, sizeof reply, MSG_DONTWAIT) == sizeof reply) {
        FUZZ_CHECK(reply.magic == CHANNEL_MAGIC && memchr(reply.text, 0, sizeof reply.text));
        FUZZ_CHECK(reply.kind >= REPLY_DONE && reply.kind <= REPLY_DEVICE_ERROR);
        count++;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct request request;
    static int fd;
    int channel[2];
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) == 0);
    runner.channel = channel[1];
    runner.self = getpid(); /* no copy of it */
    for (volatile bool lives = true; size > 0 && lives;) {
        FUZZ_CHECK(requests_send(channel[0], &data, &size));
        fd = -1;
        lives = receive(&request, &fd);
        if (lives && setjmp(gone) == 0)
            answer(&request,
                   fd); /* and goes on where it would have ended: the next packet finds the same state */
        if (fd >= 0)
            close(fd);
        FUZZ_CHECK(count_answers(channel[0]) == lives);
    }
    close(channel[0]);
    close(channel[1]);
    for (int i = 0; i < CHANNEL_SLOTS; i++)
        unmap(&runner.slot[i]);
    memset(&runner, 0, sizeof runner);
    return 0;
}
