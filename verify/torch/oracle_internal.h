#ifndef UNSEEN_ORACLE_INTERNAL_H
#define UNSEEN_ORACLE_INTERNAL_H

#include <sys/types.h>

#include "answer_store.h"
#include "exact.h"
#include "oracle.h"

enum { ORACLE_CHANNEL = 3, ORACLE_PACKET = 1 << 17, ORACLE_WORDS = 800 };

/* The oracle's process. All zero: none. */
struct oracle_process {
    pid_t pid;
    int channel, output, pidfd;
    char words[ORACLE_WORDS]; /* the end of its printed output */
    size_t spoken;
    bool greeted;      /* the hello packet was sent, and "ready" has not come yet */
    pthread_t starter; /* in a sandbox, the process ends with this thread */
};

/* Starts the process. Returns 0, or -1; `text` says why. */
int oracle_start(struct oracle_process *process, const struct oracle_options *options, const char *script,
                 char *text, size_t size);
void oracle_stop(struct oracle_process *process);

/* oracle_send sends a packet, with a descriptor or -1. oracle_await waits for the answer, which is
 * NUL-terminated; *with is the descriptor that came with it, or -1. After any status but ORACLE_OK the
 * process is gone, and `text` says why. */
enum oracle_status oracle_send(struct oracle_process *process, const char *packet, int fd, char *text,
                               size_t size);
enum oracle_status oracle_await(struct oracle_process *process, const struct oracle_options *options,
                                char *answer, int *with, char *text, size_t size);
enum oracle_status oracle_exchange(struct oracle_process *process, const struct oracle_options *options,
                                   const char *packet, int fd, char *answer, int *with, char *text,
                                   size_t size); /* sends, then waits */

/* Offsets of tensors in the shared memory, and of the answer's `want` and `allowed`. `at` has the inputs, and
 * outputs as the candidate returned them. */
struct oracle_layout {
    int64_t at[PROBLEM_MAX_TENSORS], after[PROBLEM_MAX_TENSORS]; /* `after`: in-out tensors as returned */
    int64_t want[PROBLEM_MAX_TENSORS], allowed[PROBLEM_MAX_TENSORS];
    int64_t bytes;
    bool returned; /* outputs that are no whole numbers are there, too: the answer depends on them */
};

struct oracle {
    struct oracle_options options;
    struct oracle_process process;
    struct oracle_layout layout;
    char *memory; /* shared with the process: inputs, returned outputs, the answer; NULL: none yet */
    int64_t capacity;
    int fd;                   /* of the shared memory */
    bool handed;              /* the process has the descriptor */
    bool fresh;               /* the answer in the memory belongs to the inputs in it */
    bool kept;                /* it was taken from the store, and the process does not know its question */
    char *identity, *packet;  /* of the task; of the question in the memory */
    struct answer_key key;    /* of that question */
    struct answer_store *own; /* if the options have none */
    struct oracle_answer answer;
    char reply[ORACLE_PACKET];
    struct exact *exact; /* the last answer's graph; NULL: not fetched */
    char *graph;         /* the memory that `exact` reads */
    size_t graph_bytes;
};

/* Does a question bring tensor t: an input, or an output as returned? The second is about an in-out tensor
 * as returned. Returned indices are judged by the values that they name, so they always are part of it. */
bool oracle_brings(const struct oracle *o, int t);
bool oracle_brings_after(const struct oracle *o, int t);

/* Sets o->packet and o->key for the question in the memory. *same: it is the last one, whose answer is there,
 * too. False: out of memory. */
bool oracle_set_question(struct oracle *o, const struct instance *instance, bool *same);
/* oracle_recall gets the answer of o->key from the store into the memory; oracle_remember keeps that answer
 * (oracle_kept.c). */
bool oracle_recall(struct oracle *o, const struct instance *instance, struct oracle_answer *answer,
                   enum oracle_status *status);
void oracle_remember(struct oracle *o, const struct instance *instance, const struct oracle_answer *answer,
                     enum oracle_status status);

/* Asks the process the question in the memory, if only the store has answered it. */
enum oracle_status oracle_tell(struct oracle *o, char *text, size_t size);

/* Forgets the last answer's graph (oracle_graph.c). */
void oracle_forget_graph(struct oracle *o);

/* The packets below are malloced; NULL: out of memory. The hello packet names the task, the device and the
 * number of threads. oracle_packet asks for expected outputs. */
char *oracle_hello(const struct oracle_options *options);
char *oracle_packet(const struct problem *problem, const struct instance *instance,
                    const struct oracle_layout *layout);

/* The request for inputs. at[t] is the offset of a wanted tensor, -1 for others. */
char *oracle_wish(const struct problem *problem, const struct instance *instance,
                  const struct imported_wish *wish, const int64_t *at);

/* The request whether `after` may follow `before` in one process. */
char *oracle_pair(const struct problem *problem, const struct instance *before, const struct instance *after);

/* Parses an answer's lines into *out. If the answer is an error, out->text gets its text. */
enum oracle_status oracle_read(const struct problem *problem, const char *answer, struct oracle_answer *out);

#endif
