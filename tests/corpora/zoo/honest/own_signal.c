// zoo: honest
// problem: rms_norm
// does: has a handler for SIGUSR1 and an alternate stack, and uses them
// expect: general
// timing: yes

#define _GNU_SOURCE
#include "../rms_norm.h"
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t came;

static void on_signal(int number)
{
    came += number == SIGUSR1;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    static char stack[65536];
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    const int before = came;
    sigaltstack(&own, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    return came == before + 1 ? honest(x, weight, y, rows, cols, eps, stream) : 1;
}
