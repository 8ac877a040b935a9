#include "confined.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "launch.h"

int confined_start(pid_t *pid, const struct confined *confined)
{
    const int log = open(confined->log,
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (confined->append ? 0 : O_TRUNC), 0644);
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
