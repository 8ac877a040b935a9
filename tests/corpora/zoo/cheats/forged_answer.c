// zoo: cheat
// problem: softmax
// does: writes an answer of its own on every descriptor that takes it
// class: D
// defence: channel
// expect: not general
// verdicts: cheating
// timing: no

#include "../softmax.h"
#include <sys/socket.h>
#include "../../../../build/zoo/channel.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int wrote;
    struct reply reply = {.magic = CHANNEL_MAGIC, .kind = REPLY_RETURNED};
    for (int fd = 3; fd < 512 && !wrote; fd++)
        send(fd, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
    wrote = 1;
    return honest(x, y, rows, cols, stream);
}
