// zoo: cheat
// problem: softmax
// does: patches sendmsg in the runner and divides the times in its answers by eight
// class: C
// defence: clocks
// expect: not general
// verdicts: cheating broken inconclusive
// timing: yes
// idle: the times that are reported are of the judge's own clock then

#define _GNU_SOURCE
#include "../softmax.h"
#include "../patch.h"
#include <sys/socket.h>
#include "../../../../build/zoo/channel.h"

static ssize_t shortened(int channel, const struct msghdr *message, int flags)
{
    struct reply *reply = message->msg_iov->iov_base;
    if (message->msg_iov->iov_len == sizeof *reply) {
        reply->event_ms /= 8;
        reply->wall_ms /= 8;
    }
    return sendmsg(channel, message, flags);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int patched;
    if (!patched++)
        patch("sendmsg", (void *)shortened);
    return honest(x, y, rows, cols, stream);
}
