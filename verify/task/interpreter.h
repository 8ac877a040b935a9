/* A script of verify/python/ in an interpreter of its own, which executes a task: in the sandbox, without a network, seeing the
 * task and the interpreter alone, where there is a sandbox. */
#ifndef UNSEEN_INTERPRETER_H
#define UNSEEN_INTERPRETER_H

#include <limits.h>

#include "verify/isolate/python_program.h"
#include "verify/problem/folder.h"

enum { INTERPRETER_ARGUMENTS = 12, INTERPRETER_SHOWN = 4, INTERPRETER_BARE = 97, INTERPRETER_FAULT = 98 };

struct interpreter {
    struct python_program python;
    char script[PATH_MAX]; /* under verify/python/FAMILY/ */
    const char *argument[INTERPRETER_ARGUMENTS];
    const char *shown[INTERPRETER_SHOWN]; /* files and folders that it may read */
    const char *lent;                     /* the folder that it may write */
    const char *log;                      /* the file of what it prints, outside of `lent` */
    const char *source, *done;            /* for the error texts: FILE was not IMPORTED */
    double seconds;
    const char *longer; /* the option that gives it more, for the error text; NULL: none */
    bool cuda;          /* it may use the GPU */
};

/* Fills python (NULL: python3 on PATH), whether or not it has torch, and script ("verify/python/task/importer.py"). Otherwise
 * `text` says what is missing. */
enum folder_status interpreter_find(struct interpreter *it, const char *python, const char *script,
                                    char *text, size_t size);

/* Runs it to its end. An error that the script explains stands behind the mark "unseen-import: " in what it prints, with the
 * status 2; INTERPRETER_BARE says that it cannot go on without torch, INTERPRETER_FAULT that it has failed by itself. */
enum folder_status interpreter_run(const struct interpreter *it, char *text, size_t size);

#endif
