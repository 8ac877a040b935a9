/* The right answers of an imported task, from a process of its own: an interpreter that evaluates the task's graph
 * (verify/python/oracle/serve.py), confined like a candidate, which it never sees. One for each session at a time (pool.h); it starts at the
 * first question, or before, and is started anew where it ended. */
#ifndef UNSEEN_ORACLE_H
#define UNSEEN_ORACLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/problem.h"

struct oracle;

struct oracle_options {
    const struct problem *problem; /* with an oracle */
    const char *python;            /* the interpreter, a path or a name on PATH; NULL: python3 */
    bool cuda;                     /* it may use the GPU */
    int threads;
    double memory;  /* bytes of main memory that it may hold; 0: any */
    double seconds; /* for one answer, and for starting; 0: ORACLE_SECONDS */
};

enum { ORACLE_SECONDS = 600 };

/* Where a configuration's tensors lie, and how they are read; outputs as they came back. */
struct oracle_question {
    const struct instance *instance;
    const void *tensor[PROBLEM_MAX_TENSORS]; /* of an in-out tensor what the candidate was given, */
    const void *after[PROBLEM_MAX_TENSORS];  /* and what came back */
    int (*to_host)(void *to, const void *from, int64_t offset, int64_t bytes); /* 0, or an error */
};

enum oracle_status {
    ORACLE_OK,
    ORACLE_UNTOLD, /* the right answer of this configuration cannot be told: `text` says why */
    ORACLE_SHORT,  /* memory ran out, here or there */
    ORACLE_FAILED  /* environment: no interpreter, no torch, it crashed, hung, or answered nonsense: `text` */
};

struct oracle_output {
    const double *want, *allowed; /* one an element, valid until the next question; NULL: an input */
    int64_t elements;
    bool enclosed;   /* every value is proved to be within an eighth of what is allowed of the exact one */
    bool ensemble;   /* what is allowed comes from runs with injected errors, not from a proved bound */
    bool open;       /* some elements may be one thing or another, and are not judged: allowed is infinite */
    bool constant;   /* the right answer is the same for quite other inputs */
    double relative; /* how far honest errors reach, over the output's size: root mean squares */
};

struct oracle_answer {
    struct oracle_output output[PROBLEM_MAX_TENSORS];
    char text[1200];
};

struct oracle *oracle_begin(const struct oracle_options *options); /* NULL when out of memory */
void oracle_end(struct oracle *oracle);                            /* NULL is fine */

/* Is it what such options ask for? And does its process run, and end with that thread? */
bool oracle_serves(const struct oracle *oracle, const struct oracle_options *options);
bool oracle_is_of(const struct oracle *oracle, pthread_t thread);

/* Begins to start its process; false: it cannot be, and whoever asks it is told why. */
bool oracle_prepare(struct oracle *oracle);

/* Starts its process, which otherwise the first question does: it ends with the thread that has started it. */
enum oracle_status oracle_wake(struct oracle *oracle, char *text, size_t size);

/* A question about equal inputs is answered from memory, but where the answer depends on what came back (indices). */
enum oracle_status oracle_ask(struct oracle *oracle, const struct oracle_question *question,
                              struct oracle_answer *answer);

struct imported_wish; /* verify/task/task.h */

/* The inputs that are wished for as the task's own get_inputs makes them at the instance's sizes: malloced, the bits of
 * floats where the tensor holds floats, else whole numbers. ORACLE_UNTOLD: get_inputs raises an error at these sizes. Forgets the last answer. */
enum oracle_status oracle_make(struct oracle *oracle, const struct instance *instance,
                               const struct imported_wish *wish, int32_t **given, char *text, size_t size);

/* Does the task's own model compute `after` in a process in which it has computed `before`, as it does alone? By one model, where
 * both are constructed of the same. ORACLE_UNTOLD: it does not, and `text` says why. Forgets the last answer. */
enum oracle_status oracle_admits(struct oracle *oracle, const struct instance *before,
                                 const struct instance *after, char *text, size_t size);

/* Element `index` of a tensor in the last answer, evaluated once more in MPFR, from the graph alone. ORACLE_UNTOLD: it has no
 * such evaluation, or one that takes too long; `text` says why. */
enum oracle_status oracle_hear(struct oracle *oracle, int tensor, int64_t index, double *value, char *text,
                               size_t size);

#endif
