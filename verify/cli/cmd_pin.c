/* unseen pin: adds a failure to the regressions that every later run tries first */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/util/home_folder.h"
#include "reports/record/atomic.h"
#include "reports/record/result.h"
#include "options.h"
#include "verify/problem/folder.h"
#include "verify/problem/paths.h"
#include "verify/session/task.h"

static int fail(int status, const char *text)
{
    options_error("%s", text);
    return status;
}

static int fail_space(const struct space_error *error)
{
    return fail(error->environment ? EXIT_ENVIRONMENT : EXIT_USAGE, error->text);
}

/* --- which configurations may be frozen --- */

static int read_contract(struct space *space, const struct problem *problem, const char *path)
{
    struct space_error error;
    char published[1024];
    if (!path)
        folder_shape(problem, "space", published, sizeof published);
    if (space_read(space, problem, path ? path : published, &error) != 0)
        return fail_space(&error);
    return 0;
}

static int refuse_known(const struct config_list *list, const struct config *config, const char *path,
                        bool same_seed)
{
    char line[RESULT_LINE_SIZE];
    config_format(config, line, sizeof line);
    for (int i = 0; i < list->count; i++) {
        const struct config *known = &list->item[i];
        if (!config_same_point(known, config) || (same_seed && known->seed != config->seed))
            continue;
        if (same_seed)
            options_error("%s is in %s already; a new failure was expected\n"
                          "---> nothing needs to be done",
                          line, path);
        else
            options_error("%s is in the seen set %s; an unseen configuration was expected\n"
                          "---> nothing needs to be done: it is run with that set",
                          line, path);
        return EXIT_USAGE;
    }
    return 0;
}

/* Rejects points of the seen sets of GPU and host, which drawing leaves out as well. */
static int refuse_seen(const struct space *published, const struct config *config)
{
    static const char *const ending[] = {"seen", "host.seen"};
    int status = 0;
    for (int i = 0; i < 2 && status == 0; i++) {
        struct config_list seen = {0};
        struct space_error error;
        char path[1024];
        if (folder_shape(published->problem, ending[i], path, sizeof path) != 0)
            continue;
        if (config_list_read(&seen, published, path, true, &error) != 0)
            status = fail_space(&error);
        else
            status = refuse_known(&seen, config, path, false);
        config_list_clear(&seen);
    }
    return status;
}

/* --- the file --- */

/* Opens the directory of `path` (created if `make`) and locks it until it is closed: of two simultaneous
 * calls the second must see the first one's line. -1 after an error. */
static int lock_directory(const char *path, bool make)
{
    char *copy = strdup(path);
    char *const name = copy ? dirname(copy) : NULL;
    if (name && make && !home_make(name))
        make = false; /* the following open reports the error */
    const int directory = name ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int locked = directory < 0 ? -1 : 0;
    while (locked == 0 && flock(directory, LOCK_EX) != 0)
        if (errno != EINTR)
            locked = -1;
    if (locked != 0) {
        options_error("%s: its directory cannot be locked (%s); a directory that may be written was "
                      "expected\n---> correct the path, or choose the file with --regressions",
                      path, copy ? strerror(errno) : "out of memory");
        if (directory >= 0)
            close(directory);
    }
    free(copy);
    return locked == 0 ? directory : -1;
}

/* Copies the file, terminated by a newline; for a new file, writes its header. False: it exists and cannot be
 * read, so it would be lost. */
static bool copy_file(FILE *out, const char *path, const struct problem *problem)
{
    char buffer[4096];
    int last = '\n';
    FILE *in = fopen(path, "re");
    if (!in && errno != ENOENT)
        return false;
    if (!in)
        fprintf(out, "# %s: failures found before, which every run tries first\n", problem->name);
    for (size_t got; in && (got = fread(buffer, 1, sizeof buffer, in)) > 0; last = buffer[got - 1])
        fwrite(buffer, 1, got, out);
    if (last != '\n')
        fputc('\n', out);
    const bool whole = !in || feof(in);
    if (in)
        fclose(in);
    return whole;
}

