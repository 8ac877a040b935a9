#include "helper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "launch.h"
#include "cpu_wait.h"
#include "verify/util/budget.h"
#include "verify/util/clock.h"

int helper_process_start(pid_t *pid, const struct helper_process *confined)
{
    const int log =
        open(confined->log,
             O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (confined->append ? 0 : O_TRUNC), 0644);
    if (log < 0)
        return errno;
    const int status = launch_start(pid, &(struct launch){.argv = confined->argv,
                                                          .environment = confined->environment,
                                                          .output = log,
                                                          .memory = confined->memory,
                                                          .file = confined->file});
    close(log);
    return status;
}

int helper_process_wait(pid_t pid, double deadline)
{
    const bool ended = launch_wait(pid, deadline);
    const int status = launch_end(pid);
    return ended ? status : -1;
}

/* Waits as for a call of a candidate (child_wait.c): time spent waiting for a core does not count. */
int helper_process_wait_starved(pid_t pid, double timeout)
{
    static const double look_after = 0.125, ceiling = 10;
    const double start = clock_seconds();
    const double end = start + fmin(ceiling * timeout, budget_left());
    double deadline = fmin(start + timeout, end);
    struct cpu_wait starvation;
    bool ended = launch_wait(pid, fmin(start + look_after * timeout, end));
    if (!ended)
        cpu_wait_begin(&starvation, pid);
    while (!ended && clock_seconds() < deadline) {
        ended = launch_wait(pid, deadline);
        if (!ended)
            deadline = fmin(start + timeout + cpu_wait_seconds(&starvation, pid), end);
    }
    const int status = launch_end(pid);
    return ended ? status : -1;
}
