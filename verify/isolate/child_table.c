#include "child_table.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "child.h"

enum { TABLE_SIZE = 64 };

/* Lock-free, since child_stop_all runs in a signal handler. 0: free. */
static atomic_int table[TABLE_SIZE];
static atomic_bool stopped;

static void stop(int pid)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
}

/* A process that was started just before the interrupt, and is entered just after, ends here. */
void child_table_add(pid_t pid)
{
    for (int i = 0; i < TABLE_SIZE; i++) {
        int free_entry = 0;
        if (atomic_compare_exchange_strong(&table[i], &free_entry, (int)pid)) {
            if (atomic_load(&stopped))
                stop(pid);
            return;
        }
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

int child_count(void)
{
    int count = 0;
    for (int i = 0; i < TABLE_SIZE; i++)
        count += atomic_load(&table[i]) > 0;
    return count;
}

void child_stop_all(void)
{
    int saved = errno;
    atomic_store(&stopped, true);
    for (int i = 0; i < TABLE_SIZE; i++) {
        int pid = atomic_load(&table[i]);
        if (pid > 0)
            stop(pid);
    }
    errno = saved;
}
