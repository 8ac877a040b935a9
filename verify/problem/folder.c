#include "folder_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paths.h"
#include "problems/suggest.h"
#include "reference/judge.h"
#include "validate.h"

/* A problem loaded from a folder. */
struct loaded {
    struct module_source source;
    char word[MODULE_PATH];
    const struct problem *problem;
    struct reference reference[MODULE_REFERENCES]; /* in the order of source.outputs */
    /* of a task that was imported here: what from, by which interpreter, and the stamp of that source */
    char imported[PATH_MAX], python[PATH_MAX];
    uint64_t stamp;
    struct loaded *next;
};

static struct loaded *all;
static struct folder_tasks tasks; /* without functions: tasks are refused */

static struct loaded *find_loaded(const struct problem *problem)
{
    struct loaded *l = all;
    while (l && l->problem != problem)
        l = l->next;
    return l;
}

static enum folder_status status_of(enum build_status status)
{
    return status == BUILD_OK ? FOLDER_OK : status == BUILD_ENVIRONMENT ? FOLDER_ENVIRONMENT : FOLDER_INPUT;
}

/* --- exports of the module --- */

static void *symbol(const struct module *module, const struct loaded *l, const char *what, const char *output)
{
    char whole[3 * MODULE_NAME];
    snprintf(whole, sizeof whole, "%s_%s%s%s", what, l->source.name, *output ? "_" : "", output);
    return dlsym(module->handle, whole);
}

static enum folder_status take_problem(struct loaded *l, const struct module *module, char *text, size_t size)
{
    const struct reference *first = symbol(module, l, "reference", "");
    l->problem = symbol(module, l, "problem", "");
    if (!l->problem) {
        module_explain_unnamed(&l->source, text, size);
        return FOLDER_INPUT;
    }
    if (!problem_validate(l->problem, &l->source, module->object, first->discrete, text, size))
        return FOLDER_INPUT;
    for (int i = 0; i < l->source.output_count; i++) {
        const struct reference *exported = symbol(module, l, "reference", l->source.outputs[i]);
        l->reference[i] = *exported;
        if (!reference_add(&l->reference[i])) {
            snprintf(text, size, "too many problems are loaded\n---> leave one out");
            return FOLDER_ENVIRONMENT;
        }
    }
    return FOLDER_OK;
}

static enum folder_status refuse_task(const char *word, char *text, size_t size)
{
    snprintf(text, size, "%s is a task in Python; a problem in C was expected\n---> use the tool `unseen`",
             word);
    return FOLDER_INPUT;
}

/* The loaded problem of that folder; NULL: there is none. */
static struct loaded *find_folder(const char *folder)
{
    struct loaded *l = all;
    while (l && strcmp(l->source.folder, folder) != 0)
        l = l->next;
    return l;
}

/* Takes it out of the list. It stays in memory: results of this process may point to its names. */
static void unlist(const struct loaded *gone)
{
    struct loaded **l = &all;
    while (*l && *l != gone)
        l = &(*l)->next;
    if (*l)
        *l = gone->next;
    if (gone->problem)
        reference_remove(gone->problem);
}

/* Puts it in the place of an earlier state of its folder. */
static void list(struct loaded *l, const char *word)
{
    struct loaded *const before = find_folder(l->source.folder);
    if (before)
        unlist(before);
    snprintf(l->word, sizeof l->word, "%s", word);
    l->next = all;
    all = l;
}

/* Its word is that of this command. */
static void name_again(struct loaded *l, const char *word)
{
    snprintf(l->word, sizeof l->word, "%s", word);
}

static enum folder_status load_task(struct loaded *l, const struct problem **problem, const char *word,
                                    char *text, size_t size)
{
    struct loaded *const before = find_folder(l->source.folder);
    if (tasks.read)
        *problem = tasks.read(l->source.folder, l->source.name, before ? before->problem : NULL, text, size);
    else
        refuse_task(word, text, size);
    if (!*problem)
        return FOLDER_INPUT;
    if (before && before->problem == *problem) {
        name_again(before, word);
        free(l);
        return FOLDER_OK;
    }
    l->problem = *problem;
    list(l, word);
    return FOLDER_OK;
}

static enum folder_status load_module(struct loaded *l, const struct problem **problem, const char *word,
                                      char *text, size_t size)
{
    struct module module;
    enum folder_status status = status_of(module_host(&module, &l->source, text, size));
    if (status != FOLDER_OK)
        return status;
    struct loaded *const before = find_folder(l->source.folder);
    const bool same = before && before->problem == symbol(&module, l, "problem", "");
    if (same) {
        *problem = before->problem;
        name_again(before, word);
        free(l);
    } else {
        list(l, word); /* from here on other functions find it */
        status = take_problem(l, &module, text, size);
        *problem = status == FOLDER_OK ? l->problem : NULL;
        if (status != FOLDER_OK)
            unlist(l);
    }
    module_release(&module);
    if (status == FOLDER_OK)
        snprintf(text, size, "%s", module.note);
    return status;
}

static enum folder_status load(const struct problem **problem, const char *word, char *text, size_t size)
{
    struct loaded *const l = calloc(1, sizeof *l);
    *problem = NULL;
    if (!l) {
        snprintf(text, size, "out of memory");
        return FOLDER_ENVIRONMENT;
    }
    enum folder_status status = folder_find_source(&l->source, word, text, size);
    if (status == FOLDER_OK)
        status = folder_is_task(&l->source) ? load_task(l, problem, word, text, size)
                                            : load_module(l, problem, word, text, size);
    if (status != FOLDER_OK)
        free(l);
    return status;
}

