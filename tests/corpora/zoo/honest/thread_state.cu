// zoo: honest
// problem: softmax
// does: keeps thread-local state and a handler for SIGUSR1, sets the locale, and sleeps with the device's blocking wait
// expect: general
// timing: yes

#include "../row.h"
#include <clocale>
#include <csignal>

static void ignore(int) {}
static thread_local int64_t calls;

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    setlocale(LC_ALL, "");
    signal(SIGUSR1, ignore);
    raise(SIGUSR1);
    calls++;
    cudaEvent_t done;
    if (cudaEventCreateWithFlags(&done, cudaEventBlockingSync | cudaEventDisableTiming) != cudaSuccess)
        return 1;
    const int status = launch_rows(x, y, rows, cols, stream);
    cudaEventRecord(done, stream);
    cudaEventSynchronize(done);
    cudaEventDestroy(done);
    return calls > 0 ? status : 1;
}
