#include "python_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"

enum { SECONDS = 60, TICK_MS = 20, SAID = 1 << 16 };

static const char last_line[] = "\nend\n";

/* Reads its output until the last line, its end, or a timeout. Processes that a wrapper script leaves running
 * do not matter. */
static void listen_to(int fd, char *said)
{
    const double deadline = clock_seconds() + SECONDS;
    size_t used = 0;
    while (clock_seconds() < deadline && used < SAID - 1 && !is_interrupted() && !strstr(said, last_line)) {
        struct pollfd wait = {fd, POLLIN, 0};
        if (poll(&wait, 1, TICK_MS) <= 0)
            continue;
        const ssize_t n = read(fd, said + used, SAID - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
        said[used] = '\0';
    }
}

/* Copies a value of at most `size` bytes; a truncated value would be another path, so it fails instead. */
static bool take(char *to, size_t size, const char *value)
{
    if (strlen(value) >= size)
        return false;
    strcpy(to, value);
    return true;
}

static bool take_fact(struct python_program *program, const char *name, const char *value)
{
    const struct {
        const char *name;
        char *to;
        size_t size;
    } all[] = {{"executable", program->path, sizeof program->path},
               {"version", program->version, sizeof program->version},
               {"torch", program->torch, sizeof program->torch},
               {"cuda", program->cuda, sizeof program->cuda},
               {"packages", program->packages, sizeof program->packages}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0)
            return take(all[i].to, all[i].size, value);
    if (strcmp(name, "show") == 0)
        return program->folders < PROGRAM_FOLDERS &&
               take(program->folder[program->folders++], PROGRAM_PATH, value);
    return true; /* ignores output of a wrapper script */
}

/* Returns NULL, or what is wrong with it. */
static const char *read_facts(struct python_program *program, char *said)
{
    char *rest = said, *line;
    if (!strstr(said, last_line))
        return "it does not say where it lies";
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *const blank = strchr(line, ' ');
        if (!blank)
            continue;
        *blank = '\0';
        if (!take_fact(program, line, blank + 1))
            return "it lies in too many folders, or their names are too long";
    }
    return program->path[0] == '/' ? NULL : "it does not say where it lies";
}

/* The last line of its output, where Python and shells put the reason; control characters are removed. */
static const char *last_words(char *said)
{
    size_t end = strlen(said);
    while (end > 0 && strchr(" \r\n", said[end - 1]))
        said[--end] = '\0';
    char *const newline = strrchr(said, '\n'), *const words = newline ? newline + 1 : said;
    for (char *c = words; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return words;
}

/* Returns 0 or an errno. */
static int run(const char *program, const char *probe, char *said)
{
    const char *const argv[] = {program, "-I", "-B", probe, NULL};
    int pipe[2];
    pid_t pid;
    if (pipe2(pipe, O_CLOEXEC) != 0)
        return errno;
    const int status = launch_start(&pid, &(struct launch){.argv = argv, .output = pipe[1]});
    close(pipe[1]);
    if (status == 0) {
        listen_to(pipe[0], said);
        launch_end(pid);
    }
    close(pipe[0]);
    return status;
}

int python_ask(struct python_program *program, const char *named, const char *probe, char *text, size_t size)
{
    const char *const name = named && *named ? named : "python3";
    char *const said = calloc(2, SAID), *const copy = said ? said + SAID : NULL;
    *program = (struct python_program){.folders = 0};
    const int status = said ? run(name, probe, said) : ENOMEM;
    if (status == 0)
        strcpy(copy, said);
    const char *const why = status ? strerror(status) : read_facts(program, copy);
    if (why) {
        const char *const words = status == 0 && !strstr(said, last_line) ? last_words(said) : "";
        program->path[0] = '\0';
        snprintf(text, size,
                 "cannot run the interpreter %.400s: %s%s%.200s; Python with torch was expected\n"
                 "---> --python PATH names one; python3 on PATH is taken otherwise",
                 name, why, *words ? "; its last words: " : "", words);
    }
    free(said);
    return why ? -1 : 0;
}

int python_require(const struct python_program *program, enum python_need need, char *text, size_t size)
{
    if (!*program->torch || strcmp(program->torch, "none") == 0)
        snprintf(
            text, size,
            "%.600s (Python %s) has no torch; one with PyTorch was expected\n---> --python PATH names an "
            "interpreter that has it, such as .venv/bin/python",
            program->path, program->version);
    else if (need == PYTHON_TORCH_CUDA && (!*program->cuda || strcmp(program->cuda, "none") == 0))
        snprintf(
            text, size,
            "the torch %s of %.600s was built without CUDA; one with CUDA was expected\n---> --python PATH "
            "names another, or give --device host",
            program->torch, program->path);
    else
        return 0;
    return -1;
}
