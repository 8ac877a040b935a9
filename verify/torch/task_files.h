/* Files of a task beside the one that names it. */
#ifndef UNSEEN_TASK_FILES_H
#define UNSEEN_TASK_FILES_H

#include <limits.h>

enum { TASK_FILES = 3 };

/* Lists the files and folders that the readers of unseen_torch read with the task at the absolute path
 * `source`: the file or directory itself first, then the workloads of a definition, the input groups of a
 * Python file, or the modules that gpu-mode's tasks share. Returns their number. */
int task_files(const char *source, char path[TASK_FILES][PATH_MAX]);

#endif
