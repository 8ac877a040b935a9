#include "child_table.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#include "child.h"

enum { TABLE_SIZE = 64 };

/* Lock-free, since child_stop_all runs in a signal handler. 0: free. */
static atomic_int table[TABLE_SIZE];

void child_table_add(pid_t pid)
{
    for (int i = 0; i < TABLE_SIZE; i++) {
        int free_entry = 0;
        if (atomic_compare_exchange_strong(&table[i], &free_entry, (int)pid))
            return;
    }
    /* More than the table holds: a runner still dies with its parent (PR_SET_PDEATHSIG). */
}

void child_table_remove(pid_t pid)
{
    for (int i = 0; i < TABLE_SIZE; i++) {
        int expected = (int)pid;
        if (atomic_compare_exchange_strong(&table[i], &expected, 0))
            return;
    }
}

void child_stop_all(void)
{
    int saved = errno;
    for (int i = 0; i < TABLE_SIZE; i++) {
        int pid = atomic_load(&table[i]);
        if (pid > 0) {
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL);
        }
    }
    errno = saved;
}
