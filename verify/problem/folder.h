/* Finds a problem by its name, or by its folder. */
#ifndef UNSEEN_FOLDER_H
#define UNSEEN_FOLDER_H

#include "problems/problem.h"

enum folder_status {
    FOLDER_OK,
    FOLDER_INPUT, /* no such problem, a missing file, code that does not compile, an invalid table (exit 2) */
    FOLDER_ENVIRONMENT /* no compiler, no room, no headers (exit 3) */
};

/* Finds the problem that `word` names. It is one of the tool's own; or, if `word` has a slash or no problem
 * has that name, a folder whose problem.c and reference.h are compiled and loaded. A loaded problem stays for
 * the life of the process. A folder that is unchanged gives the same problem again, and a changed one gives
 * another. A task in Python (a .py, or a folder with reference.py instead of problem.c) is imported, and
 * again if its files have changed. On errors *problem is NULL, and `text` says what was found,
 * what was expected and what to do. With FOLDER_OK `text` is empty or a note for the user. Not
 * thread-safe. */
enum folder_status folder_problem(const struct problem **problem, const char *word, char *text, size_t size);

/* Reads and imports tasks in Python, for folder_problem. This family knows nothing else of tasks. */
struct folder_tasks {
    /* Reads NAME.task of an imported folder. Returns `known`, which it returned before (NULL: nothing), if
     * the task is still the same. On an error NULL, and `text` says what was found. */
    const struct problem *(*read)(const char *folder, const char *name, const struct problem *known,
                                  char *text, size_t size);
    /* Imports `source` into a private folder, whose path it writes to `folder`. */
    enum folder_status (*import)(const struct folder_tasks *tasks, const char *source, char *folder,
                                 size_t folder_size, char *text, size_t size);
    const char *python; /* the interpreter; NULL: python3 on PATH */
    double seconds;     /* time limit of an import; 0: the default */
};

/* Without it, folder_problem refuses tasks. */
void folder_set_tasks(const struct folder_tasks *tasks);

/* Compiles, if necessary, the problem's judge for a GPU of compute capability `arch`. Does nothing for the
 * tool's own problems. `text` as above. */
enum folder_status folder_prepare_cuda(const struct problem *problem, const char *arch, char *text,
                                       size_t size);

/* Is it in a folder of its own, and not one of the tool's problems? */
bool folder_is_apart(const struct problem *problem);

/* Its name on a command line: "softmax", "./rms_norm". */
const char *folder_word(const struct problem *problem);

/* Path of NAME.ENDING (space, seen, host.seen, regress), in the folder or under shapes/; and path of a source
 * file, in the folder or under problems/NAME/. Returns 0, or -1 if there is none; then the path is where it
 * would be. */
int folder_shape(const struct problem *problem, const char *ending, char *path, size_t size);
int folder_source(const struct problem *problem, const char *file, char *path, size_t size);

#endif
