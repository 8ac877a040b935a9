#include "confined.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_table.h"
#include "verify/system/clock.h"

enum { WAIT_MS = 2 };

static void limit(pid_t pid, const struct confined *confined)
{
    const struct rlimit memory = {confined->memory, confined->memory},
                        file = {confined->file, confined->file}, core = {0, 0};
    if (!confined->limited)
        return;
    prlimit(pid, RLIMIT_AS, &memory, NULL);
    prlimit(pid, RLIMIT_FSIZE, &file, NULL);
    prlimit(pid, RLIMIT_CORE, &core, NULL);
}

static int launch(pid_t *pid, const struct confined *confined, const int *gate)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, confined->log,
                                     O_WRONLY | O_CREAT | O_APPEND | (confined->append ? 0 : O_TRUNC), 0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, gate[0], CONFINED_GATE);
    posix_spawn_file_actions_addclosefrom_np(&actions, CONFINED_GATE + 1);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int status = posix_spawnp(pid, confined->argv[0], &actions, &attributes,
                                    (char *const *)confined->argv, (char *const *)confined->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (status == 0)
        limit(*pid, confined);
    return status;
}

int confined_start(pid_t *pid, const struct confined *confined)
{
    int gate[2];
    if (pipe2(gate, O_CLOEXEC))
        return errno;
    child_table_starting();
    const int status = launch(pid, confined, gate);
    child_table_started(status == 0 ? *pid : 0);
    close(gate[0]);
    close(gate[1]);
    return status;
}

int confined_wait(pid_t pid, double deadline)
{
    siginfo_t info = {0};
    int status = 0;
    while (clock_seconds() < deadline) {
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
            break;
        poll(NULL, 0, WAIT_MS);
    }
    kill(-pid, SIGKILL);
    child_table_remove(pid);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child_table_sweep();
    return info.si_pid ? status : -1;
}
