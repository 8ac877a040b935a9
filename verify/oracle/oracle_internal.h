#ifndef UNSEEN_ORACLE_INTERNAL_H
#define UNSEEN_ORACLE_INTERNAL_H

#include <sys/types.h>

#include "oracle.h"

enum { ORACLE_CHANNEL = 3, ORACLE_PACKET = 1 << 17, ORACLE_WORDS = 800 };

/* The process: all zero when there is none. */
struct oracle_process {
    pid_t pid;
    int channel, output, pidfd;
    char words[ORACLE_WORDS]; /* the last that it printed */
    size_t spoken;
    bool greeted;      /* it was sent what to get ready for, and has not said that it is */
    pthread_t starter; /* it ends with this thread, where there is a sandbox */
};

/* Start it; 0, or -1 and why. */
int oracle_start(struct oracle_process *process, const struct oracle_options *options, const char *script,
                 char *text, size_t size);
void oracle_stop(struct oracle_process *process);

/* Send a packet, with a descriptor or -1; and wait for the answer, NUL-terminated; *with is the descriptor that came with it
 * or -1. After anything but ORACLE_OK the process is gone, and `text` says why. */
enum oracle_status oracle_send(struct oracle_process *process, const char *packet, int fd, char *text,
                               size_t size);
enum oracle_status oracle_await(struct oracle_process *process, const struct oracle_options *options,
                                char *answer, int *with, char *text, size_t size);
enum oracle_status oracle_exchange(struct oracle_process *process, const struct oracle_options *options,
                                   const char *packet, int fd, char *answer, int *with, char *text,
                                   size_t size); /* both */

/* The packets, to be freed; NULL when out of memory. `at` says where in the shared memory a tensor lies, for outputs what
 * came back; `want` and `allowed` where the answer goes. */
struct oracle_layout {
    int64_t at[PROBLEM_MAX_TENSORS], after[PROBLEM_MAX_TENSORS]; /* `after`: of in-out tensors */
    int64_t want[PROBLEM_MAX_TENSORS], allowed[PROBLEM_MAX_TENSORS];
    int64_t bytes;
};
char *oracle_hello(const struct oracle_options *options);
char *oracle_packet(const struct problem *problem, const struct instance *instance,
                    const struct oracle_layout *layout);

/* The question for inputs: those with a place in `at`, which is -1 for others. */
char *oracle_wish(const struct problem *problem, const struct instance *instance,
                  const struct imported_wish *wish, const int64_t *at);

/* The question whether one configuration may follow the other. */
char *oracle_pair(const struct problem *problem, const struct instance *before, const struct instance *after);

/* The answer's lines into *out, whose text gets what it says otherwise. */
enum oracle_status oracle_read(const struct problem *problem, const char *answer, struct oracle_answer *out);

#endif
