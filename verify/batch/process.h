/* The judge of a batch as one process of `unseen verify` for each verdict: nothing that a candidate does to
 * it reaches another candidate, and the verdict is that of verify. */
#ifndef UNSEEN_BATCH_PROCESS_H
#define UNSEEN_BATCH_PROCESS_H

#include "queue.h"

enum { BATCH_JOBS = 64 };

struct batch_process {
    const struct batch_list *list;
    const char *results; /* the folder that keeps the JSON results; NULL: none are kept */
    char directory[400]; /* private files */
    char program[1024];  /* this program */
    struct batch_slot {
        int pid; /* 0: none was started */
        int index, attempt;
        double start;
        char result[1200], log[500], why[300];
    } slot[BATCH_JOBS];
};

/* Returns 0, or -1 with an error text. */
int batch_process_open(struct batch_process *process, const struct batch_list *list, const char *results,
                       char *error, size_t error_size);
struct batch_judge batch_process_judge(struct batch_process *process);
void batch_process_close(struct batch_process *process); /* kills what still runs */

#endif
