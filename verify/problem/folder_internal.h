/* Shared by the files that find a problem in a folder. */
#ifndef UNSEEN_FOLDER_INTERNAL_H
#define UNSEEN_FOLDER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "folder.h"
#include "module.h"

/* Finds the files of the folder `word`, and lets compilers see it. */
enum folder_status folder_find_source(struct module_source *source, const char *word, char *text,
                                      size_t size);

/* An imported task has NAME.task instead of problem.c and reference.h. */
bool folder_is_task(const struct module_source *source);

/* KernelBench-Hard's form of a task has reference.py and no problem.c. An imported folder has no
 * reference.py. */
bool folder_is_of_a_benchmark(const char *folder);

/* A number that changes with the file, or with any file in the folder: by their sizes, times and inodes. 0:
 * it cannot be read. */
uint64_t folder_stamp(const char *path);

#endif
