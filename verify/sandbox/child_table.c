#include "child_table.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "verify/util/defence.h"

/* room for 64 workers, each with a running process and waiting ones, and for compilers */
enum { TABLE_SIZE = 1024 };

/* Lock-free, since child_stop_all runs in a signal handler. 0: free. */
static atomic_int table[TABLE_SIZE];
static atomic_bool stopped;

static void stop(int pid)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
}

/* Enters a process; kills it if it was started just before the interrupt and entered just after. */
static void enter(pid_t pid)
{
    for (int i = 0; i < TABLE_SIZE; i++) {
        int free_entry = 0;
        if (atomic_compare_exchange_strong(&table[i], &free_entry, (int)pid)) {
            if (atomic_load(&stopped))
                stop(pid);
            return;
        }
    }
    /* The table is full: a runner still dies with its parent (PR_SET_PDEATHSIG). */
}

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

void child_table_starting(void)
{
    pthread_mutex_lock(&starting);
}

void child_table_started(pid_t pid)
{
    if (pid > 0)
        enter(pid);
    pthread_mutex_unlock(&starting);
}

static bool is_known(int pid)
{
    for (int i = 0; i < TABLE_SIZE; i++)
        if (atomic_load(&table[i]) == pid)
            return true;
    return false;
}

/* Set before any process is started; before that there is nothing to sweep. */
static atomic_bool adopting;

void child_table_adopt(void)
{
    atomic_store(&adopting, true);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* each time: a fork does not inherit it */
}

/* Appends the children of one thread that are not in the table to pid[count], ..; returns the new count. */
static int list_strangers(const char *list, pid_t *pid, int count, int most)
{
    int found;
    FILE *children = fopen(list, "re");
    while (children && count < most && fscanf(children, "%d", &found) == 1)
        if (found > 0 && !is_known(found))
            pid[count++] = found;
    if (children)
        fclose(children);
    return count;
}

static int all_strangers(pid_t *pid, int most)
{
    char list[64];
    int count = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *t; threads && (t = readdir(threads));)
        if (t->d_name[0] != '.') {
            snprintf(list, sizeof list, "/proc/self/task/%.20s/children", t->d_name);
            count = list_strangers(list, pid, count, most);
        }
    if (threads)
        closedir(threads);
    return count;
}

int child_table_strangers(pid_t *pid, int most)
{
    if (!atomic_load(&adopting) || !defence_is_on(DEFENCE_SWEEP))
        return 0;
    pthread_mutex_lock(&starting);
    const int count = all_strangers(pid, most);
    pthread_mutex_unlock(&starting);
    return count;
}

/* A killed process leaves its children to this one, so the sweep is repeated. */
void child_table_sweep(void)
{
    enum { ROUNDS = 64, AT_ONCE = 256 };
    pid_t pid[AT_ONCE];
    if (!atomic_load(&adopting))
        return;
    pthread_mutex_lock(&starting);
    for (int round = 0, count = 1; count > 0 && round < ROUNDS; round++) {
        count = all_strangers(pid, AT_ONCE);
        for (int i = 0; i < count; i++)
            kill(pid[i], SIGKILL);
        for (int i = 0; i < count; i++)
            waitpid(pid[i], NULL, 0);
    }
    pthread_mutex_unlock(&starting);
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
