#include "solution.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"

enum { FILES_MOST = 4096, DEPTH_MOST = 12, PATH_ROOM = 500, LINE_BYTES = 1024, NAMES_ROOM = 300 };
static const long long bytes_most = 256LL << 20;

struct copying {
    const char *from, *to; /* the given folder, and the private one */
    char *listing;         /* "SHA-256 PATH\n" for every file; its hash is the folder's hash */
    size_t used, room;
    int files;
    long long bytes;
    char *error;
    size_t error_size;
};

/* --- the files --- */

static enum build_status refuse(const struct copying *copying, const char *below, const char *found,
                                const char *hint)
{
    snprintf(copying->error, copying->error_size,
             "%s/%.200s %s; a folder of regular files was expected\n---> %s", copying->from, below, found,
             hint);
    return BUILD_INPUT;
}

static bool add_to_listing(struct copying *copying, const char *hex, const char *below)
{
    const size_t wanted = copying->used + strlen(hex) + strlen(below) + 3;
    if (wanted > copying->room) {
        char *const larger = realloc(copying->listing, 2 * wanted);
        if (!larger)
            return false;
        copying->listing = larger;
        copying->room = 2 * wanted;
    }
    copying->used += (size_t)sprintf(copying->listing + copying->used, "%s %s\n", hex, below);
    return true;
}

static enum build_status copy_file(struct copying *copying, const char *below, const struct stat *status)
{
    char from[2 * PATH_ROOM], to[2 * PATH_ROOM], hex[65];
    copying->bytes += status->st_size;
    if (++copying->files > FILES_MOST || copying->bytes > bytes_most)
        return refuse(copying, below, "is one file too many: 4096 files and 256 MiB are the most",
                      "name a folder that holds the solution alone");
    snprintf(from, sizeof from, "%.499s/%.480s", copying->from, below);
    snprintf(to, sizeof to, "%.499s/%.480s", copying->to, below);
    const int taken = scratch_take(from, to, hex);
    if (taken == -1)
        return refuse(copying, below, strerror(errno), "check its permissions");
    if (taken == -2 || !add_to_listing(copying, hex, below))
        return scratch_no_room("copy the candidate to", to, copying->error, copying->error_size);
    return BUILD_OK;
}

