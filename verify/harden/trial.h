/* Configurations of an imported task on which wrong outputs are tried, and what each check says of them: asked of an interpreter
 * that executes the task (verify/python/harden). */
#ifndef UNSEEN_HARDEN_TRIAL_H
#define UNSEEN_HARDEN_TRIAL_H

#include <jansson.h>

#include "verify/session/task.h"

/* What a check says of one wrong output on one configuration. */
enum {
    TRIAL_REJECTED = '0',
    TRIAL_ACCEPTED = '1',
    TRIAL_ABSENT = '-' /* it is the right one there, or cannot be told */
};

enum { TRIAL_INPUT = 16, TRIAL_WHY = 128 };

struct trial_config {
    struct config config;
    char input[TRIAL_INPUT]; /* how inputs are drawn: a class of the contract, or small or large */
    char why[TRIAL_WHY];
    double cost;         /* bytes and operations */
    double atol, rtol;   /* for allclose between two honest implementations, once asked */
    const char *dropped; /* why its right answer cannot be told; NULL: it can */
};

struct trial_configs {
    struct trial_config *item;
    int count, capacity;
};

/* A wrong output: a null output or a planted fault. A character a configuration. */
struct trial_row {
    const char *name;
    bool is_null;
    const char *seen_published,
        *seen_ours; /* by the task's own check (all its trials); by the allowed error */
    const char *drawn_ours, *drawn_hardened; /* by the allowed error; by the configuration's tolerance */
};

struct trial {
    const struct task *task;
    struct trial_configs seen, drawn;
    struct trial_row *row;
    int rows;
    int trials;         /* of the task's own check */
    double atol, rtol;  /* its tolerance */
    bool own;           /* the task's, for one of its outputs at least; else KernelBench's throughout */
    const char *module; /* the task's source and its input makers, up to the list of shapes */
    json_t *answer;     /* owns the texts */
};

enum trial_status { TRIAL_OK, TRIAL_INPUT_ERROR, TRIAL_ENVIRONMENT, TRIAL_INTERRUPTED };

/* The seen set, and the unseen one that the task drew. With `directed` further configurations inside the contract: all axes at once
 * beside a multiple of 64, and inputs that are small or large. 0, -1 when out of memory. */
int trial_take(struct trial *trial, const struct task *task, bool directed);

/* Fills all else. With `faults` planted faults as well as null outputs, and the module. `text` says what was found, what was expected
 * and what to do. */
enum trial_status trial_run(struct trial *trial, bool faults, char *text, size_t size);

/* An answer's JSON into the trial: -1 where it is none. */
int trial_read(struct trial *trial, json_t *answer, char *text, size_t size);

void trial_clear(struct trial *trial);

#endif