/* Adds the line, with the cause as a comment of one line. */
static void add_line(FILE *out, const struct config *config, const char *cause)
{
    char line[RESULT_LINE_SIZE];
    config_format(config, line, sizeof line);
    fputs(line, out);
    if (cause && *cause)
        fputs("  # ", out);
    for (; cause && *cause; cause++)
        fputc(iscntrl((unsigned char)*cause) ? ' ' : *cause, out);
    fputc('\n', out);
}

static int append(const char *path, const struct config *config, const char *cause)
{
    char error[512], *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return fail(EXIT_ENVIRONMENT, "out of memory");
    const bool copied = copy_file(out, path, config->problem);
    if (!copied)
        snprintf(error, sizeof error, "%.300s: cannot be read (%s), and is left as it is\n---> try again",
                 path, strerror(errno));
    add_line(out, config, cause);
    const bool whole = fclose(out) == 0 && text;
    const int written =
        copied && whole ? atomic_update(path, "frozen failures", text, size, error, sizeof error) : -1;
    free(text);
    return written == 0 ? 0 : fail(EXIT_ENVIRONMENT, copied && !whole ? "out of memory" : error);
}

/* An untrusted checkout may contain a link or a pipe under the problem's own name. */
static int refuse_planted(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0 || S_ISREG(status.st_mode))
        return 0;
    options_error(
        "%s is %s; a regular file was expected where --regressions names none\n---> remove it, or name the "
        "file: --regressions FILE",
        path, S_ISLNK(status.st_mode) ? "a symbolic link" : "no regular file");
    return EXIT_USAGE;
}

/* Runs completely under the lock, so its checks use the contents that are then written. */
static int freeze(const struct space *published, const struct config *config, const char *path, bool make,
                  bool named, const char *cause)
{
    struct config_list frozen = {0};
    struct space_error error;
    const int lock = lock_directory(path, make);
    if (lock < 0)
        return EXIT_ENVIRONMENT;
    int status = named ? 0 : refuse_planted(path);
    if (status == 0 && config_list_read(&frozen, published, path, true, &error) != 0)
        status = fail_space(&error);
    if (status == 0)
        status = refuse_known(&frozen, config, path, true);
    if (status == 0)
        status = append(path, config, cause);
    if (status == 0)
        printf("frozen in %s: %d configuration%s, run first from now on\n", path, frozen.count + 1,
               frozen.count ? "s" : "");
    config_list_clear(&frozen);
    close(lock);
    return status;
}

/* `verify` reads the file against the published contract, so the configuration must satisfy it, and the
 * user's contract. */
static int check_contract(const struct space *space, const struct config *config)
{
    struct space_error error;
    return space_contains(space, config, &error) ? 0 : fail_space(&error);
}

int command_pin(const struct options *options)
{
    struct space published = {0}, own = {0};
    struct space_error error;
    struct config config;
    char path[1024];
    const struct problem *problem;
    int status = options_problem(options->argument[0], &problem);
    if (status != 0)
        return status;
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit becomes an error with a message */
    const bool make = task_regress(problem, options->regress, path, sizeof path);
    status = read_contract(&published, problem, NULL);
    if (status == 0 && options->space)
        status = read_contract(&own, problem, options->space);
    if (status == 0 && config_parse(&config, problem, options->argument[1], "configuration", &error) != 0)
        status = fail_space(&error);
    if (status == 0)
        status = check_contract(&published, &config);
    if (status == 0 && options->space)
        status = check_contract(&own, &config);
    if (status == 0)
        status = refuse_seen(&published, &config);
    if (status == 0)
        status = freeze(&published, &config, path, make, options->regress != NULL, options->cause);
    space_clear(&published);
    space_clear(&own);
    return status;
}
