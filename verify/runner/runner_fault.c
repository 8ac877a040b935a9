#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner_internal.h"

enum { STACK_BYTES = 64 << 10 };

static char stack[STACK_BYTES];
static atomic_flag reported = ATOMIC_FLAG_INIT;

/* Finds the guard that contains the address; slot -1 if there is none. */
static void locate(struct reply *reply, uintptr_t address)
{
    reply->slot = -1;
    reply->distance = address;
    for (int i = 0; i < CHANNEL_SLOTS; i++) {
        const struct slot *slot = &runner.slot[i];
        uintptr_t base = (uintptr_t)slot->base, end = base + slot->mapped;
        if (slot->mapped == 0)
            continue;
        if (address < base && base - address <= slot->guard) {
            reply->slot = i % CHANNEL_TENSORS;
            reply->below = 1;
            reply->distance = base - address;
        } else if (address >= end && address - end < slot->guard) {
            reply->slot = i % CHANNEL_TENSORS;
            reply->distance = address - end;
        }
    }
}

/* Only async-signal-safe calls from here. Several OpenMP threads may fault at once: the first one reports. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!atomic_load(&runner.busy)) { /* nobody waits for a reply: die of the signal */
        signal(number, SIG_DFL);
        return;
    }
    if (atomic_flag_test_and_set(&reported))
        for (;;)
            pause();
    struct reply reply = {
        .magic = CHANNEL_MAGIC, .kind = REPLY_FAULT, .value = number, .sequence = runner.sequence};
    bool sent_by_kill = info->si_code <= 0; /* si_addr is meaningless then */
    locate(&reply, sent_by_kill ? 0 : (uintptr_t)info->si_addr);
    send(runner.channel, &reply, sizeof reply, MSG_NOSIGNAL);
    _exit(1);
}

void fault_arm(void)
{
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
