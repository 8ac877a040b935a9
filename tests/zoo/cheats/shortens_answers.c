// zoo: cheat
// problem: softmax
// does: patches send in the runner and divides the times in its answers by eight
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
#include "../../../build/zoo/channel.h"

static ssize_t shortened(int channel, const void *data, size_t bytes, int flags)
{
    struct reply copy;
    if (bytes != sizeof copy)
        return send(channel, data, bytes, flags);
    memcpy(&copy, data, sizeof copy);
    copy.event_ms /= 8;
    copy.wall_ms /= 8;
    return send(channel, &copy, sizeof copy, flags);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int patched;
    if (!patched++)
        patch("send", (void *)shortened);
    return honest(x, y, rows, cols, stream);
}
