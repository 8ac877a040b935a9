/* A task's file to a problem's folder, by verify/python/task/ in an interpreter of its own. */
#ifndef UNSEEN_IMPORTING_H
#define UNSEEN_IMPORTING_H

#include "verify/problem/folder.h"

enum { IMPORT_SECONDS = 600 };

struct importing {
    const char *source;    /* a .py file, or a directory with reference.py */
    const char *directory; /* where the folder NAME is made; NULL: a private one, gone with the process */
    const char *name;      /* NULL: after the source */
    const char *python;    /* the interpreter; NULL: python3 on PATH */
    const char *vary;      /* sizes that would stay, with commas; NULL: none */
    double seconds;        /* that it may take; 0: IMPORT_SECONDS */
};

/* Importing executes the task: in the sandbox, without a network, seeing the task's file and the interpreter alone, where there
 * is a sandbox. `folder` gets the path of what was written. On anything but FOLDER_OK nothing is left behind, and `text` says what
 * was found, what was expected and what to do. */
enum folder_status importing_run(const struct importing *importing, char *folder, size_t folder_size,
                                 char *text, size_t size);

#endif
