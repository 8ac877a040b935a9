/* System calls that a candidate must not make: a kernel filter that no code in the process can remove. */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "runner_internal.h"

/* Calls that inspect other processes, change the process's identity or view, or measure the machine. No
 * kernel needs them. Most fail in the sandbox anyway, but a sandbox is not always available. */
static const char *const refused[] = {"ptrace",
                                      "process_vm_readv",
                                      "process_vm_writev",
                                      "process_madvise",
                                      "pidfd_getfd",
                                      "kcmp",
                                      "perf_event_open",
                                      "bpf",
                                      "userfaultfd",
                                      "unshare",
                                      "setns",
                                      "mount",
                                      "umount2",
                                      "move_mount",
                                      "open_tree",
                                      "fsopen",
                                      "fsmount",
                                      "pivot_root",
                                      "chroot",
                                      "keyctl",
                                      "add_key",
                                      "request_key",
                                      "init_module",
                                      "finit_module",
                                      "delete_module",
                                      "kexec_load",
                                      "kexec_file_load",
                                      "reboot",
                                      "swapon",
                                      "swapoff",
                                      "settimeofday",
                                      "clock_settime",
                                      "clock_adjtime",
                                      "adjtimex",
                                      "sethostname",
                                      "setdomainname",
                                      "quotactl",
                                      "acct",
                                      "iopl",
                                      "ioperm",
                                      "io_uring_setup",
                                      "io_uring_enter",
                                      "io_uring_register",
                                      "personality",
                                      "open_by_handle_at"};

static const uint64_t new_namespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

static int refuse_names(scmp_filter_ctx filter)
{
    int error = 0;
    for (size_t i = 0; i < sizeof refused / sizeof *refused && error == 0; i++) {
        const int call = seccomp_syscall_resolve_name(refused[i]);
        if (call >= 0) /* this architecture has it */
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
    }
    return error;
}

/* Without its own process namespace a candidate sees its parent process. */
static int refuse_signals(scmp_filter_ctx filter)
{
    const scmp_datum_t parent = (scmp_datum_t)getppid();
    int error =
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(kill), 1, SCMP_A0(SCMP_CMP_EQ, parent));
    if (error == 0) /* kill(-1), which the kernel reads as 32 bits: all processes that may be signalled */
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(kill), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffffu, 0xffffffffu));
    if (error == 0)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 1,
                                 SCMP_A0(SCMP_CMP_EQ, parent));
    return error;
}

/* A handler of the candidate's for guard page faults would hide them. The call pretends to succeed. */
static int keep_fault_handlers(scmp_filter_ctx filter)
{
    static const int signals[] = {SIGSEGV, SIGBUS};
    int error = 0;
    for (int i = 0; i < 2 && error == 0; i++)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(rt_sigaction), 2,
                                 SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)signals[i]), SCMP_A1(SCMP_CMP_NE, 0));
    return error;
}

/* The judge reads the mappings (--forbid). It needs no privilege while the process stays dumpable. */
static int stay_readable(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1,
                            SCMP_A0(SCMP_CMP_EQ, PR_SET_DUMPABLE));
}

/* A filter cannot read clone3's flags, which are in memory. Refusing clone3 makes libc use clone. */
static int refuse_namespaces(scmp_filter_ctx filter)
{
    int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    for (uint64_t flag = 1; flag != 0 && flag <= new_namespaces && error == 0; flag <<= 1)
        if (flag & new_namespaces)
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                     SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
    return error;
}

void filter_calls(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int error = filter ? 0 : -ENOMEM;
    if (error == 0)
        error = refuse_names(filter);
    if (error == 0)
        error = refuse_signals(filter);
    if (error == 0)
        error = keep_fault_handlers(filter);
    if (error == 0)
        error = stay_readable(filter);
    if (error == 0)
        error = refuse_namespaces(filter);
    if (error == 0)
        error = seccomp_load(filter);
    if (error != 0) /* a kernel without seccomp: the sandbox alone must suffice */
        fprintf(stderr, "unseen-runner: no filter of system calls: %s\n", strerror(-error));
    seccomp_release(filter);
}
