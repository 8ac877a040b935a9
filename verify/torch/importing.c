#include "importing.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "import_store.h"
#include "interpreter.h"
#include "task.h"
#include "task_files.h"
#include "verify/build/scratch.h"

enum { PROBE_SECONDS = 120, NAME_MOST = 40 };

struct run {
    char source[PATH_MAX]; /* absolute, without symbolic links */
    char file[TASK_FILES][PATH_MAX];
    struct interpreter it;
    char scratch[512]; /* private; the only folder that the interpreter may write */
    char written[600], log[600];
    char name[NAME_MOST + 16];
    bool made; /* the target directory was created */
};

/* --- names and places --- */

/* Derives a name: level1/67_conv_standard_1D.py becomes l1_67_conv_standard_1D. */
static void name_after(char *name, size_t size, const char *source)
{
    char stem[PATH_MAX], level[16] = "";
    snprintf(stem, sizeof stem, "%s", source);
    char *slash = strrchr(stem, '/');
    if (slash && (strcmp(slash, "/reference.py") == 0 || strcmp(slash, "/definition.json") == 0)) {
        *slash = '\0';
        slash = strrchr(stem, '/');
    }
    if (slash)
        *slash = '\0';
    const char *const file = slash ? slash + 1 : stem;
    const char *const folder = slash && strrchr(stem, '/') ? strrchr(stem, '/') + 1 : "";
    if (strncmp(folder, "level", 5) == 0 && isdigit((unsigned char)folder[5]))
        snprintf(level, sizeof level, "l%.4s_", folder + 5);
    else if (isdigit((unsigned char)*file))
        snprintf(level, sizeof level, "t");
    snprintf(name, size, "%s%.*s", level, NAME_MOST, file);
    char *const dot = strrchr(name, '.');
    static const char *const endings[] = {".py", ".json", ".jsonl", ".txt"};
    for (size_t i = 0; dot && dot != name && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            *dot = '\0';
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
}

static enum folder_status prepare(struct run *run, const struct importing *importing, char *text, size_t size)
{
    struct stat status;
    if (!realpath(importing->source, run->source) || stat(run->source, &status) != 0) {
        snprintf(text, size,
                 "%s: %s; a task's file, or the directory of one, was expected\n---> check the path",
                 importing->source, strerror(errno));
        return FOLDER_INPUT;
    }
    if (importing->name)
        snprintf(run->name, sizeof run->name, "%s", importing->name);
    else
        name_after(run->name, sizeof run->name, run->source);
    const enum folder_status found =
        interpreter_find(&run->it, importing->python, "task.importer", text, size);
    if (found != FOLDER_OK)
        return found;
    if (scratch_open(run->scratch, sizeof run->scratch, text, size) != BUILD_OK)
        return FOLDER_ENVIRONMENT;
    snprintf(run->written, sizeof run->written, "%s/%s", run->scratch, run->name);
    snprintf(run->log, sizeof run->log, "%s/.log", run->scratch);
    return mkdir(run->written, 0755) == 0 ? FOLDER_OK : FOLDER_ENVIRONMENT;
}

/* --- the new folder --- */

/* Returns whether DIRECTORY/NAME can be created. Asked before the task is probed, since a probe takes half a
 * minute. */
static enum folder_status is_free(struct run *run, const char *directory, char *text, size_t size)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/%s", directory, run->name);
    if (access(folder, F_OK) == 0) {
        snprintf(text, size, "%s is there already\n---> remove it, or choose another place with --out",
                 folder);
        return FOLDER_INPUT;
    }
    run->made = access(directory, F_OK) != 0 && errno == ENOENT && mkdir(directory, 0755) == 0;
    if (access(directory, W_OK | X_OK) == 0)
        return FOLDER_OK;
    snprintf(text, size,
             "cannot make a folder in %s: %s; a directory, or a new one's name in a directory that is there, "
             "was expected\n"
             "---> make it, or choose another with --out",
             directory, strerror(errno));
    return errno == ENOENT || errno == ENOTDIR ? FOLDER_INPUT : FOLDER_ENVIRONMENT;
}

/* Returns whether the folder is complete. A task may end the interpreter with status 0. */
static enum folder_status is_written(const struct run *run, char *text, size_t size)
{
    char path[900];
    snprintf(path, sizeof path, "%s/source.py", run->written); /* the last file that the importer writes */
    if (access(path, R_OK) == 0)
        return FOLDER_OK;
    snprintf(
        text, size,
        "%s was not imported: it ended the interpreter; a module was expected\n---> put what ends it under "
        "__main__",
        run->source);
    return FOLDER_INPUT;
}

