#include "process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/build/scratch.h"
#include "verify/sandbox/launch.h"
#include "verify/util/clock.h"

enum { REASON = 2000, EXIT_VERDICTS = 1, EXIT_REFUSED = 2, INTERRUPTED = 130 };

int batch_process_open(struct batch_process *process, const struct batch_list *list, const char *results,
                       char *error, size_t error_size)
{
    struct stat status;
    *process = (struct batch_process){.list = list, .results = results};
    const ssize_t length = readlink("/proc/self/exe", process->program, sizeof process->program - 1);
    if (length <= 0) {
        snprintf(error, error_size, "cannot find this program in /proc: %s\n---> mount /proc",
                 strerror(errno));
        return -1;
    }
    if (results && mkdir(results, 0777) != 0 &&
        (errno != EEXIST || stat(results, &status) != 0 || !S_ISDIR(status.st_mode))) {
        snprintf(error, error_size, "cannot make the folder %s: %s\n---> give --results another path",
                 results, strerror(errno));
        return -1;
    }
    return scratch_open(process->directory, sizeof process->directory, error, error_size) == BUILD_OK ? 0
                                                                                                      : -1;
}

/* "0007-kernel.c.json": the number tells apart ids that are alike as file names. */
static void name_result(const struct batch_process *process, struct batch_slot *slot)
{
    const char *const id = process->list->item[slot->index].id, *const slash = strrchr(id, '/');
    char name[100];
    snprintf(name, sizeof name, "%.90s", slash && slash[1] ? slash + 1 : id);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '_';
    snprintf(slot->result, sizeof slot->result, "%.1000s/%04d-%s.json",
             process->results ? process->results : process->directory, slot->index + 1, name);
    snprintf(slot->log, sizeof slot->log, "%s/%d.log", process->directory, slot->index);
}

/* verify OPTION... --json RESULT -- PROBLEM FILE. NULL: out of memory. */
static const char **make_words(const struct batch_process *process, const struct batch_slot *slot)
{
    const struct batch_item *const item = &process->list->item[slot->index];
    const size_t options = json_array_size(item->words);
    const char **const argv = calloc(options + 8, sizeof *argv);
    size_t n = 0, i;
    json_t *word;
    if (!argv)
        return NULL;
    argv[n++] = process->program;
    argv[n++] = "verify";
    json_array_foreach(item->words, i, word) argv[n++] = json_string_value(word);
    argv[n++] = "--json";
    argv[n++] = slot->result;
    argv[n++] = "--";
    argv[n++] = item->problem;
    argv[n] = item->file;
    return argv;
}

static void start(void *data, int number, int index, int attempt)
{
    struct batch_process *const process = data;
    struct batch_slot *const slot = &process->slot[number];
    pid_t pid = 0;
    *slot = (struct batch_slot){.index = index, .attempt = attempt, .start = clock_seconds()};
    name_result(process, slot);
    unlink(slot->result);
    const int log = open(slot->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    const char **const argv = make_words(process, slot);
    int failure = log < 0 ? errno : ENOMEM;
    if (log >= 0 && argv)
        failure = launch_start(&pid, &(struct launch){.argv = argv, .output = log, .bound = true});
    if (failure == 0)
        slot->pid = pid;
    else
        snprintf(slot->why, sizeof slot->why, "verify could not be started: %s", strerror(failure));
    free(argv);
    if (log >= 0)
        close(log);
}

/* --- the end of a verdict --- */

/* Copies the error that the log ends with: from the last line that begins with the program's name. */
static void read_reason(const char *log, char reason[REASON])
{
    size_t size = 0;
    char *const text = scratch_read_own(log, &size);
    const char *found = text ? text : "";
    for (const char *next = text; next && (next = strstr(next, "\nunseen")) != NULL; next++)
        found = next + 1;
    if (text && strncmp(found, "unseen", 6) != 0 && size > REASON - 1)
        found = text + size - (REASON - 1);
    const char *const words = strncmp(found, "unseen", 6) == 0 ? strstr(found, ": ") : NULL;
    snprintf(reason, REASON, "%s", words ? words + 2 : found);
    for (size_t n = strlen(reason); n > 0 && reason[n - 1] == '\n'; n--)
        reason[n - 1] = '\0';
    for (char *c = reason; *c; c++) /* a candidate's words may be in it; JSON takes UTF-8 only */
        if ((*c < ' ' && *c != '\n') || *c > '~')
            *c = '?';
    free(text);
}

static void describe_end(const struct batch_slot *slot, int status, struct batch_end *end,
                         char reason[REASON])
{
    *reason = '\0';
    end->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (*slot->why)
        snprintf(reason, REASON, "%s", slot->why);
    else if (WIFSIGNALED(status))
        snprintf(reason, REASON, "verify was killed by signal %d%s", WTERMSIG(status),
                 WTERMSIG(status) == SIGKILL ? ", as when memory is out" : "");
    else if (end->status == INTERRUPTED)
        snprintf(reason, REASON, "verify was interrupted by another process");
    else if (end->status >= EXIT_REFUSED)
        read_reason(slot->log, reason);
    else if (!end->result)
        snprintf(reason, REASON, "verify left no result");
    if (*slot->why || end->status > EXIT_REFUSED + 1 || (!*reason && end->status >= EXIT_REFUSED))
        end->status = -1;
    if (!end->result && end->status >= 0 && end->status <= EXIT_VERDICTS)
        end->status = -1;
    end->reason = *reason ? reason : NULL;
}

static json_t *line(void *data, int number)
{
    struct batch_process *const process = data;
    struct batch_slot *const slot = &process->slot[number];
    char reason[REASON];
    int status = 0;
    if (slot->pid && !launch_wait(slot->pid, clock_seconds()))
        return NULL;
    if (slot->pid)
        status = launch_end(slot->pid);
    slot->pid = 0;
    json_t *const result = *slot->why || !WIFEXITED(status) || WEXITSTATUS(status) > EXIT_VERDICTS
                               ? NULL
                               : json_load_file(slot->result, 0, NULL);
    struct batch_end end = {.result = result,
                            .path = process->results && result ? slot->result : NULL,
                            .seconds = clock_seconds() - slot->start,
                            .attempts = slot->attempt};
    describe_end(slot, status, &end, reason);
    json_t *const out = batch_line(&process->list->item[slot->index], &end);
    json_decref(result);
    unlink(slot->log);
    if (!process->results || !end.path)
        unlink(slot->result);
    return out;
}

struct batch_judge batch_process_judge(struct batch_process *process)
{
    return (struct batch_judge){process, start, line};
}

void batch_process_close(struct batch_process *process)
{
    for (int i = 0; i < BATCH_JOBS; i++)
        if (process->slot[i].pid)
            launch_end(process->slot[i].pid);
    if (*process->directory)
        scratch_remove(process->directory);
    *process->directory = '\0';
}
