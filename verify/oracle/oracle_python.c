/* Which interpreter, and what of the file system it needs: it says so itself, since names on PATH may be scripts that
 * choose among versions, and virtual environments stand on others. It is the user's own program; nothing of a task runs
 * here. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oracle_internal.h"
#include "verify/isolate/launch.h"
#include "verify/system/clock.h"

enum { SECONDS = 30, TICK_MS = 20 };

static const char question[] =
    "import os, sys\n"
    "print(sys.executable)\n"
    "for p in dict.fromkeys([sys.prefix, sys.base_prefix, *sys.path]):\n"
    "    if os.path.isabs(p) and os.path.isdir(p): print(os.path.realpath(p)); print(p)\n";

static int start(pid_t *pid, const char *program, int output)
{
    const char *const argv[] = {program, "-I", "-c", question, NULL};
    return launch_start(pid, &(struct launch){.argv = argv, .output = output, .quiet = true});
}

/* All that it prints until it ends, or until the time is over. */
static void listen_to(int fd, char *said, size_t size)
{
    const double deadline = clock_seconds() + SECONDS;
    size_t used = 0;
    while (clock_seconds() < deadline && used < size - 1) {
        struct pollfd wait = {fd, POLLIN, 0};
        if (poll(&wait, 1, TICK_MS) <= 0)
            continue;
        const ssize_t n = read(fd, said + used, size - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    said[used] = '\0';
}

static bool is_within(const struct oracle_python *python, const char *folder)
{
    for (int i = 0; i < python->folders; i++) {
        const size_t length = strlen(python->folder[i]);
        if (strncmp(folder, python->folder[i], length) == 0 &&
            (folder[length] == '/' || folder[length] == '\0'))
            return true;
    }
    return strcmp(folder, "/") == 0;
}

/* Its lines: the program, then folders. */
static bool read_lines(char *said, struct oracle_python *python)
{
    char *rest = said, *line = strsep(&rest, "\n");
    if (!line || line[0] != '/' || strlen(line) >= sizeof python->program)
        return false;
    strcpy(python->program, line);
    while ((line = strsep(&rest, "\n")) && python->folders < ORACLE_FOLDERS)
        if (line[0] == '/' && strlen(line) < sizeof python->folder[0] && !is_within(python, line))
            strcpy(python->folder[python->folders++], line);
    return true;
}

int oracle_find_python(const char *name, struct oracle_python *python, char *text, size_t size)
{
    const char *const program = name ? name : "python3";
    char said[16384] = "";
    int pipe[2];
    pid_t pid = 0;
    memset(python, 0, sizeof *python);
    if (pipe2(pipe, O_CLOEXEC)) {
        snprintf(text, size, "cannot ask %s where it lies: %s", program, strerror(errno));
        return -1;
    }
    const int status = start(&pid, program, pipe[1]);
    close(pipe[1]);
    if (status == 0) {
        listen_to(pipe[0], said, sizeof said);
        launch_end(pid);
    }
    close(pipe[0]);
    if (status == 0 && read_lines(said, python))
        return 0;
    snprintf(text, size,
             "%.400s is no Python that computes a task's right answers: %s\n---> name one that has torch: "
             "--python PATH",
             program, status ? strerror(status) : "it does not say where it lies");
    return -1;
}
