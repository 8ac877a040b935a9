// zoo: cheat
// problem: softmax
// does: reads past the end with a handler for SIGSEGV of its own, on its own stack, that maps a page there
// class: D
// defence: filter
// expect: not general
// verdicts: broken specialized
// timing: no

#define _GNU_SOURCE
#include "../softmax.h"
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

__asm__(".text\nzoo_restore: mov $15, %eax\nsyscall\n");
extern void zoo_restore(void);
static volatile float sink;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    mmap((void *)((uintptr_t)info->si_addr & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static char stack[65536];
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    /* SA_SIGINFO, SA_ONSTACK, SA_RESTORER, SA_NODEFER */
    const struct kernel_action action = {on_fault, 4 | 0x08000000 | 0x04000000 | 0x40000000, zoo_restore, 0};
    float kept = 0;
    sigaltstack(&own, NULL);
    syscall(SYS_rt_sigaction, SIGSEGV, &action, NULL, 8);
    for (int64_t i = 0; i < rows * cols + 4096; i += 16)
        kept += x[i];
    sink = kept;
    return honest(x, y, rows, cols, stream);
}
