/* The processes to kill when the user interrupts: runners and compilers, each leader of its own group. */
#ifndef UNSEEN_CHILD_TABLE_H
#define UNSEEN_CHILD_TABLE_H

#include <sys/types.h>

/* Call these before and after the start of a process, the second with its pid (0: it did not start). No sweep
 * runs in between. */
void child_table_starting(void);
void child_table_started(pid_t pid);
/* call it before the process is reaped, since its pid may be reused afterwards */
void child_table_remove(pid_t pid);

/* After child_table_adopt, orphaned descendants become children of this process: those of candidates without
 * a process namespace, in sessions of their own, and of a sandbox killed while it starts. child_table_sweep
 * kills all children that are not in the table. */
void child_table_adopt(void);
void child_table_sweep(void);
/* Lists them without killing: at most `most`. */
int child_table_strangers(pid_t *pid, int most);

/* Kills all processes of the table. Async-signal-safe, for SIGINT. */
void child_stop_all(void);
int child_count(void); /* number of processes in the table */

#endif