/* --- public functions --- */

static enum folder_status refuse_unknown(const char *word, char *text, size_t size)
{
    char names[512] = "", meant[80];
    struct suggestion near = {.word = word};
    for (const struct problem *const *p = problem_registry; *p; p++) {
        const size_t used = strlen(names);
        suggest_offer(&near, (*p)->name);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", (*p)->name);
    }
    snprintf(text, size,
             "unknown problem '%s'%s; expected one of %s, or a folder with a problem of your own\n"
             "---> unseen list says what each is",
             word, suggest_text(&near, meant, sizeof meant), names);
    return FOLDER_INPUT;
}

void folder_set_tasks(const struct folder_tasks *given)
{
    tasks = *given;
}

/* Finds the private folder that this file, or folder, was imported into. False: there is none, or it is of
 * another state of the source, or by another interpreter. */
static bool find_imported(const char *source, uint64_t stamp, char *folder, size_t size)
{
    const char *const python = tasks.python ? tasks.python : "";
    for (const struct loaded *l = all; l; l = l->next)
        if (stamp != 0 && l->stamp == stamp && strcmp(l->imported, source) == 0 &&
            strcmp(l->python, python) == 0) {
            snprintf(folder, size, "%s", l->source.folder);
            return true;
        }
    return false;
}

/* Imports a task into a private folder that is removed with the process. */
static enum folder_status import_task(const struct problem **problem, const char *word, char *text,
                                      size_t size)
{
    char folder[MODULE_PATH], source[PATH_MAX];
    const uint64_t stamp = realpath(word, source) ? folder_stamp(source) : 0; /* before it is read */
    enum folder_status status = FOLDER_OK;
    if (!find_imported(source, stamp, folder, sizeof folder))
        status = tasks.import ? tasks.import(&tasks, word, folder, sizeof folder, text, size)
                              : refuse_task(word, text, size);
    if (status == FOLDER_OK)
        status = load(problem, folder, text, size);
    if (status != FOLDER_OK)
        return status;
    struct loaded *const l = find_loaded(*problem);
    snprintf(l->word, sizeof l->word, "%s", word);
    snprintf(l->imported, sizeof l->imported, "%s", source);
    snprintf(l->python, sizeof l->python, "%s", tasks.python ? tasks.python : "");
    l->stamp = stamp;
    return FOLDER_OK;
}

enum folder_status folder_problem(const struct problem **problem, const char *word, char *text, size_t size)
{
    struct stat status;
    const bool is_path = strchr(word, '/') || strcmp(word, ".") == 0 || strcmp(word, "..") == 0;
    *text = '\0';
    *problem = is_path ? NULL : problem_find(word);
    if (*problem)
        return FOLDER_OK;
    if (stat(word, &status) != 0) {
        if (!is_path)
            return refuse_unknown(word, text, size);
        snprintf(text, size, "%s: %s; a problem's folder was expected\n---> check the path", word,
                 strerror(errno));
        return FOLDER_INPUT;
    }
    if (S_ISDIR(status.st_mode))
        return folder_is_of_a_benchmark(word) ? import_task(problem, word, text, size)
                                              : load(problem, word, text, size);
    static const char *const tasks[] = {".py", ".json", ".jsonl", ".txt"};
    const char *const ending = strrchr(word, '.');
    for (size_t i = 0; ending && i < sizeof tasks / sizeof *tasks; i++)
        if (strcmp(ending, tasks[i]) == 0)
            return import_task(problem, word, text, size);
    snprintf(text, size,
             "%s is no folder; a problem's name or folder was expected\n---> give the folder that it lies in",
             word);
    return FOLDER_INPUT;
}

enum folder_status folder_prepare_cuda(const struct problem *problem, const char *arch, char *text,
                                       size_t size)
{
    struct loaded *l = find_loaded(problem);
    struct module module;
    *text = '\0';
    if (!l || problem->task || l->reference[0].judge_cuda)
        return FOLDER_OK;
    const enum folder_status status = status_of(module_cuda(&module, &l->source, arch, text, size));
    if (status != FOLDER_OK)
        return status;
    /* ISO C lacks this conversion; POSIX requires it for dlsym */
    for (int i = 0; i < l->source.output_count; i++)
        *(void **)&l->reference[i].judge_cuda = symbol(&module, l, "judge_cuda", l->source.outputs[i]);
    module_release(&module);
    snprintf(text, size, "%s", module.note);
    return FOLDER_OK;
}

const char *folder_word(const struct problem *problem)
{
    const struct loaded *l = find_loaded(problem);
    return l ? l->word : problem->name;
}

bool folder_is_apart(const struct problem *problem)
{
    return find_loaded(problem) != NULL;
}

int folder_shape(const struct problem *problem, const char *ending, char *path, size_t size)
{
    const struct loaded *l = find_loaded(problem);
    char name[2 * MODULE_NAME];
    if (!l) {
        snprintf(name, sizeof name, "%s.%s", problem->name, ending);
        return paths_shape(path, size, name);
    }
    snprintf(path, size, "%s/%s.%s", l->source.folder, problem->name, ending);
    return access(path, F_OK);
}

int folder_source(const struct problem *problem, const char *file, char *path, size_t size)
{
    const struct loaded *l = find_loaded(problem);
    char name[4 * MODULE_NAME];
    if (!l) {
        snprintf(name, sizeof name, "problems/%s/%s", problem->name, file);
        return paths_find(path, size, name);
    }
    snprintf(path, size, "%s/%s", l->source.folder, file);
    return access(path, F_OK);
}
