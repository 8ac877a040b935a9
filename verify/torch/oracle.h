/* Computes the expected outputs of an imported task, in a process of its own. That process is an interpreter
 * that evaluates the task's graph (unseen_torch/oracle/serve.py). It is confined like a candidate, and never
 * sees the candidate. A session uses one oracle at a time (pool.h). The process starts at the first question
 * or earlier, and again after it has ended. */
#ifndef UNSEEN_ORACLE_H
#define UNSEEN_ORACLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/problem.h"

struct answer_store; /* answer_store.h */
struct oracle;

struct oracle_options {
    const struct problem *problem; /* must have an oracle */
    const char *python;            /* the interpreter, a path or a name on PATH; NULL: python3 */
    bool cuda;                     /* the process may use the GPU */
    int threads;
    double memory;                /* most bytes of main memory of the process; 0: no limit */
    double seconds;               /* time limit of an answer, and of the start; 0: ORACLE_SECONDS */
    struct answer_store *answers; /* where answers are kept; NULL: only the last one is */
};

enum { ORACLE_SECONDS = 600 };

/* The tensors of a configuration and a function that copies them to the host. Outputs are as the candidate
 * returned them. */
struct oracle_question {
    const struct instance *instance;
    const void *tensor[PROBLEM_MAX_TENSORS]; /* in-out tensors: as given to the candidate */
    const void *after[PROBLEM_MAX_TENSORS];  /* in-out tensors: as returned by it */
    int (*to_host)(void *to, const void *from, int64_t offset, int64_t bytes); /* 0, or an error */
};

enum oracle_status {
    ORACLE_OK,
    ORACLE_UNTOLD, /* the expected outputs of this configuration cannot be computed: `text` says why */
    ORACLE_SHORT,  /* memory ran out, in this process or in the oracle's */
    /* environment: no interpreter, no torch, a crash, a hang, or a malformed answer: `text` says which */
    ORACLE_FAILED
};

struct oracle_output {
    /* expected value and allowed error of each element, valid until the next question; NULL: an input */
    const double *want, *allowed;
    int64_t elements;
    bool enclosed; /* every value is proved to lie within an eighth of the allowed error of the exact one */
    bool ensemble; /* allowed errors come from runs with injected errors, not from a proved bound */
    /* some elements could have one of several values, and are not judged: their allowed error is infinite */
    bool open;
    bool constant;   /* the expected output is the same for very different inputs */
    double relative; /* root mean square of honest errors, divided by that of the output */
};

struct oracle_answer {
    struct oracle_output output[PROBLEM_MAX_TENSORS];
    char text[1200];
};

struct oracle *oracle_begin(const struct oracle_options *options); /* NULL when out of memory */
void oracle_end(struct oracle *oracle);                            /* NULL is fine */

/* Returns whether the oracle has these options, apart from the answers. */
bool oracle_serves(const struct oracle *oracle, const struct oracle_options *options);
/* Returns whether its process runs and was started by `thread`, with which it ends. */
bool oracle_is_of(const struct oracle *oracle, pthread_t thread);

/* Returns memory of the last answer to the system, which discards it. Call it before a long rest. */
void oracle_rest(struct oracle *oracle);

/* Begins to start the process, without waiting for it. False: it cannot start; the next question says why. */
bool oracle_prepare(struct oracle *oracle);

/* Starts the process, and waits until it is ready; otherwise the first question does so. The process ends
 * with the calling thread. */
enum oracle_status oracle_wake(struct oracle *oracle, char *text, size_t size);

/* Fills *answer. An answer to equal inputs that is kept is reused, bit by bit. Indices that the candidate
 * returned count as inputs, since expected values may depend on them. */
enum oracle_status oracle_ask(struct oracle *oracle, const struct oracle_question *question,
                              struct oracle_answer *answer);

struct imported_wish; /* verify/torch/task.h */

/* Makes the wanted inputs by the task's get_inputs at the instance's sizes, malloced: bits of floats if the
 * tensor holds floats, else whole numbers. ORACLE_UNTOLD: get_inputs raises an error at these sizes. Discards
 * the last answer. */
enum oracle_status oracle_make(struct oracle *oracle, const struct instance *instance,
                               const struct imported_wish *wish, int32_t **given, char *text, size_t size);

/* Checks whether the task's own model, after computing `before`, computes `after` in the same process as it
 * does alone. It uses one model if both have the same constructor arguments. ORACLE_UNTOLD: it does not;
 * `text` says why. Discards the last answer. */
enum oracle_status oracle_admits(struct oracle *oracle, const struct instance *before,
                                 const struct instance *after, char *text, size_t size);

/* Evaluates element `index` of a tensor of the last answer again, in MPFR, from the graph alone.
 * ORACLE_UNTOLD: the element has no such evaluation, or it takes too long; `text` says why. */
enum oracle_status oracle_hear(struct oracle *oracle, int tensor, int64_t index, double *value, char *text,
                               size_t size);

#endif
