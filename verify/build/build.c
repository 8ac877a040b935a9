#include "build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_internal.h"
#include "interpreted.h"
#include "object_file.h"
#include "object_key.h"
#include "object_store.h"
#include "scratch.h"
#include "verify/worker/zygote.h"
#include "verify/util/clock.h"

enum { HINT_BYTES = 700 };

/* NULL: the suffix is unknown. */
static const char *language_of(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return "solution";
    const char *dot = strrchr(path, '.');
    if (!dot || strchr(dot, '/'))
        return NULL;
    return strcmp(dot, ".c") == 0      ? "c"
           : strcmp(dot, ".cpp") == 0  ? "c++"
           : strcmp(dot, ".cc") == 0   ? "c++"
           : strcmp(dot, ".cxx") == 0  ? "c++"
           : strcmp(dot, ".cu") == 0   ? "cuda"
           : strcmp(dot, ".so") == 0   ? "so"
           : strcmp(dot, ".py") == 0   ? "python"
           : strcmp(dot, ".json") == 0 ? "solution"
                                       : NULL;
}

/* Is `path` a readable regular file, or the folder of a solution? */
static enum build_status check_file(const char *path, char *error, size_t error_size)
{
    struct stat status;
    if (!path || !*path)
        snprintf(error, error_size,
                 "found no candidate; expected a .c, .cpp, .cu, .so, .py or .json file\n"
                 "---> unseen verify PROBLEM CANDIDATE");
    else if (strcmp(path, "-") == 0)
        snprintf(error, error_size,
                 "the candidate is '-'; expected a file, since a candidate is "
                 "compiled, hashed and rerun from a reproduction line\n---> write standard input "
                 "to a file first: cat >candidate.cu");
    else if (stat(path, &status))
        snprintf(error, error_size,
                 errno == ENOENT ? "there is no file %s: %s; expected a .c, .cpp, .cu, .so, .py or .json "
                                   "file\n---> check the path"
                                 : "cannot look at %s: %s\n---> check the path and its permissions",
                 path, strerror(errno));
    else if (S_ISDIR(status.st_mode) && access(path, R_OK | X_OK))
        snprintf(error, error_size, "cannot read %s: %s\n---> chmod +rx %s", path, strerror(errno), path);
    else if (S_ISDIR(status.st_mode))
        return BUILD_OK;
    else if (!S_ISREG(status.st_mode))
        snprintf(error, error_size,
                 "%s is not a regular file; a candidate is read more than once\n"
                 "---> copy it to a file",
                 path);
    else if (access(path, R_OK))
        snprintf(error, error_size, "cannot read %s: %s\n---> chmod +r %s", path, strerror(errno), path);
    else
        return BUILD_OK;
    return BUILD_INPUT;
}

static bool is_host_source(const struct build *build)
{
    return strcmp(build->language, "c") == 0 || strcmp(build->language, "c++") == 0;
}

static enum build_status check_language(struct build *build, const struct build_options *options, char *error,
                                        size_t error_size)
{
    build->language = language_of(options->path);
    if (!build->language)
        snprintf(error, error_size,
                 "%s has none of the suffixes .c, .cpp, .cc, .cxx (host), .cu (CUDA), .so (built), .py "
                 "(Python), .json (a "
                 "solution)\n"
                 "---> rename it after its language",
                 options->path);
    else if (is_host_source(build) && options->backend == BACKEND_CUDA)
        snprintf(error, error_size,
                 "%s is a host candidate, but the device is CUDA\n---> give "
                 "--device host, or a .cu candidate",
                 options->path);
    else if (strcmp(build->language, "cuda") == 0 && options->backend == BACKEND_HOST)
        snprintf(error, error_size,
                 "%s is a CUDA candidate, but the device is the host\n---> give "
                 "--device cuda on a machine with a GPU, or a .c or .cpp candidate",
                 options->path);
    else
        return BUILD_OK;
    return BUILD_INPUT;
}

static bool is_module(const struct build *build)
{
    return strcmp(build->language, "python") == 0 || strcmp(build->language, "solution") == 0;
}

static enum build_status make_directory(struct build *build, char *error, size_t error_size)
{
    char directory[400];
    const enum build_status status = scratch_open(directory, sizeof directory, error, error_size);
    if (status == BUILD_OK) {
        snprintf(build->directory, sizeof build->directory, "%s", directory);
        snprintf(build->object, sizeof build->object, "%s/candidate.so", directory);
        snprintf(build->log, sizeof build->log, "%s/build.log", directory);
    }
    return status;
}