static bool is_left_out(const char *name)
{
    return *name == '.' || strcmp(name, "__pycache__") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum build_status copy_tree(struct copying *copying, const char *below, int depth);

static enum build_status copy_entry(struct copying *copying, const char *folder, const char *name, int depth)
{
    char below[PATH_ROOM], path[2 * PATH_ROOM];
    struct stat status;
    if (snprintf(below, sizeof below, "%s%s%s", folder, *folder ? "/" : "", name) >= PATH_ROOM - 20)
        return refuse(copying, name, "has too long a path", "give its folders shorter names");
    snprintf(path, sizeof path, "%.499s/%.499s", copying->from, below);
    if (lstat(path, &status) != 0)
        return refuse(copying, below, strerror(errno), "check its permissions");
    if (S_ISDIR(status.st_mode))
        return copy_tree(copying, below, depth + 1);
    if (!S_ISREG(status.st_mode))
        return refuse(copying, below, S_ISLNK(status.st_mode) ? "is a link" : "is no regular file",
                      "put the file itself there");
    return copy_file(copying, below, &status);
}

/* Copies in the order of names, so that equal folders have equal hashes. */
static enum build_status copy_tree(struct copying *copying, const char *below, int depth)
{
    char path[2 * PATH_ROOM];
    struct dirent **entries;
    enum build_status status = BUILD_OK;
    if (depth > DEPTH_MOST)
        return refuse(copying, below, "lies too deep: 12 folders in each other are the most",
                      "name a folder that holds the solution alone");
    snprintf(path, sizeof path, "%.499s/%.499s", copying->to, below);
    if (*below && mkdir(path, 0700) != 0)
        return scratch_no_room("make a directory in", copying->to, copying->error, copying->error_size);
    snprintf(path, sizeof path, "%.499s/%.499s", copying->from, below);
    const int count = scandir(path, &entries, NULL, by_name);
    if (count < 0)
        return refuse(copying, below, strerror(errno), "check its permissions");
    for (int i = 0; i < count; i++) {
        if (status == BUILD_OK && !is_left_out(entries[i]->d_name))
            status = copy_entry(copying, below, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* --- the entry file --- */

enum definition { DEFINES_MODEL_NEW, DEFINES_MODEL, DEFINES_FUNCTION, IMPORTS, DEFINES_NOTHING };

static bool starts_with(const char *line, const char *word, const char *name)
{
    const size_t length = strlen(word), named = strlen(name);
    return strncmp(line, word, length) == 0 && strncmp(line + length, name, named) == 0 &&
           strchr(" (:\t\r\n", line[length + named]);
}

/* Classifies a line by its relation to `wanted` (NULL: ModelNew, Model or a function `problem`). */
static enum definition read_line(const char *line, const char *wanted, const char *problem)
{
    if (wanted)
        return starts_with(line, "class ", wanted) || starts_with(line, "def ", wanted) ? DEFINES_MODEL_NEW
               : strncmp(line, "from ", 5) == 0 && strstr(line, wanted)                 ? IMPORTS
                                                                                        : DEFINES_NOTHING;
    if (starts_with(line, "class ", "ModelNew"))
        return DEFINES_MODEL_NEW;
    if (starts_with(line, "class ", "Model"))
        return DEFINES_MODEL;
    if (problem && starts_with(line, "def ", problem))
        return DEFINES_FUNCTION;
    return strncmp(line, "from ", 5) == 0 && strstr(line, "Model") ? IMPORTS : DEFINES_NOTHING;
}

static enum definition read_file(const char *path, const char *wanted, const char *problem)
{
    char *line = NULL;
    size_t room = 0;
    enum definition best = DEFINES_NOTHING;
    FILE *const file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0) {
        const enum definition said = read_line(line, wanted, problem);
        best = said < best ? said : best;
    }
    free(line);
    if (file)
        fclose(file);
    return best;
}

static const char *const entry_names[] = {"solution.py", "model_new.py", "main.py", "kernel.py",
                                          "__init__.py"};
enum { ENTRY_NAMES = sizeof entry_names / sizeof *entry_names };

struct choice {
    char file[PATH_ROOM]; /* the chosen file */
    enum definition definition;
    int equals; /* number of files with the same definition */
    char names[NAMES_ROOM];
};

static void consider(struct choice *choice, const char *folder, const char *name, const char *wanted,
                     const char *problem)
{
    char path[2 * PATH_ROOM];
    snprintf(path, sizeof path, "%.499s/%.480s", folder, name);
    const enum definition says = read_file(path, wanted, problem);
    if (choice->equals && says > choice->definition)
        return;
    if (!choice->equals || says < choice->definition) {
        *choice = (struct choice){.definition = says};
        snprintf(choice->file, sizeof choice->file, "%.480s", name);
    }
    const size_t used = strlen(choice->names);
    choice->equals++;
    snprintf(choice->names + used, sizeof choice->names - used, "%s%.80s", used ? ", " : "", name);
}

static struct choice among_names(const char *folder, const char *wanted, const char *problem)
{
    struct choice choice = {.definition = DEFINES_NOTHING};
    char path[2 * PATH_ROOM];
    for (int i = 0; i < ENTRY_NAMES; i++) {
        snprintf(path, sizeof path, "%.499s/%s", folder, entry_names[i]);
        if (access(path, F_OK) == 0)
            consider(&choice, folder, entry_names[i], wanted, problem);
    }
    return choice;
}

static struct choice among_all(const char *folder, const char *wanted, const char *problem)
{
    struct choice choice = {.definition = DEFINES_NOTHING};
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, by_name);
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(entries[i]->d_name);
        if (length > 3 && strcmp(entries[i]->d_name + length - 3, ".py") == 0)
            consider(&choice, folder, entries[i]->d_name, wanted, problem);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return choice;
}

/* Prefers files with the usual name of an entry file, and among these files that define the wanted name. */
static struct choice choose(const char *folder, const char *wanted, const char *problem)
{
    const struct choice named = among_names(folder, wanted, problem);
    if (named.equals && named.definition < DEFINES_NOTHING)
        return named;
    const struct choice any = among_all(folder, wanted, problem);
    return named.equals == 1 && !(any.equals == 1 && any.definition < DEFINES_NOTHING) ? named : any;
}

static enum build_status find_entry(struct build *build, const struct build_options *options, char *error,
                                    size_t error_size)
{
    const struct choice choice = choose(options->path, options->entry, options->problem);
    if (choice.equals == 1) {
        snprintf(build->object, sizeof build->object, "%.390s/%.100s", build->python.folder, choice.file);
        return BUILD_OK;
    }
    if (choice.equals)
        snprintf(error, error_size,
                 "%s: found %s, any of which may be the entry; a folder with one of solution.py, "
                 "model_new.py, main.py, kernel.py and __init__.py, or with one file that defines what is "
                 "called, was expected\n---> name it: --entry FILE:NAME",
                 options->path, choice.names);
    else
        snprintf(
            error, error_size,
            "%s is a directory without a .py file; expected one .c, .cpp, .cu, .so, .py or .json file, or a "
            "folder with the entry file of a solution in Python\n---> name the file in it that holds the "
            "kernel, or --entry FILE:NAME of one that lies deeper",
            options->path);
    return BUILD_INPUT;
}

/* Parses --entry FILE:NAME, or FILE::NAME. */
static enum build_status take_named(struct build *build, const struct build_options *options,
                                    const char *colon, char *error, size_t error_size)
{
    const int length = (int)(colon - options->entry);
    char path[2 * PATH_ROOM];
    struct stat status;
    snprintf(path, sizeof path, "%.499s/%.*s", options->path, length > PATH_ROOM ? PATH_ROOM : length,
             options->entry);
    if (!solution_is_inside(options->entry, (size_t)length) || length < 4 ||
        strncmp(colon - 3, ".py", 3) != 0 ||
        snprintf(build->object, sizeof build->object, "%.390s/%.*s", build->python.folder, length,
                 options->entry) >= (int)sizeof build->object ||
        stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        snprintf(error, error_size,
                 "--entry %.200s: found no such .py file in %s; FILE:NAME was expected, FILE being a path in "
                 "that folder\n---> check its name",
                 options->entry, options->path);
        return BUILD_INPUT;
    }
    snprintf(build->python.entry, sizeof build->python.entry, "%.62s", colon + strspn(colon, ":"));
    return BUILD_OK;
}

static enum build_status copy_all(struct build *build, const struct build_options *options, char *error,
                                  size_t error_size)
{
    struct copying copying = {
        .from = options->path, .to = build->python.folder, .error = error, .error_size = error_size};
    enum build_status status = copy_tree(&copying, "", 0);
    if (status == BUILD_OK)
        scratch_hash(copying.listing ? copying.listing : "", copying.used, build->sha256);
    free(copying.listing);
    if (status == BUILD_OK && access(build->object, F_OK) != 0) {
        snprintf(error, error_size,
                 "%s: its entry file %s is not there, or is hidden; a .py file in that folder was expected\n"
                 "---> name it: --entry FILE:NAME",
                 options->path, build->object + strlen(build->python.folder) + 1);
        return BUILD_INPUT;
    }
    return status;
}

enum build_status solution_take_folder(struct build *build, const struct build_options *options, char *error,
                                       size_t error_size)
{
    char path[PATH_ROOM + 20];
    enum build_status status;
    bool whole = false;
    const char *const colon = options->entry ? strchr(options->entry, ':') : NULL;
    snprintf(path, sizeof path, "%.499s/solution.json", options->path);
    if (strlen(options->path) >= PATH_ROOM - 100) {
        snprintf(error, error_size, "the path of %.100s.. is too long\n---> give its folders shorter names",
                 options->path);
        return BUILD_INPUT;
    }
    if (colon)
        status = take_named(build, options, colon, error, error_size);
    else if (access(path, F_OK) == 0)
        status = solution_read_spec(build, path, &whole, error, error_size);
    else
        status = find_entry(build, options, error, error_size);
    return status == BUILD_OK && !whole ? copy_all(build, options, error, error_size) : status;
}
