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

static struct sigaction before[2];

bool catch_signals_here(void (*end)(void))
{
    sigaction(SIGINT, NULL, &before[0]);
    sigaction(SIGTERM, NULL, &before[1]);
    if (before[0].sa_handler == on_signal)
        return false;
    catch_signals(end);
    return true;
}

void release_signals(void)
{
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGTERM, &before[1], NULL);
}

void catch_signals(void (*end)(void))
{
    struct sigaction action = {.sa_handler = on_signal};
    end_all = end;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
