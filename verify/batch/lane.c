#include "lane.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/build/scratch.h"
#include "verify/sandbox/launch.h"
#include "verify/util/clock.h"
#include "verify/util/packet.h"

enum { REASON = 2000, EXIT_VERDICTS = 1, EXIT_REFUSED = 2, INTERRUPTED = 130 };

int batch_lanes_open(struct batch_lanes *lanes, const struct batch_list *list, int jobs, const char *results,
                     char *error, size_t error_size)
{
    struct stat status;
    *lanes = (struct batch_lanes){.list = list, .jobs = jobs, .results = results};
    const ssize_t length = readlink("/proc/self/exe", lanes->program, sizeof lanes->program - 1);
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
    return scratch_open(lanes->directory, sizeof lanes->directory, error, error_size) == BUILD_OK ? 0 : -1;
}

/* "0007-kernel.c.json": the number tells apart ids that are alike as file names. */
static void name_result(const struct batch_lanes *lanes, struct batch_slot *slot)
{
    const char *const id = lanes->list->item[slot->index].id, *const slash = strrchr(id, '/');
    char name[100];
    snprintf(name, sizeof name, "%.90s", slash && slash[1] ? slash + 1 : id);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '_';
    snprintf(slot->result, sizeof slot->result, "%.1000s/%04d-%s.json",
             lanes->results ? lanes->results : lanes->directory, slot->index + 1, name);
    snprintf(slot->log, sizeof slot->log, "%s/%d.log", lanes->directory, slot->index);
}

/* --- lanes --- */

static void end_lane(struct batch_slot *slot)
{
    static const double patience = 5; /* an idle lane removes its files, which takes a moment */
    if (!slot->pid)
        return;
    close(slot->channel);
    if (!slot->busy)
        launch_wait(slot->pid, clock_seconds() + patience);
    launch_end(slot->pid);
    slot->pid = 0;
    slot->busy = false;
}

/* Returns 0 or an errno. */
static int begin_lane(const struct batch_lanes *lanes, struct batch_slot *slot, const char *device, int log)
{
    char number[16];
    const char *const argv[] = {lanes->program, lane_command, number, NULL};
    int ends[2];
    pid_t pid;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    snprintf(number, sizeof number, "%d", lanes->jobs);
    const int failure = launch_start(
        &pid,
        &(struct launch){.argv = argv, .output = log, .bound = true, .channelled = true, .channel = ends[1]});
    close(ends[1]);
    if (failure != 0) {
        close(ends[0]);
        return failure;
    }
    slot->pid = pid;
    slot->channel = ends[0];
    slot->device = device;
    return 0;
}

/* The value of the row's last --device; empty: it has none. */
static const char *device_of(const struct batch_item *item)
{
    const char *device = "";
    for (size_t i = 0; i + 1 < json_array_size(item->words); i++)
        if (strcmp(json_string_value(json_array_get(item->words, i)), "--device") == 0)
            device = json_string_value(json_array_get(item->words, i + 1));
    return device;
}

/* --- the start of a verdict --- */

static bool add_word(char *row, size_t *used, const char *word)
{
    const size_t size = strlen(word) + 1;
    if (size > LANE_ROW_BYTES - *used)
        return false;
    memcpy(row + *used, word, size);
    *used += size;
    return true;
}

/* PROGRAM verify OPTION... --json RESULT -- PROBLEM FILE. False: they are too long. */
static bool write_row(const struct batch_lanes *lanes, const struct batch_slot *slot, char *row, size_t *used)
{
    const struct batch_item *const item = &lanes->list->item[slot->index];
    const char *const last[] = {"--json", slot->result, "--", item->problem, item->file};
    size_t i;
    json_t *word;
    bool fits = add_word(row, used, lanes->program) && add_word(row, used, "verify");
    json_array_foreach(item->words, i, word) fits = fits && add_word(row, used, json_string_value(word));
    for (i = 0; i < sizeof last / sizeof *last; i++)
        fits = fits && add_word(row, used, last[i]);
    return fits;
}

