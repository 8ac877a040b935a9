/* A temporary working directory for tests of files, which holds temporary files and the caches, too. */
#ifndef UNSEEN_TESTS_WORK_FOLDER_H
#define UNSEEN_TESTS_WORK_FOLDER_H

extern char work_folder[64]; /* its path */

void work_folder_enter(void);
/* Removes it with its files. */
void work_folder_leave(void);
/* Writes a file of text. */
void work_folder_write(const char *path, const char *content);

#endif
