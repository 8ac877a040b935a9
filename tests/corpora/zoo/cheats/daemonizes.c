// zoo: cheat
// problem: softmax
// does: leaves a daemon for its next process, which computes only if it finds it
// class: D
// defence: sandbox+sweep
// expect: not general
// verdicts: broken
// timing: no
// runs: 2

#define _GNU_SOURCE
#include "../softmax.h"
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const struct sockaddr_un name = {AF_UNIX, "\0unseen-zoo-daemon"};
static const socklen_t length = offsetof(struct sockaddr_un, sun_path) + sizeof "\0unseen-zoo-daemon" - 1;

static void leave_daemon(void)
{
    if (fork() != 0)
        return;
    setsid();
    const int door = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fork() != 0 || bind(door, (const struct sockaddr *)&name, length) || listen(door, 8))
        _exit(0);
    for (int fd = 0; fd < 512; fd++)
        if (fd != door)
            close(fd);
    alarm(20); /* a zoo has fences */
    for (;;)
        close(accept(door, NULL, NULL));
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int found = -1;
    if (found < 0) {
        const int door = socket(AF_UNIX, SOCK_STREAM, 0);
        found = connect(door, (const struct sockaddr *)&name, length) == 0;
        close(door);
        if (!found) {
            leave_daemon();
            usleep(50000);
        }
    }
    return found ? honest(x, y, rows, cols, stream) : 1;
}
