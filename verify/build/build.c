#include "build.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_internal.h"
#include "verify/system/clock.h"

enum { WALK_DEPTH = 16, HINT_BYTES = 700 };

static const char *temporary(void)
{
    const char *directory = getenv("TMPDIR");
    return directory && *directory ? directory : "/tmp";
}

/* "c", "cuda", "so", or NULL. */
static const char *language_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot || strchr(dot, '/'))
        return NULL;
    return strcmp(dot, ".c") == 0    ? "c"
           : strcmp(dot, ".cu") == 0 ? "cuda"
           : strcmp(dot, ".so") == 0 ? "so"
                                     : NULL;
}

/* Is there a regular file that can be read? */
static enum build_status check_file(const char *path, char *error, size_t error_size)
{
    struct stat status;
    if (!path || !*path)
        snprintf(error, error_size,
                 "found no candidate; expected a .c, .cu or .so file\n"
                 "---> unseen verify PROBLEM CANDIDATE");
    else if (strcmp(path, "-") == 0)
        snprintf(error, error_size,
                 "the candidate is '-'; expected a file, since a candidate is "
                 "compiled, hashed and rerun from a reproduction line\n---> write standard input "
                 "to a file first: cat >candidate.cu");
    else if (stat(path, &status))
        snprintf(error, error_size,
                 errno == ENOENT
                     ? "there is no file %s: %s; expected a .c, .cu or .so file\n---> check the path"
                     : "cannot look at %s: %s\n---> check the path and its permissions",
                 path, strerror(errno));
    else if (S_ISDIR(status.st_mode))
        snprintf(error, error_size,
                 "%s is a directory; expected one .c, .cu or .so file\n---> "
                 "name the file in it that holds the kernel",
                 path);
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

static enum build_status check_language(struct build *build, const struct build_options *options, char *error,
                                        size_t error_size)
{
    build->language = language_of(options->path);
    if (!build->language)
        snprintf(error, error_size,
                 "%s has none of the suffixes .c (host), .cu (CUDA), .so (built)\n"
                 "---> rename it after its language",
                 options->path);
    else if (strcmp(build->language, "c") == 0 && options->backend == BACKEND_CUDA)
        snprintf(error, error_size,
                 "%s is a host candidate, but the device is CUDA\n---> give "
                 "--device host, or a .cu candidate",
                 options->path);
    else if (strcmp(build->language, "cuda") == 0 && options->backend == BACKEND_HOST)
        snprintf(error, error_size,
                 "%s is a CUDA candidate, but the device is the host\n---> give "
                 "--device cuda on a machine with a GPU, or a .c candidate",
                 options->path);
    else
        return BUILD_OK;
    return BUILD_INPUT;
}

static enum build_status no_room(const char *what, const char *path, char *error, size_t error_size)
{
    snprintf(error, error_size,
             "cannot %s %s: %s\n---> free some room, or set TMPDIR to a "
             "directory that can be written",
             what, path, strerror(errno));
    return BUILD_ENVIRONMENT;
}

static enum build_status make_directory(struct build *build, char *error, size_t error_size)
{
    char template[400];
    int length = snprintf(template, sizeof template, "%s/unseen-XXXXXX", temporary());
    if (length >= (int)sizeof template) {
        errno = ENAMETOOLONG;
        return no_room("make a directory in", temporary(), error, error_size);
    }
    char *real = mkdtemp(template) ? realpath(template, NULL) : NULL;
    if (!real || strlen(real) >= sizeof template) {
        free(real);
        return no_room("make a directory in", temporary(), error, error_size);
    }
    snprintf(build->directory, sizeof build->directory, "%s", real);
    snprintf(build->object, sizeof build->object, "%.*s/candidate.so", (int)sizeof template, real);
    snprintf(build->log, sizeof build->log, "%.*s/build.log", (int)sizeof template, real);
    free(real);
    return BUILD_OK;
}

static bool write_all(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t wrote = write(fd, data, bytes);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        data += wrote;
        bytes -= (size_t)wrote;
    }
    return true;
}

/* Hash the file at `path` and, with `to` not NULL, copy it there. Returns 0; -1 cannot read it;
 * -2 cannot write the copy; errno says why. */
static int read_file(const char *path, const char *to, char hex[65])
{
    char buffer[16384];
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    ssize_t got;
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return -1;
    int copy = to ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    int status = to && copy < 0 ? -2 : 0;
    sha256_init(&hash);
    while (status == 0 && (got = read(from, buffer, sizeof buffer)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            status = -1;
        } else {
            sha256_update(&hash, (size_t)got, (const uint8_t *)buffer);
            if (copy >= 0 && !write_all(copy, buffer, (size_t)got))
                status = -2;
        }
    }
    sha256_digest(&hash, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    int saved = errno;
    close(from);
    if (copy >= 0 && close(copy) && status == 0)
        return -2;
    errno = saved;
    return status;
}

/* A given .so is copied, so that editing it during the run changes nothing; sources are compiled
 * in place, where their #include "..." finds its files. */
static enum build_status take_in(struct build *build, const struct build_options *options, char *error,
                                 size_t error_size)
{
    bool built = strcmp(build->language, "so") == 0;
    int status = read_file(options->path, built ? build->object : NULL, build->sha256);
    if (status == -2)
        return no_room("copy the candidate to", build->object, error, error_size);
    if (status == -1) {
        snprintf(error, error_size, "cannot read %s: %s\n---> check the file", options->path,
                 strerror(errno));
        return BUILD_INPUT;
    }
    return BUILD_OK;
}

static void keep_log(struct build *build, char *error, size_t error_size)
{
    char kept[600], ignored[65];
    size_t used = strlen(error);
    bool have = false;
    if (access(build->log, R_OK))
        return;
    const char *places[] = {".", temporary()};
    for (int i = 0; i < 2 && !have; i++) {
        snprintf(kept, sizeof kept, "%s%sunseen-build.log", i ? places[i] : "", i ? "/" : "");
        have = read_file(build->log, kept, ignored) == 0;
    }
    /* Without a place for it, the lines already in the message must do. */
    if (have)
        snprintf(error + used, error_size - used, "\n---> the compiler's full output is in %s", kept);
    snprintf(build->log, sizeof build->log, "%.*s", (int)sizeof build->log - 1, have ? kept : "");
}

static enum build_status compile(struct build *build, const struct build_options *options, char *error,
                                 size_t error_size)
{
    struct command command;
    enum build_status status = command_make(&command, build, options, error, error_size);
    if (status == BUILD_OK) {
        /* Room is left for the line that names the log. */
        size_t room = error_size > HINT_BYTES ? error_size - HINT_BYTES / 2 : error_size;
        status = command_run(&command, build, options, error, room);
        if (status == BUILD_FAILED)
            keep_log(build, error, error_size);
    }
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
        status = take_in(build, options, error, error_size);
    if (status == BUILD_OK && strcmp(build->language, "so") != 0)
        status = compile(build, options, error, error_size);
    build->seconds = clock_seconds() - begin;
    if (status != BUILD_OK)
        build_clear(build);
    return status;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

void build_clear(struct build *build)
{
    if (*build->directory)
        nftw(build->directory, remove_one, WALK_DEPTH, FTW_DEPTH | FTW_PHYS);
    *build->directory = 0;
}
