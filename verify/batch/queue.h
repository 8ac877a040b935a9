/* The order of a batch's verdicts: several at a time, and at the end alone what the machine took away. */
#ifndef UNSEEN_BATCH_QUEUE_H
#define UNSEEN_BATCH_QUEUE_H

#include "line.h"

/* The part that gives verdicts: a lane for each slot (lane.h). */
struct batch_judge {
    void *data;
    /* Begins the verdict of list->item[index] in a free slot. */
    void (*start)(void *data, int slot, int index, int attempt);
    json_t *(*line)(void *data, int slot); /* the line of an ended verdict; NULL: it goes on */
};

struct batch_queue {
    const struct batch_list *list;
    json_t **line; /* the line of each item; NULL: it is to run */
    int jobs;
    /* Gets each new line, once it is final. False: the batch ends, since it cannot be written. */
    bool (*take)(void *data, int index, const json_t *line);
    void (*watch)(void *data, int running); /* called a few times a second */
    void *data;
};

enum batch_queue_end { BATCH_DONE, BATCH_INTERRUPTED, BATCH_STOPPED };

/* Runs all items without a line. A slot goes on with items of equal problem and options, since its lane has
 * their right answers; these are in the list's order. Results do not depend on the order. An item whose
 * process was killed, or whose machine lacked something, runs again alone after all others; that line is
 * final. */
enum batch_queue_end batch_queue_run(struct batch_queue *queue, const struct batch_judge *judge);

#endif
