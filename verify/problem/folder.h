/* A problem by its name, or by the folder that holds it. */
#ifndef UNSEEN_FOLDER_H
#define UNSEEN_FOLDER_H

#include "problems/problem.h"

enum folder_status {
    FOLDER_OK,
    FOLDER_INPUT, /* no such problem, a file missing, code that does not compile, a table that is wrong (exit 2) */
    FOLDER_ENVIRONMENT /* no compiler, no room, no headers (exit 3) */
};

/* The problem that `word` names: one of the tool's own, or, with a slash or where none has that name, a folder, whose
 * problem.c and reference.h are compiled and loaded. A loaded problem stays for the life of the process, and the same
 * folder is loaded once. A task in Python, a .py or a folder with reference.py instead of problem.c, is imported. Otherwise *problem is NULL and `text` says what was found, what was expected and what to do; with
 * FOLDER_OK `text` is empty or a note for the user. Not for several threads at a time. */
enum folder_status folder_problem(const struct problem **problem, const char *word, char *text, size_t size);

/* The interpreter for a word that is a task in Python (.py), which folder_problem imports; NULL: python3 on PATH. */
void folder_python(const char *python);

/* How long importing it may take; 0: IMPORT_SECONDS. */
void folder_import_seconds(double seconds);

/* What judges its results on a GPU of the compute capability `arch`: compiled where that has not happened. Nothing to do for the
 * tool's own problems. `text` as above. */
enum folder_status folder_prepare_cuda(const struct problem *problem, const char *arch, char *text,
                                       size_t size);

/* Does it lie in a folder of its author's, and not among the tool's own? */
bool folder_is_apart(const struct problem *problem);

/* What names it on a command line: "softmax", "./rms_norm". */
const char *folder_word(const struct problem *problem);

/* The path of NAME.ENDING (space, seen, host.seen, regress), in the folder or under shapes/; and of a source file, in the
 * folder or under problems/NAME/. 0; -1: there is none, and the path is where it would be. */
int folder_shape(const struct problem *problem, const char *ending, char *path, size_t size);
int folder_source(const struct problem *problem, const char *file, char *path, size_t size);

#endif
