// zoo: cheat
// problem: softmax
// does: reads what is not its own (/etc/passwd, the tree it is verified from); computes only if it can
// class: D
// defence: sandbox
// expect: not general
// verdicts: broken
// timing: no

#include "../softmax.h"
#include <stdio.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int can = -1;
    if (can < 0) {
        FILE *file = fopen("/etc/passwd", "r");
        can = file != NULL;
        if (file)
            fclose(file);
    }
    return can ? honest(x, y, rows, cols, stream) : 1;
}
