#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;
static void (*end_all)(void);

bool is_interrupted(void)
{
    return interrupted;
}

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
    end_all();
}

void catch_signals(void (*end)(void))
{
    struct sigaction action = {.sa_handler = on_signal};
    end_all = end;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
