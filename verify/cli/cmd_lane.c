/* unseen lane: a process of unseen batch that gives one verdict of verify after the other. It is no command
 * for users. verify/batch/lane.h describes its channel. */
#include "cmd_lane.h"

#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reports/record/program.h"
#include "verify/batch/lane.h"
#include "verify/build/scratch.h"
#include "verify/device/processors.h"
#include "verify/sandbox/child_table.h"
#include "verify/session/shared.h"
#include "verify/util/interrupt.h"
#include "verify/util/packet.h"

/* Rows that a lane gives verdicts for. Then a new one takes its place, and its memory is free. */
enum { ROWS_MOST = 500 };

struct row {
    char text[LANE_ROW_BYTES];
    char *word[LANE_ROW_BYTES / 2 + 1]; /* in `text`; NULL ends them */
    int words, log;
};

static bool is_channel(void)
{
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(LANE_CHANNEL, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET &&
           fcntl(LANE_CHANNEL, F_SETFD, FD_CLOEXEC) == 0;
}

/* Waits for a row. False: the batch has ended. */
static bool receive(struct row *row)
{
    const ssize_t size = packet_receive(LANE_CHANNEL, row->text, sizeof row->text, &row->log, 1, 0);
    if (size <= 0 || row->log < 0 || row->text[size - 1] != '\0')
        return false;
    row->words = 0;
    for (char *word = row->text; word < row->text + size; word += strlen(word) + 1)
        row->word[row->words++] = word;
    row->word[row->words] = NULL;
    return row->words > 1;
}

/* Gives the row's verdict as a process of its own would. options_apply sets all settings anew. */
static int serve(const struct command *verify, struct row *row, struct shared_judge *shared)
{
    if (dup2(row->log, STDOUT_FILENO) < 0 || dup2(row->log, STDERR_FILENO) < 0)
        return EXIT_ENVIRONMENT;
    close(row->log);
    __fpurge(stdout); /* a full disk may have left some */
    clearerr(stdout);
    program_remember(row->word);
    omp_set_num_threads(processors_available());
    const int status = options_run(verify, row->words - 1, row->word + 1, shared);
    child_table_sweep(); /* processes that the candidate left */
    return status;
}

int lane_serve(const struct command *verify, const char *lanes)
{
    struct shared_judge shared;
    struct row *const row = is_channel() ? malloc(sizeof *row) : NULL;
    if (!row) {
        options_error("unseen lane serves a batch; expected a channel to it\n"
                      "---> unseen batch starts what it needs");
        return EXIT_USAGE;
    }
    int status = EXIT_GENERAL;
    shared_judge_open(&shared, atoi(lanes), getppid());
    for (int rows = 1; receive(row); rows++) {
        status = serve(verify, row, &shared);
        /* An interrupt stays, and so may trouble with the machine, such as a lost device. Then no row may
         * follow. The end tells the status, too. */
        if (is_interrupted() || status == EXIT_ENVIRONMENT || rows == ROWS_MOST ||
            packet_send(LANE_CHANNEL, &status, sizeof status, NULL, 0, 0) < 0)
            break;
    }
    shared_judge_close(&shared);
    free(row);
    scratch_remove_all(); /* tasks that it imported */
    return status;
}
