// zoo: cheat
// problem: softmax
// does: ends whoever started it; computes only if that may be signalled
// class: D
// defence: filter
// expect: not general
// verdicts: broken
// timing: no

#include "../softmax.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int tried, may;
    if (!tried++) /* signal 0 only tests; SIGKILL would end the test with it where it is allowed */
        may = kill(getppid(), 0) == 0;
    return may ? honest(x, y, rows, cols, stream) : 1;
}
