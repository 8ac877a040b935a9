#include "interpreted.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler.h"
#include "scratch.h"
#include "solution.h"

enum { LINE_BYTES = 1024 };

/* --- the interpreter --- */

struct facts {
    char version[64], torch[64], cuda[64];
};

static void take_fact(char *line, struct python *python, struct facts *facts)
{
    line[strcspn(line, "\n")] = '\0';
    char *const blank = strchr(line, ' ');
    if (!blank)
        return;
    *blank = '\0';
    const char *const value = blank + 1;
    if (strcmp(line, "executable") == 0)
        snprintf(python->interpreter, sizeof python->interpreter, "%.*s", PYTHON_PATH - 1, value);
    else if (strcmp(line, "version") == 0)
        snprintf(facts->version, sizeof facts->version, "%.63s", value);
    else if (strcmp(line, "torch") == 0)
        snprintf(facts->torch, sizeof facts->torch, "%.63s", value);
    else if (strcmp(line, "cuda") == 0)
        snprintf(facts->cuda, sizeof facts->cuda, "%.63s", value);
    else if (strcmp(line, "show") == 0 && python->shown_count < PYTHON_SHOWN)
        snprintf(python->shown[python->shown_count++], PYTHON_PATH, "%.*s", PYTHON_PATH - 1, value);
}

static void read_facts(const char *path, struct python *python, struct facts *facts)
{
    char line[LINE_BYTES];
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        take_fact(line, python, facts);
    if (file)
        fclose(file);
}

/* The user's own interpreter is trusted, and runs a file of ours: outside of the sandbox. */
static enum build_status ask_interpreter(struct build *build, const struct build_options *options,
                                         struct facts *facts, char *error, size_t error_size)
{
    struct compiler_command command = {.count = 0};
    const char *const given = options->python && *options->python ? options->python : "python3";
    char probe[PYTHON_PATH + 16], why[1000];
    snprintf(probe, sizeof probe, "%s/probe.py", options->scripts);
    compiler_add(&command, "%s", given);
    compiler_add_words(&command, "-I -B");
    compiler_add(&command, "%s", probe);
    const struct compiling asking = {probe, build->directory, build->log, 60, .untrusted = false};
    const enum build_status status = compiler_run(&command, &asking, why, sizeof why);
    if (status == BUILD_OK)
        read_facts(build->log, &build->python, facts);
    if (status == BUILD_OK && *build->python.interpreter == '/')
        return BUILD_OK;
    snprintf(error, error_size,
             "cannot run the interpreter %s: %.*s\n---> --python PATH names another; python3 on PATH is "
             "taken otherwise",
             given, (int)strcspn(why, "\n"), status == BUILD_OK ? "it does not say where it is" : why);
    return BUILD_ENVIRONMENT;
}

static enum build_status check_facts(const struct build *build, const struct build_options *options,
                                     const struct facts *facts, char *error, size_t error_size)
{
    const char *const interpreter = build->python.interpreter;
    if (strcmp(facts->torch, "none") == 0 || !*facts->torch)
        snprintf(error, error_size,
                 "%s (Python %s) has no torch, which candidates in Python need\n---> --python PATH names an "
                 "interpreter that has it, such as .venv/bin/python",
                 interpreter, facts->version);
    else if (options->backend == BACKEND_CUDA && strcmp(facts->cuda, "none") == 0)
        snprintf(
            error, error_size,
            "the torch %s of %s was built without CUDA\n---> install one with CUDA, or give --device host",
            facts->torch, interpreter);
    else
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

/* "# state: weight scale" in an adapter's first line. */
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

static enum build_status take_module(struct build *build, const struct build_options *options, char *error,
                                     size_t error_size)
{
    const char *const slash = strrchr(options->path, '/');
    if (strcmp(build->language, "solution") == 0)
        return solution_unpack(build, options->path, error, error_size);
    snprintf(build->object, sizeof build->object, "%s/%.100s", build->python.folder,
             slash ? slash + 1 : options->path);
    const int status = scratch_take(options->path, build->object, build->sha256);
    if (status == -2)
        return scratch_no_room("copy the candidate to", build->object, error, error_size);
    return status == 0 ? BUILD_OK : BUILD_INPUT;
}

enum build_status module_make(struct build *build, const struct build_options *options, char *error,
                              size_t error_size)
{
    struct python *const python = &build->python;
    struct facts facts = {.version = ""};
    python->compile_timeout = options->timeout;
    snprintf(python->script, sizeof python->script, "%.380s/runner.py",
             options->scripts ? options->scripts : "");
    enum build_status status = make_folders(build, error, error_size);
    if (status == BUILD_OK)
        status = take_module(build, options, error, error_size);
    if (status == BUILD_OK && options->entry)
        snprintf(python->entry, sizeof python->entry, "%.62s", options->entry);
    if (status == BUILD_OK && options->task)
        snprintf(python->task, sizeof python->task, "%.399s", options->task);
    if (status == BUILD_OK && options->adapter && (options->task || module_has_class(build->object)))
        snprintf(python->adapter, sizeof python->adapter, "%.399s", options->adapter);
    read_state(python);
    if (status == BUILD_OK)
        status = ask_interpreter(build, options, &facts, error, error_size);
    if (status == BUILD_OK)
        status = check_facts(build, options, &facts, error, error_size);
    snprintf(python->names, sizeof python->names, "%.511s", options->names ? options->names : "");
    return status;
}
