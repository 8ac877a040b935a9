/* Imports a task: unseen_torch.task, in an interpreter of its own, turns the task's file into a problem's
 * folder. */
#ifndef UNSEEN_IMPORTING_H
#define UNSEEN_IMPORTING_H

#include "verify/problem/folder.h"

enum { IMPORT_SECONDS = 600 };

struct importing {
    const char *source; /* a file or a directory of a form of unseen_torch.readers */
    const char *form;   /* the form's name; NULL: it is recognized */
    /* where the folder NAME is made; NULL: in a private folder that ends with the process */
    const char *directory;
    const char *name;   /* NULL: derived from the source's path */
    const char *python; /* the interpreter; NULL: python3 on PATH */
    /* sizes to turn into axes although they would be constant, separated by commas; NULL: none */
    const char *vary;
    double seconds; /* time limit; 0: IMPORT_SECONDS */
};

/* Imports a task, which executes it. If a sandbox is available, the task runs in it, without a network, and
 * sees only its own file and the interpreter. Writes the new folder's path to `folder`. On an error nothing
 * is left behind, and `text` says what was found, what was expected and what to do. */
enum folder_status importing_run(const struct importing *importing, char *folder, size_t folder_size,
                                 char *text, size_t size);

/* Lets folder_problem (verify/problem/folder.h) read imported folders and import tasks, with this interpreter
 * (NULL: python3 on PATH) and time limit (0: IMPORT_SECONDS). */
void importing_offer(const char *python, double seconds);

#endif