/* Copies a problem's files from the private folder into DIRECTORY/NAME. */
static enum folder_status keep(const struct run *run, const char *directory, char *folder, size_t folder_size,
                               char *text, size_t size)
{
    char from[900], to[PATH_MAX + 100], hash[65];
    snprintf(folder, folder_size, "%s/%s", directory, run->name);
    if (mkdir(folder, 0755) != 0) {
        snprintf(text, size, "cannot make %s: %s\n---> remove it, or choose another place with --out", folder,
                 strerror(errno));
        return errno == EEXIST ? FOLDER_INPUT : FOLDER_ENVIRONMENT;
    }
    for (int i = 0; i < IMPORTED_FILES; i++) {
        char file[IMPORTED_NAME];
        imported_file_name(i, run->name, file);
        snprintf(from, sizeof from, "%s/%s", run->written, file);
        snprintf(to, sizeof to, "%s/%s", folder, file);
        if (scratch_take(from, to, hash) != 0) {
            snprintf(text, size, "cannot write %s: %s\n---> free some room", to, strerror(errno));
            scratch_remove(folder);
            return FOLDER_ENVIRONMENT;
        }
    }
    return FOLDER_OK;
}

/* Runs the importer. */
static enum folder_status execute(struct run *run, const struct importing *importing, char *text, size_t size)
{
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%d", PROBE_SECONDS);
    const char *const argument[] = {run->source,
                                    run->written,
                                    run->name,
                                    seconds,
                                    importing->vary || !importing->form ? importing->vary : "",
                                    importing->form};
    memcpy(run->it.argument, argument, sizeof argument);
    run->it.source = run->source;
    for (int i = 0, count = task_files(run->source, run->file); i < count; i++)
        run->it.shown[i] = run->file[i];
    run->it.lent = run->written;
    run->it.log = run->log;
    run->it.done = "imported";
    run->it.seconds = importing->seconds > 0 ? importing->seconds : IMPORT_SECONDS;
    run->it.longer = "--compile-timeout";
    const enum folder_status status = interpreter_run(&run->it, text, size);
    return status == FOLDER_OK ? is_written(run, text, size) : status;
}

/* --- kept imports --- */

/* Private folders of this process, by key: one folder is one problem, whose oracles and answers are
 * shared. */
static struct private_folder {
    struct private_folder *next;
    char key[65], folder[PATH_MAX];
} * private_folders;

static bool find_private(const char *key, char *folder, size_t size)
{
    char path[PATH_MAX + 16];
    for (const struct private_folder *f = private_folders; f; f = f->next) {
        snprintf(path, sizeof path, "%s/source.py", f->folder);
        if (strcmp(f->key, key) == 0 && access(path, R_OK) == 0) {
            snprintf(folder, size, "%s", f->folder);
            return true;
        }
    }
    return false;
}

static void note_private(const char *key, const char *folder)
{
    struct private_folder *const made = malloc(sizeof *made);
    if (!made) /* the next import makes another folder */
        return;
    *made = (struct private_folder){.next = private_folders};
    snprintf(made->key, sizeof made->key, "%s", key);
    snprintf(made->folder, sizeof made->folder, "%s", folder);
    private_folders = made;
}

/* Imports into the private folder: one of this process or a kept one, or else by the importer. */
static enum folder_status import_once(struct run *run, const struct importing *importing, char *folder,
                                      size_t folder_size, char *text, size_t size)
{
    char key[65];
    const bool known = import_store_key(&run->it, importing, run->source, run->name, key);
    enum folder_status status = FOLDER_OK;
    if (known && find_private(key, folder, folder_size)) {
        scratch_remove(run->scratch);
        return FOLDER_OK;
    }
    snprintf(folder, folder_size, "%s", run->written);
    if (!known || !import_store_take(key, run->name, run->written, run->scratch)) {
        status = execute(run, importing, text, size);
        if (status == FOLDER_OK && known)
            import_store_keep(key, run->name, run->written, run->scratch);
    }
    if (status != FOLDER_OK)
        scratch_remove(run->scratch);
    else if (known)
        note_private(key, folder);
    return status;
}

/* --- public functions --- */

enum folder_status importing_run(const struct importing *importing, char *folder, size_t folder_size,
                                 char *text, size_t size)
{
    struct run run = {0};
    enum folder_status status = prepare(&run, importing, text, size);
    if (status != FOLDER_OK)
        return status;
    if (!importing->directory)
        return import_once(&run, importing, folder, folder_size, text, size);
    status = is_free(&run, importing->directory, text, size);
    if (status != FOLDER_OK) {
        scratch_remove(run.scratch);
        return status;
    }
    status = execute(&run, importing, text, size);
    if (status == FOLDER_OK)
        status = keep(&run, importing->directory, folder, folder_size, text, size);
    scratch_remove(run.scratch);
    if (status != FOLDER_OK && run.made)
        rmdir(importing->directory);
    return status;
}

static enum folder_status import_privately(const struct folder_tasks *tasks, const char *source, char *folder,
                                           size_t folder_size, char *text, size_t size)
{
    const struct importing importing = {.source = source, .python = tasks->python, .seconds = tasks->seconds};
    return importing_run(&importing, folder, folder_size, text, size);
}

void importing_offer(const char *python, double seconds)
{
    folder_set_tasks(&(struct folder_tasks){imported_read, import_privately, python, seconds});
}