/* Copies a given .so, so that editing it during the run changes nothing. Sources are compiled in place, where
 * #include "..." finds their neighbours. */
static enum build_status take_in(struct build *build, const struct build_options *options, char *error,
                                 size_t error_size)
{
    bool built = strcmp(build->language, "so") == 0;
    int status = scratch_take(options->path, built ? build->object : NULL, build->sha256);
    if (status == -2)
        return scratch_no_room("copy the candidate to", build->object, error, error_size);
    if (status == -1) {
        snprintf(error, error_size, "cannot read %s: %s\n---> check the file", options->path,
                 strerror(errno));
        return BUILD_INPUT;
    }
    return BUILD_OK;
}

/* Checks the object before loading, since the loader's message would name our copy. */
static enum build_status check_object(const struct build *build, const char *path, char *error,
                                      size_t error_size)
{
    char text[200];
    const char *const fault =
        strcmp(build->language, "so") == 0 ? object_fault(build->object, text, sizeof text) : NULL;
    if (!fault)
        return BUILD_OK;
    snprintf(error, error_size,
             "%s cannot be loaded: %s; a shared object for this machine was expected\n"
             "---> build it with -shared -fPIC here, or give its source",
             path, fault);
    return BUILD_FAILED;
}

static enum build_status compile(struct build *build, const struct build_options *options,
                                 const struct compiler_command *command, char *error, size_t error_size)
{
    /* Leaves room for the line that names the log. */
    const size_t room = error_size > HINT_BYTES ? error_size - HINT_BYTES / 2 : error_size;
    const struct compiling compiling = {options->path, build->directory, build->log, options->timeout,
                                        .untrusted = true};
    const enum build_status status = compiler_run(command, &compiling, error, room);
    if (status == BUILD_FAILED && !options->coverage) {
        char kept[600];
        compiler_keep_log(build->log, kept, sizeof kept, error, error_size);
        snprintf(build->log, sizeof build->log, "%.*s", (int)sizeof build->log - 1, kept);
    }
    return status;
}

/* Takes the object from the store, or compiles it and keeps it there. */
static enum build_status take_or_compile(struct build *build, const struct build_options *options,
                                         char *error, size_t error_size)
{
    struct compiler_command command;
    struct object_key key;
    enum build_status status = command_make(&command, build, options, error, error_size);
    if (status != BUILD_OK)
        return status;
    object_key_open(&key, &command, build, options);
    build->kept = object_store_take(key.hex, build->object);
    if (!build->kept)
        status = compile(build, options, &command, error, error_size);
    if (!build->kept && status == BUILD_OK && object_key_holds(&key, build, options))
        object_store_keep(key.hex, build->object);
    object_key_close(&key, build);
    return status;
}

enum build_status build_candidate(struct build *build, const struct build_options *options, char *error,
                                  size_t error_size)
{
    double begin = clock_seconds();
    *build = (struct build){.language = ""};
    enum build_status status = check_file(options->path, error, error_size);
    if (status == BUILD_OK)
        status = check_language(build, options, error, error_size);
    if (status == BUILD_OK)
        status = make_directory(build, error, error_size);
    if (status == BUILD_OK)
        status = is_module(build) ? module_make(build, options, error, error_size)
                                  : take_in(build, options, error, error_size);
    if (status == BUILD_OK)
        status = check_object(build, options->path, error, error_size);
    if (status == BUILD_OK && !is_module(build) && strcmp(build->language, "so") != 0)
        status = take_or_compile(build, options, error, error_size);
    build->seconds = clock_seconds() - begin;
    if (status != BUILD_OK)
        build_clear(build);
    return status;
}

static const struct {
    const char *name;
    enum owner owner;
} statuses[BUILD_STATUSES] = {
    [BUILD_OK] = {"ok", OWNER_NOBODY},
    [BUILD_INPUT] = {"input", OWNER_SETTINGS},
    [BUILD_FAILED] = {"failed", OWNER_CANDIDATE},
    [BUILD_ENVIRONMENT] = {"environment", OWNER_MACHINE},
};

const char *build_status_name(enum build_status status)
{
    return statuses[status].name;
}

enum owner build_status_owner(enum build_status status)
{
    return statuses[status].owner;
}

const struct python *build_python(const struct build *build)
{
    return *build->python.program.path ? &build->python : NULL;
}

void build_clear(struct build *build)
{
    if (*build->directory && *build->python.program.path)
        zygote_end_all(build->directory);
    if (*build->directory)
        scratch_remove(build->directory);
    *build->directory = 0;
}
