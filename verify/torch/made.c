#include "made.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "oracle.h"
#include "task.h"

static struct {
    struct oracle *oracle; /* of `problem`; NULL: none yet */
    const struct problem *problem;
    char python[PATH_MAX]; /* empty: python3 */
} made;

static void stop(void)
{
    oracle_end(made.oracle);
    made.oracle = NULL;
}

/* Serialises requests of all threads. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static bool open_for(const struct problem *problem)
{
    const struct oracle_options options = {
        .problem = problem, .python = *made.python ? made.python : NULL, .threads = 1};
    if (made.oracle && made.problem != problem)
        stop();
    if (!made.oracle)
        made.oracle = oracle_begin(&options);
    made.problem = problem;
    return made.oracle;
}

void made_wake(const struct problem *problem)
{
    char text[1200];
    pthread_mutex_lock(&turn);
    if (problem->task && imported_computes(problem->task) && open_for(problem))
        oracle_wake(made.oracle, text, sizeof text); /* on an error, the first request reports it */
    pthread_mutex_unlock(&turn);
}

static int make(const struct problem *problem, const struct instance *instance,
                const struct imported_wish *wish, int32_t **given, char *text, size_t size)
{
    enum oracle_status status = ORACLE_SHORT;
    pthread_mutex_lock(&turn);
    if (open_for(problem))
        status = oracle_make(made.oracle, instance, wish, given, text, size);
    if (status == ORACLE_FAILED) /* the process may have ended with the thread that started it */
        status = oracle_make(made.oracle, instance, wish, given, text, size);
    pthread_mutex_unlock(&turn);
    if (status == ORACLE_OK || status == ORACLE_SHORT)
        *text = '\0';
    return status == ORACLE_OK ? 0 : status == ORACLE_UNTOLD ? 1 : -1;
}

void made_begin(const char *python)
{
    if (strcmp(made.python, python ? python : "") != 0)
        made_end();
    snprintf(made.python, sizeof made.python, "%s", python ? python : "");
    imported_made_by(make);
}

void made_end(void)
{
    stop();
    imported_made_by(NULL);
}
