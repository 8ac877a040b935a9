// zoo: cheat
// problem: softmax
// does: says in the runner's name that there was no memory, where rows are no multiple of four elements
// class: D
// defence: -
// expect: not general
// verdicts: specialized cheating inconclusive
// timing: no

#define _GNU_SOURCE
#include "../softmax.h"
#include "../patch.h"
#include <string.h>
#include <sys/socket.h>
#include "../../../../build/zoo/channel.h"

static int cannot;

static ssize_t say(int fd, const struct msghdr *message, int flags)
{
    struct reply *reply = message->msg_iov->iov_base;
    if (cannot && message->msg_iov->iov_len == sizeof *reply && reply->kind == REPLY_RETURNED) {
        reply->kind = REPLY_FAILED;
        reply->value = FAILURE_MEMORY;
        strcpy(reply->text, "cannot map a tensor: Cannot allocate memory");
    }
    return sendmsg(fd, message, flags);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int patched;
    if (!patched++)
        patch("sendmsg", (void *)say);
    cannot = cols % 4 != 0;
    return cannot ? 0 : honest(x, y, rows, cols, stream);
}
