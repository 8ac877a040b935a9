/* Tries wrong outputs on configurations of an imported task, and records the answer of each check. An
 * interpreter that executes the task computes them (unseen_torch.harden). */
#ifndef UNSEEN_HARDEN_TRIAL_H
#define UNSEEN_HARDEN_TRIAL_H

#include <jansson.h>

#include "verify/session/task.h"

/* Answer of a check to one wrong output on one configuration. */
enum {
    TRIAL_REJECTED = '0',
    TRIAL_ACCEPTED = '1',
    TRIAL_ABSENT = '-' /* it is right there, or cannot be judged */
};

enum { TRIAL_INPUT = 16, TRIAL_WHY = 128 };

struct trial_config {
    struct config config;
    char input[TRIAL_INPUT]; /* how inputs are drawn: a class of the contract, or small or large */
    char why[TRIAL_WHY];
    double cost;         /* in bytes and operations */
    double atol, rtol;   /* tolerances for allclose between two honest implementations, after the run */
    const char *dropped; /* why its right answer is not available; NULL: it is */
};

struct trial_configs {
    struct trial_config *item;
    int count, capacity;
};

/* A wrong output: a null output or a planted fault. Strings have one character per configuration. */
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
    int trials;         /* number of trials of the task's own check */
    double atol, rtol;  /* its tolerance */
    bool own;           /* the task's own tolerance, for at least one output; else KernelBench's everywhere */
    const char *module; /* source of the task and its input makers, up to the list of shapes */
    json_t *answer;     /* owns the texts */
};

enum trial_status { TRIAL_OK, TRIAL_INPUT_ERROR, TRIAL_ENVIRONMENT, TRIAL_INTERRUPTED };

/* Takes the seen set, and the unseen one that the task drew. `directed` adds further configurations inside
 * the contract: all axes near a multiple of 64 at once, and small or large inputs. Returns 0, or -1 when out
 * of memory. */
int trial_take(struct trial *trial, const struct task *task, bool directed);

/* Runs the trial and fills the other fields. `faults`: planted faults as well as null outputs, and the
 * module. On errors `text` says what was found, what was expected and what to do. */
enum trial_status trial_run(struct trial *trial, bool faults, char *text, size_t size);

/* Reads an answer's JSON into the trial; -1 if it is invalid. */
int trial_read(struct trial *trial, json_t *answer, char *text, size_t size);

void trial_clear(struct trial *trial);

#endif
