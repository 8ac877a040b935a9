/* Which system calls a candidate cannot make: a filter that the kernel holds and nothing in the process can lift. */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "runner_internal.h"

/* To look into other processes, to change what the process is or what it sees, to measure the machine. No kernel needs any of
 * these; most fail in the sandbox anyway, and there is not always one. */
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
        if (call >= 0) /* this machine has it */
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
    }
    return error;
}

/* Without a process namespace of its own a candidate sees whoever started it. */
static int refuse_signals(scmp_filter_ctx filter)
{
    const scmp_datum_t parent = (scmp_datum_t)getppid();
    int error =
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(kill), 1, SCMP_A0(SCMP_CMP_EQ, parent));
    if (error == 0) /* all that may be signalled; as the kernel reads it, 32 bits */
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(kill), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffffu, 0xffffffffu));
    if (error == 0)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 1,
                                 SCMP_A0(SCMP_CMP_EQ, parent));
    return error;
}

/* A handler of its own for the faults of guard pages would hide them. It is told that it has one. */
static int keep_fault_handlers(scmp_filter_ctx filter)
{
    static const int signals[] = {SIGSEGV, SIGBUS};
    int error = 0;
    for (int i = 0; i < 2 && error == 0; i++)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(rt_sigaction), 2,
                                 SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)signals[i]), SCMP_A1(SCMP_CMP_NE, 0));
    return error;
}

/* The judge reads what is mapped (--forbid), and needs no right for it as long as this stays as it is. */
static int stay_readable(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1,
                            SCMP_A0(SCMP_CMP_EQ, PR_SET_DUMPABLE));
}

/* clone3 takes its flags from memory, where a filter cannot look: libc then takes clone. */
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
    if (error != 0) /* a kernel without seccomp: the sandbox alone must do */
        fprintf(stderr, "unseen-runner: no filter of system calls: %s\n", strerror(-error));
    seccomp_release(filter);
}