/* Gives the row to the slot's lane, or to a new one if there is none or it has ended. Returns 0 or an
 * errno. */
static int give(const struct batch_lanes *lanes, struct batch_slot *slot, int log)
{
    const char *const device = device_of(&lanes->list->item[slot->index]);
    char row[LANE_ROW_BYTES];
    size_t size = 0;
    if (!write_row(lanes, slot, row, &size))
        return E2BIG;
    if (slot->pid && strcmp(slot->device, device) != 0)
        end_lane(slot);
    if (slot->pid && packet_send(slot->channel, row, size, &log, 1, 0) >= 0)
        return 0;
    end_lane(slot);
    const int failure = begin_lane(lanes, slot, device, log);
    if (failure != 0)
        return failure;
    /* a lane that was killed before it has its row has lost this row, as one that is killed later */
    const bool sent = packet_send(slot->channel, row, size, &log, 1, 0) >= 0;
    return sent || errno == EPIPE || errno == ECONNRESET ? 0 : errno;
}

static void start(void *data, int number, int index, int attempt)
{
    struct batch_lanes *const lanes = data;
    struct batch_slot *const slot = &lanes->slot[number];
    for (int i = 0; attempt > 1 && i < BATCH_JOBS; i++) /* it runs alone, in a new process */
        end_lane(&lanes->slot[i]);
    slot->index = index;
    slot->attempt = attempt;
    slot->start = clock_seconds();
    *slot->why = '\0';
    name_result(lanes, slot);
    unlink(slot->result);
    const int log = open(slot->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    const int failure = log < 0 ? errno : give(lanes, slot, log);
    slot->busy = failure == 0;
    if (failure != 0)
        snprintf(slot->why, sizeof slot->why, "verify could not be started: %s", strerror(failure));
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

/* Has the lane answered? *status becomes a wait status. */
static bool has_answer(const struct batch_slot *slot, int *status)
{
    int answer;
    if (packet_receive(slot->channel, &answer, sizeof answer, NULL, 0, MSG_DONTWAIT) != sizeof answer)
        return false;
    *status = W_EXITCODE(answer, 0);
    return true;
}

/* Has the row ended, with an answer of its lane or together with it? */
static bool has_ended(struct batch_slot *slot, int *status)
{
    if (!slot->busy || has_answer(slot, status)) {
        slot->busy = false;
        return true;
    }
    if (!launch_wait(slot->pid, clock_seconds()))
        return false;
    const bool answered = has_answer(slot, status); /* just before its end */
    const int end = launch_end(slot->pid);
    close(slot->channel);
    slot->pid = 0;
    slot->busy = false;
    if (!answered)
        *status = end;
    return true;
}

static json_t *line(void *data, int number)
{
    struct batch_lanes *const lanes = data;
    struct batch_slot *const slot = &lanes->slot[number];
    char reason[REASON];
    int status = 0;
    if (!has_ended(slot, &status))
        return NULL;
    json_t *const result = *slot->why || !WIFEXITED(status) || WEXITSTATUS(status) > EXIT_VERDICTS
                               ? NULL
                               : json_load_file(slot->result, 0, NULL);
    struct batch_end end = {.result = result,
                            .path = lanes->results && result ? slot->result : NULL,
                            .seconds = clock_seconds() - slot->start,
                            .attempts = slot->attempt};
    describe_end(slot, status, &end, reason);
    json_t *const out = batch_line(&lanes->list->item[slot->index], &end);
    json_decref(result);
    unlink(slot->log);
    if (!lanes->results || !end.path)
        unlink(slot->result);
    return out;
}

struct batch_judge batch_lanes_judge(struct batch_lanes *lanes)
{
    return (struct batch_judge){lanes, start, line};
}

void batch_lanes_close(struct batch_lanes *lanes)
{
    for (int i = 0; i < BATCH_JOBS; i++)
        end_lane(&lanes->slot[i]);
    if (*lanes->directory)
        scratch_remove(lanes->directory);
    *lanes->directory = '\0';
}
