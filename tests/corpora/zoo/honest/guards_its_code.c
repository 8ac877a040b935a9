// zoo: honest
// problem: softmax
// does: installs handlers for faults, as crash reporters do, and never needs them
// expect: general
// timing: yes

#include "../softmax.h"
#include <signal.h>
#include <unistd.h>

static void report(int number)
{
    (void)number;
    static const char words[] = "softmax: a fault\n";
    _exit(write(2, words, sizeof words - 1) > 0);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    signal(SIGSEGV, report);
    signal(SIGBUS, report);
    signal(SIGFPE, report);
    return honest(x, y, rows, cols, stream);
}
