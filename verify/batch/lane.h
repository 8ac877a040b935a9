/* The judge of a batch: lanes, one for each slot. A lane is a process of this program that gives one verdict
 * of `unseen verify` after the other, so that a verdict finds the device open and the right answers of the
 * last ones. If a row ends its lane, only that row is lost, and the next one gets a new lane. */
#ifndef UNSEEN_BATCH_LANE_H
#define UNSEEN_BATCH_LANE_H

#include "queue.h"

/* The channel is a socket of kind SOCK_SEQPACKET. A packet to the lane is a row: the words of its command
 * line, each with its NUL, beside the descriptor of its log. The answer is the exit status as an int. A lane
 * that ends instead of answering ends with that status. */
enum { LANE_CHANNEL = 3, LANE_ROW_BYTES = 1 << 17 };
static const char lane_command[] = "lane";

enum { BATCH_JOBS = 64 };

struct batch_lanes {
    const struct batch_list *list;
    int jobs;            /* the most lanes at a time */
    const char *results; /* the folder that keeps the JSON results; NULL: none are kept */
    char directory[400]; /* private files */
    char program[1024];  /* this program */
    struct batch_slot {
        int pid, channel;   /* of its lane; pid 0: there is none */
        const char *device; /* the --device of the lane's rows: a process has one GPU */
        bool busy;
        int index, attempt; /* of its row */
        double start;
        char result[1200], log[500], why[300];
    } slot[BATCH_JOBS];
};

/* Returns 0, or -1 with an error text. */
int batch_lanes_open(struct batch_lanes *lanes, const struct batch_list *list, int jobs, const char *results,
                     char *error, size_t error_size);
struct batch_judge batch_lanes_judge(struct batch_lanes *lanes);
void batch_lanes_close(struct batch_lanes *lanes); /* kills what still runs */

#endif
