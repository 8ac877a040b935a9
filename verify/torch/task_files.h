/* Files of a task beside the one that names it. */
#ifndef UNSEEN_TASK_FILES_H
#define UNSEEN_TASK_FILES_H

#include <limits.h>

enum { TASK_FILES = 3 };

/* Lists the files and folders that the readers of unseen_torch read with the task at the absolute path
 * `source`, and returns their number. The first is the file or directory itself. The others are workloads
 * of a definition, input groups of a Python file, and modules that tasks of gpu-mode or KernelBench-X share.
 */
int task_files(const char *source, char path[TASK_FILES][PATH_MAX]);

#endif
