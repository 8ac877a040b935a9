#include "folder_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/sandbox/sandbox.h"

static bool is_identifier(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return strlen(name) < MODULE_NAME;
}

static enum folder_status find_name(struct module_source *source, const char *word, char *text, size_t size)
{
    char *real = realpath(word, NULL);
    const char *const name = real && strcmp(real, "/") != 0 ? strrchr(real, '/') + 1 : "";
    enum folder_status status = FOLDER_INPUT;
    if (!real)
        snprintf(text, size, "%s: %s; a problem's folder was expected\n---> check the path", word,
                 strerror(errno));
    else if (strpbrk(real, "\"\n") || strlen(real) >= sizeof source->folder)
        snprintf(
            text, size,
            "%s: its path is too long or has a quote in it, which no #include can name\n---> move the folder",
            word);
    else if (!is_identifier(name))
        snprintf(text, size,
                 "the folder %s is called '%s'; a name of letters, digits and '_' was expected, since the "
                 "candidate's "
                 "function has it\n---> rename the folder",
                 word, name);
    else {
        snprintf(source->folder, sizeof source->folder, "%s", real);
        sandbox_add_source(real); /* kernels in the folder may include its files */
        snprintf(source->name, sizeof source->name, "%s", name);
        status = FOLDER_OK;
    }
    free(real);
    return status;
}

/* The folder was renamed after an import: it has OTHER.task. */
static bool is_renamed(const struct module_source *source, const char *word, char *text, size_t size)
{
    char found[MODULE_PATH] = "";
    DIR *directory = opendir(source->folder);
    for (struct dirent *entry; directory && !*found && (entry = readdir(directory)) != NULL;) {
        const char *const ending = strrchr(entry->d_name, '.');
        if (ending && ending != entry->d_name && strcmp(ending, ".task") == 0)
            snprintf(found, sizeof found, "%.*s", (int)(ending - entry->d_name), entry->d_name);
    }
    if (directory)
        closedir(directory);
    if (*found)
        snprintf(
            text, size,
            "the folder %s holds %s.task; %s.task was expected, since a task is called as its folder is\n"
            "---> rename the folder to %s, or import the task again",
            word, found, source->name, found);
    return *found;
}

static bool check_file(const struct module_source *source, const char *word, const char *file, char *text,
                       size_t size)
{
    char path[MODULE_PATH + 2 * MODULE_NAME];
    snprintf(path, sizeof path, "%s/%s", source->folder, file);
    if (access(path, R_OK) == 0)
        return true;
    const int error = errno;
    if (strcmp(file, "problem.c") == 0 && error == ENOENT && is_renamed(source, word, text, size))
        return false;
    snprintf(
        text, size,
        "the folder %s has no %s: %s; problem.c, reference.h, %s.space and %s.seen were expected, or what "
        "`unseen import` wrote\n---> write it, or begin with `unseen new %s --like softmax`",
        word, file, strerror(error), source->name, source->name, source->name);
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Lists "" for reference.h, then OUTPUT for every reference_OUTPUT.h, sorted by name. */
static void list_references(struct module_source *source)
{
    static const char prefix[] = "reference_";
    DIR *directory = opendir(source->folder);
    source->output_count = 1;
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        const size_t length = strlen(entry->d_name);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || length < sizeof prefix + 2 ||
            length - strlen(prefix) - 2 >= MODULE_NAME || strcmp(entry->d_name + length - 2, ".h") != 0 ||
            source->output_count == MODULE_REFERENCES)
            continue;
        snprintf(source->outputs[source->output_count++], MODULE_NAME, "%.*s",
                 (int)(length - strlen(prefix) - 2), entry->d_name + strlen(prefix));
    }
    if (directory)
        closedir(directory);
    qsort(source->outputs[1], (size_t)source->output_count - 1, sizeof source->outputs[1], by_name);
}

bool folder_is_task(const struct module_source *source)
{
    char path[MODULE_PATH + 2 * MODULE_NAME];
    snprintf(path, sizeof path, "%s/problem.c", source->folder);
    if (access(path, F_OK) == 0)
        return false;
    snprintf(path, sizeof path, "%s/%s.task", source->folder, source->name);
    return access(path, F_OK) == 0;
}

enum folder_status folder_find_source(struct module_source *source, const char *word, char *text, size_t size)
{
    char space[MODULE_NAME + 8], seen[MODULE_NAME + 8];
    const enum folder_status status = find_name(source, word, text, size);
    if (status != FOLDER_OK)
        return status;
    snprintf(space, sizeof space, "%s.space", source->name);
    snprintf(seen, sizeof seen, "%s.seen", source->name);
    const char *const files[] = {"problem.c", "reference.h", space, seen};
    for (int i = folder_is_task(source) ? 2 : 0; i < 4; i++)
        if (!check_file(source, word, files[i], text, size))
            return FOLDER_INPUT;
    list_references(source);
    return FOLDER_OK;
}

bool folder_is_of_a_benchmark(const char *folder)
{
    /* the marks of unseen_torch.readers; none of them is in a problem's folder */
    static const char *const marks[] = {"reference.py", "definition.json", "func_forward.py",
                                        "pytorch_code_module"};
    char path[MODULE_PATH + 32];
    snprintf(path, sizeof path, "%.790s/problem.c", folder);
    bool found = false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks && access(path, F_OK) != 0 && !found; i++) {
        char mark[MODULE_PATH + 32];
        snprintf(mark, sizeof mark, "%.790s/%s", folder, marks[i]);
        found = access(mark, F_OK) == 0;
    }
    return found;
}

/* --- has it changed? --- */

enum { WALK_DEPTH = 16 };
static _Thread_local uint64_t walked;

static void mix(uint64_t value)
{
    walked = (walked ^ value) * 1099511628211u; /* FNV-1a, by words */
}

static int mix_file(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)walk;
    for (const char *c = path; *c; c++)
        mix((unsigned char)*c);
    mix((uint64_t)kind);
    if (kind == FTW_D) /* its files are walked by themselves, and others may put files of their own there */
        return 0;
    mix(status->st_ino);
    mix((uint64_t)status->st_size);
    mix((uint64_t)status->st_mtim.tv_sec << 30 ^ (uint64_t)status->st_mtim.tv_nsec);
    mix((uint64_t)status->st_ctim.tv_sec << 30 ^ (uint64_t)status->st_ctim.tv_nsec);
    return 0;
}

uint64_t folder_stamp(const char *path)
{
    walked = 14695981039346656037u;
    return nftw(path, mix_file, WALK_DEPTH, 0) == 0 ? walked : 0;
}
