#include "candidate_clues.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "source_clues.h"
#include "verify/torch/clue_service.h"

enum { MOST_FILES = 256, MOST_BYTES = 64 << 20, MOST_DEPTH = 12 };

/* Reads a whole file; NULL: it cannot be read, or it is larger than MOST_BYTES. */
static char *read_file(const char *path, size_t *size)
{
    struct stat status;
    FILE *const file = fopen(path, "re");
    char *text = NULL;
    if (file && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= MOST_BYTES)
        text = malloc((size_t)status.st_size + 1);
    *size = text ? fread(text, 1, (size_t)status.st_size, file) : 0;
    if (text)
        text[*size] = '\0';
    if (file)
        fclose(file);
    return text;
}

static int add_source(struct clue_list *list, const char *text_path, const char *path)
{
    size_t size;
    char *const text = read_file(text_path, &size);
    const int status = text ? source_clues(list, text, size, path) : 0;
    free(text);
    return status;
}

static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Names the file of clues from `from` on that lack one, whose text begins at `line`. */
static void place(struct clue_list *list, int from, const char *path, int line)
{
    for (int i = from; i < list->count; i++) {
        struct clue *const clue = &list->item[i];
        if (*clue->file)
            continue;
        snprintf(clue->file, sizeof clue->file, "%.63s", base_name(path));
        clue->line += line - 1;
    }
}

/* A clue of the entry file needs no name of a file. */
static void forget_name(struct clue_list *list, const char *path)
{
    const char *const name = base_name(path);
    for (int i = 0; i < list->count; i++)
        if (strncmp(list->item[i].file, name, CLUE_FILE_SIZE - 1) == 0)
            list->item[i].file[0] = '\0';
}

/* --- modules --- */

struct listing {
    struct clue_list *list;
    char *python[MOST_FILES];
    int pythons;
    int status;
};

static bool has_suffix(const char *name, const char *const *suffix)
{
    const char *const dot = strrchr(name, '.');
    for (; dot && *suffix; suffix++)
        if (strcmp(dot, *suffix) == 0)
            return true;
    return false;
}

static void add_file(struct listing *l, const char *path)
{
    static const char *const sources[] = {".c",   ".cc", ".cpp", ".cxx", ".cu", ".cuh",
                                          ".hip", ".h",  ".hpp", ".inl", NULL};
    static const char *const modules[] = {".py", NULL};
    const int before = l->list->count;
    if (has_suffix(path, sources) && add_source(l->list, path, "") != 0)
        l->status = -1;
    place(l->list, before, path, 1);
    if (has_suffix(path, modules) && l->pythons < MOST_FILES && (l->python[l->pythons] = strdup(path)))
        l->pythons++;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_folder(struct listing *l, const char *folder, int depth)
{
    struct dirent **entries;
    const int count = depth < MOST_DEPTH ? scandir(folder, &entries, NULL, by_name) : 0;
    for (int i = 0; i < count; i++) {
        char path[1024];
        struct stat status;
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && length < (int)sizeof path && lstat(path, &status) == 0) {
            if (S_ISDIR(status.st_mode))
                add_folder(l, path, depth + 1);
            else if (S_ISREG(status.st_mode))
                add_file(l, path);
        }
        free(entries[i]);
    }
    if (count > 0)
        free(entries);
}

/* A kernel's source in a string of a module. */
static void add_embedded(void *data, const char *text, size_t size, const char *file, int line)
{
    struct listing *const l = data;
    const int before = l->list->count;
    if (source_clues(l->list, text, size, file) != 0)
        l->status = -1;
    place(l->list, before, file, line > 0 ? line : 1);
}

static int add_module(struct clue_list *list, const struct build *build, char *why, size_t why_size)
{
    const struct python *const python = build_python(build);
    struct listing l = {.list = list};
    add_folder(&l, python->folder, 0);
    if (l.pythons > 0)
        python_clues(list, (const char *const *)l.python, l.pythons, python->program.path, add_embedded, &l,
                     why, why_size);
    forget_name(list, build->object);
    for (int i = 0; i < l.pythons; i++)
        free(l.python[i]);
    return l.status;
}

/* --- any candidate --- */

int candidate_clues(struct clue_list *list, const struct build *build, const char *path, char *why,
                    size_t why_size)
{
    if (why_size > 0)
        *why = '\0';
    if (build_python(build))
        return add_module(list, build, why, why_size);
    if (strcmp(build->language, "so") == 0)
        return 0;
    const int status = add_source(list, *build->text ? build->text : path, path);
    forget_name(list, path);
    return status;
}
