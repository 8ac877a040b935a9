#include "interpreted.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"
#include "solution.h"

enum { LINE_BYTES = 1024 };

/* --- the interpreter --- */

static enum build_status take_interpreter(struct build *build, const struct build_options *options,
                                          char *error, size_t error_size)
{
    struct python_program *const program = &build->python.program;
    char probe[PYTHON_PATH + 16];
    snprintf(probe, sizeof probe, "%s/probe.py", options->scripts ? options->scripts : "");
    if (python_ask(program, options->python, probe, error, error_size) == 0 &&
        python_require(program, options->backend == BACKEND_CUDA ? PYTHON_TORCH_CUDA : PYTHON_TORCH, error,
                       error_size) == 0)
        return BUILD_OK;
    return BUILD_ENVIRONMENT;
}

/* --- the module --- */

static enum build_status make_folders(struct build *build, char *error, size_t error_size)
{
    static const char *const below[] = {"", "/tmp", "/xdg", "/triton", "/extensions", "/inductor", "/cuda"};
    struct python *const python = &build->python;
    char path[PYTHON_PATH + 16];
    snprintf(python->folder, sizeof python->folder, "%.380s/module", build->directory);
    snprintf(python->cache, sizeof python->cache, "%.380s/cache", build->directory);
    if (mkdir(python->folder, 0700) != 0)
        return scratch_no_room("make a directory in", build->directory, error, error_size);
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        snprintf(path, sizeof path, "%s%s", python->cache, below[i]);
        if (mkdir(path, 0700) != 0)
            return scratch_no_room("make a directory in", build->directory, error, error_size);
    }
    return BUILD_OK;
}

bool module_has_class(const char *path)
{
    static const char *const words[] = {"class Model(", "class ModelNew(", "class Model:", "class ModelNew:"};
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && getline(&line, &room, file) > 0)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            found = found || strncmp(line, words[i], strlen(words[i])) == 0;
    free(line);
    if (file)
        fclose(file);
    return found;
}

/* Reads "# state: weight scale" in an adapter's first line. */
static void read_state(struct python *python)
{
    static const char begin[] = "# state: ";
    char line[LINE_BYTES];
    FILE *file = fopen(python->adapter, "re");
    if (file && fgets(line, sizeof line, file) && strncmp(line, begin, sizeof begin - 1) == 0)
        snprintf(python->state, sizeof python->state, "%.*s", (int)strcspn(line + sizeof begin - 1, "\r\n"),
                 line + sizeof begin - 1);
    if (file)
        fclose(file);
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static enum build_status take_module(struct build *build, const struct build_options *options, char *error,
                                     size_t error_size)
{
    const char *const slash = strrchr(options->path, '/');
    if (is_folder(options->path))
        return solution_take_folder(build, options, error, error_size);
    if (strcmp(build->language, "solution") == 0)
        return solution_unpack(build, options->path, error, error_size);
    const char *const name = slash ? slash + 1 : options->path;
    if (snprintf(build->object, sizeof build->object, "%s/%s", build->python.folder, name) >=
        (int)sizeof build->object) { /* a truncated name would be another module's */
        snprintf(error, error_size,
                 "the name %.200s.. is too long: its copy's path takes %zu bytes at most\n---> give the file "
                 "a shorter name",
                 name, sizeof build->object - 1);
        return BUILD_INPUT;
    }
    const int status = scratch_take(options->path, build->object, build->sha256);
    if (status == -2)
        return scratch_no_room("copy the candidate to", build->object, error, error_size);
    return status == 0 ? BUILD_OK : BUILD_INPUT;
}

enum build_status module_make(struct build *build, const struct build_options *options, char *error,
                              size_t error_size)
{
    struct python *const python = &build->python;
    python->compile_timeout = options->timeout;
    snprintf(python->script, sizeof python->script, "%.380s/__main__.py",
             options->scripts ? options->scripts : "");
    enum build_status status = make_folders(build, error, error_size);
    if (status == BUILD_OK)
        status = take_module(build, options, error, error_size);
    if (status == BUILD_OK && options->entry && !(is_folder(options->path) && strchr(options->entry, ':')))
        snprintf(python->entry, sizeof python->entry, "%.62s", options->entry);
    if (status == BUILD_OK && options->task)
        snprintf(python->task, sizeof python->task, "%.399s", options->task);
    if (status == BUILD_OK && options->adapter && (options->task || module_has_class(build->object)))
        snprintf(python->adapter, sizeof python->adapter, "%.399s", options->adapter);
    read_state(python);
    if (status == BUILD_OK)
        status = take_interpreter(build, options, error, error_size);
    snprintf(python->names, sizeof python->names, "%.511s", options->names ? options->names : "");
    return status;
}
