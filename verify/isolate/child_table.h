/* The processes to end when the user interrupts: runners and compilers, each leader of its own
 * group. */
#ifndef UNSEEN_CHILD_TABLE_H
#define UNSEEN_CHILD_TABLE_H

#include <sys/types.h>

void child_table_add(pid_t pid);
void child_table_remove(pid_t pid); /* before it is reaped: its number may name another then */

#endif
