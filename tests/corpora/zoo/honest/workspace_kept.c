// zoo: honest
// problem: softmax
// does: keeps a workspace between calls and lets it grow
// expect: general
// timing: yes

#include "../softmax.h"
#include <stdlib.h>
#include <string.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static float *room;
    static int64_t size;
    const int64_t count = rows * cols;
    if (count > size) {
        free(room);
        room = malloc((size_t)count * sizeof *room);
        size = room ? count : 0;
    }
    if (!room)
        return 1;
    honest(x, room, rows, cols, stream);
    memcpy(y, room, (size_t)count * sizeof *y);
    return 0;
}
