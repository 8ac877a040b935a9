#include "folder.h"

#include "verify/sandbox/sandbox.h"
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module.h"
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

/* --- contents of the folder --- */

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

/* An imported task has NAME.task instead of problem.c and reference.h. */
static bool is_task(const struct module_source *source)
{
    char path[MODULE_PATH + 2 * MODULE_NAME];
    snprintf(path, sizeof path, "%s/problem.c", source->folder);
    if (access(path, F_OK) == 0)
        return false;
    snprintf(path, sizeof path, "%s/%s.task", source->folder, source->name);
    return access(path, F_OK) == 0;
}

static enum folder_status find_source(struct module_source *source, const char *word, char *text, size_t size)
{
    char space[MODULE_NAME + 8], seen[MODULE_NAME + 8];
    const enum folder_status status = find_name(source, word, text, size);
    if (status != FOLDER_OK)
        return status;
    snprintf(space, sizeof space, "%s.space", source->name);
    snprintf(seen, sizeof seen, "%s.seen", source->name);
    const char *const files[] = {"problem.c", "reference.h", space, seen};
    for (int i = is_task(source) ? 2 : 0; i < 4; i++)
        if (!check_file(source, word, files[i], text, size))
            return FOLDER_INPUT;
    list_references(source);
    return FOLDER_OK;
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

static enum folder_status take_task(struct loaded *l, const struct problem **problem, const char *word,
                                    char *text, size_t size)
{
    if (tasks.read)
        l->problem = tasks.read(l->source.folder, l->source.name, text, size);
    else
        refuse_task(word, text, size);
    if (!l->problem) {
        free(l);
        return FOLDER_INPUT;
    }
    snprintf(l->word, sizeof l->word, "%s", word);
    l->next = all;
    all = l;
    *problem = l->problem;
    return FOLDER_OK;
}

static enum folder_status load(const struct problem **problem, const char *word, char *text, size_t size)
{
    struct module module;
    struct loaded *l = calloc(1, sizeof *l);
    if (!l) {
        snprintf(text, size, "out of memory");
        return FOLDER_ENVIRONMENT;
    }
    enum folder_status status = find_source(&l->source, word, text, size);
    for (struct loaded *other = all; status == FOLDER_OK && other; other = other->next)
        if (other->problem && strcmp(other->source.folder, l->source.folder) == 0) {
            *problem = other->problem;
            free(l);
            return FOLDER_OK;
        }
    if (status == FOLDER_OK && is_task(&l->source))
        return take_task(l, problem, word, text, size);
    if (status == FOLDER_OK)
        status = status_of(module_host(&module, &l->source, text, size));
    if (status != FOLDER_OK) {
        free(l);
        return status;
    }
    snprintf(l->word, sizeof l->word, "%s", word);
    l->next = all;
    all = l; /* from here on other functions find it */
    status = take_problem(l, &module, text, size);
    module_release(&module);
    if (status == FOLDER_OK) {
        snprintf(text, size, "%s", module.note);
        *problem = l->problem;
    }
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

/* Imports a task into a private folder that is removed with the process. */
static enum folder_status import_task(const struct problem **problem, const char *word, char *text,
                                      size_t size)
{
    char folder[MODULE_PATH];
    enum folder_status status = tasks.import ? tasks.import(&tasks, word, folder, sizeof folder, text, size)
                                             : refuse_task(word, text, size);
    if (status == FOLDER_OK)
        status = load(problem, folder, text, size);
    if (status == FOLDER_OK)
        snprintf(find_loaded(*problem)->word, MODULE_PATH, "%s", word);
    return status;
}

/* KernelBench-Hard's form of a task has reference.py and no problem.c. An imported folder has no
 * reference.py. */
static bool is_reference(const char *folder)
{
    char path[MODULE_PATH + 16];
    snprintf(path, sizeof path, "%.790s/problem.c", folder);
    if (access(path, F_OK) == 0)
        return false;
    snprintf(path, sizeof path, "%.790s/reference.py", folder);
    return access(path, F_OK) == 0;
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
        return is_reference(word) ? import_task(problem, word, text, size) : load(problem, word, text, size);
    if (strlen(word) > 3 && strcmp(word + strlen(word) - 3, ".py") == 0)
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
