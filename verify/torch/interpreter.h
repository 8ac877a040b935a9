/* Runs a module of unseen_torch, which executes a task, in an interpreter of its own. If a sandbox is
 * available, the module runs in it, without a network, and sees only the task and the interpreter. */
#ifndef UNSEEN_INTERPRETER_H
#define UNSEEN_INTERPRETER_H

#include <limits.h>

#include "verify/sandbox/python_program.h"
#include "verify/problem/folder.h"

enum { INTERPRETER_ARGUMENTS = 12, INTERPRETER_SHOWN = 4, INTERPRETER_BARE = 97, INTERPRETER_FAULT = 98 };

struct interpreter {
    struct python_program python;
    char start[PATH_MAX]; /* PYTHON_START */
    const char *module;   /* of unseen_torch: "task.importer" */
    const char *argument[INTERPRETER_ARGUMENTS];
    const char *shown[INTERPRETER_SHOWN]; /* files and folders that the module may read */
    const char *lent;                     /* the folder that the module may write */
    const char *log;                      /* the file for the module's output, outside of `lent` */
    const char *source, *done;            /* for error texts: "SOURCE was not DONE" */
    double seconds;
    const char *longer; /* the option that raises `seconds`, for the error text; NULL: none */
    bool cuda;          /* the module may use the GPU */
};

/* Fills it->python, also if that interpreter has no torch, it->start and it->module.
 * `python` NULL: python3 on PATH. On an error `text` says what is missing. */
enum folder_status interpreter_find(struct interpreter *it, const char *python, const char *module,
                                    char *text, size_t size);

/* Runs the module and waits for its end. If the module explains an error, it prints the explanation after the
 * mark "unseen-import: " and exits with 2. It exits with INTERPRETER_BARE if it needs torch, and with
 * INTERPRETER_FAULT if it failed by its own fault. On an error `text` says what was found and what to do. */
enum folder_status interpreter_run(const struct interpreter *it, char *text, size_t size);

#endif
