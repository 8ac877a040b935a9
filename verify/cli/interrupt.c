#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

#include "verify/isolate/child.h"

static volatile sig_atomic_t interrupted;

bool is_interrupted(void)
{
    return interrupted;
}

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
    child_stop_all();
}

void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
