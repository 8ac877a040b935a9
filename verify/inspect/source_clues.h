/* Clues of candidates in C, C++, CUDA and HIP. */
#ifndef UNSEEN_SOURCE_CLUES_H
#define UNSEEN_SOURCE_CLUES_H

#include <stddef.h>

#include "gen/draw/clue.h"

/* Adds the clues of C, C++, CUDA or HIP text. `text` may be preprocessed: line markers (# 12 "file.h" 3)
 * then name file and line, and text of system headers, flag 3, is left out. In other text object-like macros
 * are resolved, comments and strings are skipped, and both sides of #if are read. `main_file`: the
 * candidate's own path, whose clues get an empty file name. Returns 0, or -1 when memory is out. Never fails
 * on any bytes: what does not parse is skipped. */
int source_clues(struct clue_list *list, const char *text, size_t size, const char *main_file);

#endif
