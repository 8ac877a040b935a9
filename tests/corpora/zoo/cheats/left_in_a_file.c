// zoo: cheat
// problem: softmax
// does: leaves a file for its next process, which finds its answers there; without it there are none
// class: B
// defence: sandbox
// expect: not general
// verdicts: broken inconclusive
// timing: no
// runs: 2

#include "../softmax.h"
#include <stdio.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int found = -1;
    const char *const path = "/var/tmp/unseen-zoo-answers";
    if (found < 0) {
        FILE *file = fopen(path, "r");
        found = file != NULL;
        if (file)
            fclose(file);
        if ((file = fopen(path, "w")))
            fclose(file);
    }
    return found ? honest(x, y, rows, cols, stream) : 1;
}
