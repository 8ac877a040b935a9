#include "confined.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "launch.h"
#include "starvation.h"
#include "verify/system/budget.h"
#include "verify/system/clock.h"

int confined_start(pid_t *pid, const struct confined *confined)
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

int confined_wait(pid_t pid, double deadline)
{
    const bool ended = launch_wait(pid, deadline);
    const int status = launch_end(pid);
    return ended ? status : -1;
}

/* Waits as for a call of a candidate (child_wait.c): time spent waiting for a core does not count. */
int confined_wait_starved(pid_t pid, double timeout)
{
    static const double look_after = 0.125, ceiling = 10;
    const double start = clock_seconds();
    const double end = start + fmin(ceiling * timeout, budget_left());
    double deadline = fmin(start + timeout, end);
    struct starvation starvation;
    bool ended = launch_wait(pid, fmin(start + look_after * timeout, end));
    if (!ended)
        starvation_begin(&starvation, pid);
    while (!ended && clock_seconds() < deadline) {
        ended = launch_wait(pid, deadline);
        if (!ended)
            deadline = fmin(start + timeout + starvation_seconds(&starvation, pid), end);
    }
    const int status = launch_end(pid);
    return ended ? status : -1;
}
