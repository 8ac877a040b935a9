// zoo: cheat
// problem: softmax
// does: finds the request in the runner's memory and answers it itself, with times of its own
// class: D
// defence: clocks,channel
// expect: not general
// verdicts: cheating broken inconclusive
// timing: yes
// open: the judge believes the times that the runner says
// options: --timeout 2

#define _GNU_SOURCE
#include "../softmax.h"
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../../../build/zoo/channel.h"

/* Where a request about this call lies in the program's data. */
static struct request *find(int64_t rows, int64_t cols)
{
    char line[512];
    struct request *found = NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        char rights[5];
        if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) != 3 || strncmp(rights, "rw-p", 4) ||
            end - begin < sizeof *found || end - begin > 64 << 20)
            continue;
        for (char *at = (char *)begin; at + sizeof *found <= (char *)end && !found; at += 8) {
            struct request *r = (struct request *)at;
            if (r->kind == REQUEST_TIME && r->tensors == 2 && r->arguments == 2 &&
                r->argument[0].value.whole == rows && r->argument[1].value.whole == cols && r->samples > 0 &&
                r->samples <= CHANNEL_SAMPLES)
                found = r;
        }
    }
    if (maps)
        fclose(maps);
    return found;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    struct reply reply = {.magic = CHANNEL_MAGIC, .kind = REPLY_RETURNED};
    const int status = honest(x, y, rows, cols, stream);
    const struct request *request = find(rows, cols);
    if (!request)
        return status;
    reply.sequence = request->sequence;
    reply.samples = request->samples;
    for (uint32_t i = 0; i < reply.samples; i++)
        reply.event_ms[i] = reply.wall_ms[i] = 1e-4;
    send(CHANNEL_FD, &reply, sizeof reply, MSG_NOSIGNAL);
    pause(); /* the runner must not answer, too */
    return status;
}
