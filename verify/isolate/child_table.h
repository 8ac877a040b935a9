/* The processes to end when the user interrupts: runners and compilers, each leader of its own
 * group. */
#ifndef UNSEEN_CHILD_TABLE_H
#define UNSEEN_CHILD_TABLE_H

#include <sys/types.h>

/* Around the start of a process: before it, and after it with its number (0: it did not start). In between nothing is
 * swept. */
void child_table_starting(void);
void child_table_started(pid_t pid);
void child_table_remove(pid_t pid); /* before it is reaped: its number may name another then */

/* What candidates without a process namespace of their own leave behind, in sessions of its own, and what a sandbox that is
 * killed while it begins leaves, becomes this process's child when its parent ends: from child_table_adopt on. child_table_sweep ends all children that are not in the table. */
void child_table_adopt(void);
void child_table_sweep(void);
/* The same, counted and not ended: at most `most` of them. */
int child_table_strangers(pid_t *pid, int most);

#endif
